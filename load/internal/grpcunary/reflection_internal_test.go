package grpcunary

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/weirhq/weir/internal/testkit"
)

// responseOf encodes a response of reflection.
func responseOf(t testing.TB, files []*descriptorpb.FileDescriptorProto) []byte {
	t.Helper()
	var list []byte
	for _, f := range files {
		b, err := proto.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		list = protowire.AppendBytes(protowire.AppendTag(list, fileDescriptorProto, protowire.BytesType), b)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, fileDescriptorResponse, protowire.BytesType), list)
}

// FuzzResponseOfReflection reads hostile responses. The files of a readable one are the same when they are encoded and
// read again.
func FuzzResponseOfReflection(f *testing.F) {
	whole := responseOf(f, []*descriptorpb.FileDescriptorProto{{Name: proto.String("a.proto")}, {Name: proto.String("b.proto"), Dependency: []string{"a.proto"}}})
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte("\x3a\x0b\x08\x05\x12\x07nothing"))
	f.Add([]byte{0x22, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, response []byte) {
		files, err := filesOf(response)
		if err != nil {
			return
		}
		again, err := filesOf(responseOf(t, files))
		if err != nil || len(again) != len(files) {
			t.Fatalf("%d files, %v; want %d", len(again), err, len(files))
		}
		for i := range files {
			if !proto.Equal(files[i], again[i]) {
				t.Errorf("file %d is %v, want %v", i, again[i], files[i])
			}
		}
	})
}

// A server asks in vain for the older version, too, and one without a service says so.
func TestServersWithoutReflectionAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		respond func(w http.ResponseWriter, path string)
		want    string
	}{
		"unimplemented": {func(w http.ResponseWriter, path string) { w.Header().Set("Grpc-Status", "12") }, ErrNoReflection.Error()},
		"older": {func(w http.ResponseWriter, path string) {
			if !strings.HasPrefix(path, "/grpc.reflection.v1alpha.") {
				w.Header().Set("Grpc-Status", "12")
				return
			}
			w.Write(frame(responseOf(t, []*descriptorpb.FileDescriptorProto{{Name: proto.String("a.proto"), Syntax: proto.String("proto3")}})))
		}, "there is no service shop.Orders"},
		"refused":  {func(w http.ResponseWriter, path string) { w.Header().Set("Grpc-Status", "7") }, `status "7"`},
		"no gRPC":  {func(w http.ResponseWriter, path string) { w.Header().Set("Content-Type", "text/html") }, "it is no server of gRPC"},
		"cut":      {func(w http.ResponseWriter, path string) { w.Write([]byte{0, 0, 0, 1, 0, 8}) }, `status ""`},
		"nonsense": {func(w http.ResponseWriter, path string) { w.Write(frame([]byte{0xff})) }, "the response of the server's reflection"},
	} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", ContentType)
			c.respond(w, r.URL.Path)
		}))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		t.Cleanup(s.Close)
		transport := &http.Transport{Protocols: s.Config.Protocols}
		t.Cleanup(transport.CloseIdleConnections)
		m, err := ParseMethod("shop.Orders/Get")
		testkit.NoError(t, err)
		_, err = Source{Server: s.URL, Client: &http.Client{Transport: transport}}.Body(t.Context(), m, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || (name == "unimplemented") != errors.Is(err, ErrNoReflection) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
}

// A server that does not respond is given up with the context.
func TestSilentServerIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := ParseMethod("shop.Orders/Get")
	testkit.NoError(t, err)
	if _, err := (Source{Server: "http://" + testkit.SilentAddress(t), Client: http.DefaultClient}).Body(ctx, m, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
