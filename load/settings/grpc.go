package settings

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/grpcunary"
	"github.com/weirhq/weir/load/target"
)

// reflectionTime limits the questions to the server about the method.
const reflectionTime = 10 * time.Second

// call returns the request of a call of gRPC.
func (s *Settings) call(header []target.Header) (target.Target, error) {
	method, err := grpcunary.ParseMethod(s.GRPC)
	if err != nil {
		return target.Target{}, &Error{"grpc", err, ""}
	}
	at, err := url.Parse(WithScheme(s.URL))
	if err != nil || at.Host == "" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
		return target.Target{}, fail("url", "such as http://127.0.0.1:50051", "the URL of a server of gRPC has a host and a port, and no path")
	}
	source := grpcunary.Source{Server: at.Scheme + "://" + at.Host}
	if s.Proto != "" {
		if source.Descriptors, err = s.read(s.Proto); err != nil {
			return target.Target{}, &Error{"proto", err, ""}
		}
	}
	config, err := s.tls()
	if err != nil {
		return target.Target{}, err
	}
	transport := &http.Transport{TLSClientConfig: config, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	if s.Unix != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", s.Unix)
		}
	}
	defer transport.CloseIdleConnections()
	source.Client = &http.Client{Transport: transport}
	json, err := s.message()
	if err != nil {
		return target.Target{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), reflectionTime)
	defer cancel()
	body, err := source.Body(ctx, method, json)
	if err != nil {
		return target.Target{}, grpcError(err)
	}
	return target.Target{Method: http.MethodPost, URL: source.Server + method.Path(),
		Header: append(header, target.Header{Name: "Content-Type", Value: grpcunary.ContentType}, target.Header{Name: "TE", Value: "trailers"}),
		Body:   target.Body{File: bytes.NewReader(body), Size: int64(len(body))}}, nil
}

// grpcError adds the setting to an error about the method or its message.
func grpcError(err error) error {
	switch {
	case errors.Is(err, grpcunary.ErrMessage):
		return &Error{"body", err, "it is the message in JSON"}
	case errors.Is(err, grpcunary.ErrNoReflection):
		return &Error{"grpc", err, "--proto FILE describes the method; make FILE with buf build -o FILE, or protoc --include_imports --descriptor_set_out=FILE"}
	}
	return &Error{"grpc", err, ""}
}

// message returns the message in JSON.
func (s *Settings) message() ([]byte, error) {
	name, file := strings.CutPrefix(s.Body, "@")
	if !file {
		return []byte(s.Body), nil
	}
	in, err := s.openInput(name)
	if err != nil {
		return nil, &Error{"body", err, "a body is a text, or @FILE"}
	}
	defer in.Close()
	json, err := io.ReadAll(in)
	if err != nil {
		return nil, &Error{"body", err, ""}
	}
	return json, nil
}

// ofCalls adds the status OK to the expectations of calls of gRPC, unless they have one.
func ofCalls(expectations []expect.Expectation) []expect.Expectation {
	if slices.ContainsFunc(expectations, expect.Expectation.OfGRPC) {
		return expectations
	}
	ok, err := expect.Parse("grpc OK")
	if err != nil {
		panic(err)
	}
	return append(expectations, ok)
}
