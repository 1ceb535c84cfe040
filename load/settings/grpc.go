package settings

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weirhq/weir/load/internal/grpcunary"
	"github.com/weirhq/weir/load/target"
)

// reflectionTime limits the questions to the server about the method.
const reflectionTime = 10 * time.Second

// call makes a request, whose body is the message in JSON, a call of gRPC.
func (s *Settings) call(t *target.Target, config *tls.Config) error {
	method, err := grpcunary.ParseMethod(s.GRPC)
	if err != nil {
		return &Error{"grpc", err, ""}
	}
	at, err := url.Parse(t.URL)
	if err != nil || at.Host == "" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
		return fail("url", "such as http://127.0.0.1:50051", "the URL of a server of gRPC has a host and a port, and no path")
	}
	source := grpcunary.Source{Server: at.Scheme + "://" + at.Host}
	if s.Proto != "" {
		if source.Descriptors, err = s.read(s.Proto); err != nil {
			return &Error{"proto", err, ""}
		}
	}
	json := []byte(t.Body.Text)
	if t.Body.File != nil {
		if json, err = io.ReadAll(io.NewSectionReader(t.Body.File, 0, t.Body.Size)); err != nil {
			return &Error{"body", err, ""}
		}
	}
	transport := &http.Transport{TLSClientConfig: config.Clone(), Protocols: new(http.Protocols)} // the transport changes it
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	if s.Unix != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", s.Unix)
		}
	}
	defer transport.CloseIdleConnections()
	source.Client, source.Header = &http.Client{Transport: transport}, http.Header{}
	for _, h := range t.Header {
		if !strings.Contains(h.Value, "{{") { // a template is for the calls
			source.Header.Add(h.Name, h.Value)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), reflectionTime)
	defer cancel()
	body, err := source.Body(ctx, method, json)
	if err != nil {
		return grpcError(err)
	}
	t.Method, t.URL = http.MethodPost, source.Server+method.Path()
	t.Header = append(t.Header, target.Header{Name: "Content-Type", Value: grpcunary.ContentType}, target.Header{Name: "TE", Value: "trailers"})
	t.Body = target.Body{File: bytes.NewReader(body), Size: int64(len(body))}
	return nil
}

// grpcError adds the setting to an error about the method or its message.
func grpcError(err error) error {
	switch {
	case errors.Is(err, grpcunary.ErrMessage):
		return &Error{"body", err, "it is the message in JSON"}
	case errors.Is(err, grpcunary.ErrNoReflection), errors.Is(err, grpcunary.ErrReflectionStatus):
		return &Error{"grpc", err, "--proto FILE describes the method; make FILE with buf build -o FILE, or protoc --include_imports --descriptor_set_out=FILE"}
	}
	return &Error{"grpc", err, ""}
}
