package settings_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/settings"
)

// TestCallsOfGRPCHaveTheirStatus calls a service of grpc-go, which describes itself by reflection. A call whose status is
// not expected has failed, although its status of HTTP is 200.
func TestCallsOfGRPCHaveTheirStatus(t *testing.T) {
	t.Parallel()
	plain, secure := peer.FreeAddress(t), peer.FreeAddress(t)
	root := certtest.Root(t, "services")
	server := peer.GRPCGo(t)
	server.Serve(t, plain, nil)
	server.Serve(t, secure, root.Issue(t, certtest.Options{}))
	_, port, _ := strings.Cut(secure, ":")
	roots := testkit.TempFile(t, "roots.pem", string(certtest.PEM(root.Chain()...)))
	const refused = `{"responseStatus": {"code": 5, "message": "no order 7 – none"}}`
	for name, c := range map[string]struct {
		s       settings.Settings
		mistake string // of each response; "" if all are right
	}{
		"empty":   {settings.Settings{GRPC: "grpc.testing.TestService/EmptyCall"}, ""},
		"message": {settings.Settings{GRPC: "/grpc.testing.TestService/UnaryCall", Body: `{"responseSize": 100, "payload": {"body": "AAEC"}}`}, ""},
		"TLS": {settings.Settings{URL: "https://localhost:" + port, CACert: roots, GRPC: "grpc.testing.TestService.UnaryCall",
			Body: `{"response_size": 100}`}, ""},
		"open loop":  {settings.Settings{GRPC: "grpc.testing.TestService/EmptyCall", Rate: 500}, ""},
		"not found":  {settings.Settings{GRPC: "grpc.testing.TestService/UnaryCall", Body: refused}, "NOT_FOUND: no order 7 – none"},
		"expected":   {settings.Settings{GRPC: "grpc.testing.TestService/UnaryCall", Body: refused, Expect: []string{"grpc NotFound"}}, ""},
		"not to be":  {settings.Settings{GRPC: "grpc.testing.TestService/EmptyCall", Expect: []string{"grpc 5,INTERNAL"}}, "the status of gRPC is OK"},
		"no such is": {settings.Settings{GRPC: "grpc.testing.TestService/UnimplementedCall"}, "UNIMPLEMENTED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.s.URL == "" {
				c.s.URL = plain
			}
			c.s.Requests, c.s.Connections, c.s.PID = 50, 2, -1
			plan, err := c.s.Plan()
			if err != nil {
				t.Fatal(err)
			}
			r, err := load.Run(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			examples := fmt.Sprint(r.ErrorExamples)
			if c.mistake == "" && (r.Requests != 50 || r.Failed != 0) {
				t.Errorf("%d calls succeeded and %d failed, want 50 and 0: %s", r.Requests, r.Failed, examples)
			}
			if c.mistake != "" && (r.Failed != 50 || !strings.Contains(examples, c.mistake)) {
				t.Errorf("%d calls failed, with %s; want 50, with %q", r.Failed, examples, c.mistake)
			}
		})
	}
}

// TestReflectionGetsTheMetadata calls a service of grpc-go behind a server that authenticates all calls.
func TestReflectionGetsTheMetadata(t *testing.T) {
	t.Parallel()
	plain := peer.FreeAddress(t)
	peer.GRPCGo(t).Serve(t, plain, nil)
	h2c := new(http.Protocols)
	h2c.SetUnencryptedHTTP2(true)
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: plain})
	forward.Transport = &http.Transport{Protocols: h2c}
	forward.FlushInterval = -1
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" || r.Host != "shop.example" {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", "16")
			return
		}
		forward.ServeHTTP(w, r)
	}))
	server.Config.Protocols = h2c
	server.Start()
	t.Cleanup(server.Close)
	s := settings.Settings{URL: server.URL, GRPC: "grpc.testing.TestService/EmptyCall", Requests: 50, PID: -1}
	_, err := s.Plan()
	if wrong, ok := errors.AsType[*settings.Error](err); !ok || !strings.Contains(err.Error(), `status "16"`) || !strings.Contains(wrong.Hint, "--proto FILE") {
		t.Errorf("without the metadata: %v, want status 16 and a hint", err)
	}
	s.Headers = []string{"Authorization: Bearer t", "Host: shop.example", "X-Number: {{seq}}"}
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	r, err := load.Run(t.Context(), plan)
	if err != nil || r.Requests != 50 || r.Failed != 0 {
		t.Errorf("%d calls succeeded and %d failed, error %v: %v; want 50 and 0", r.Requests, r.Failed, err, r.ErrorExamples)
	}
}

// descriptors returns the file of a set of descriptors with the service shop.Orders.
func descriptors(t *testing.T) string {
	t.Helper()
	method := func(name string, stream bool) *descriptorpb.MethodDescriptorProto {
		return &descriptorpb.MethodDescriptorProto{Name: &name, InputType: proto.String(".shop.Order"), OutputType: proto.String(".shop.Order"),
			ServerStreaming: &stream}
	}
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: proto.String("shop.proto"), Package: proto.String("shop"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Order"), Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("id"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}}}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Orders"),
			Method: []*descriptorpb.MethodDescriptorProto{method("Get", false), method("Watch", true)}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return testkit.TempFile(t, "shop.binpb", string(set))
}

// The message is encoded by the descriptors of a file, without a server.
func TestDescriptorsEncodeTheMessage(t *testing.T) {
	t.Parallel()
	set := descriptors(t)
	message := testkit.TempFile(t, "order.json", `{"id": 7}`)
	for _, body := range []string{`{"id": 7}`, "@" + message} {
		plan, err := (&settings.Settings{URL: "127.0.0.1:1", GRPC: "shop.Orders/Get", Proto: set, Body: body}).Plan()
		if err != nil {
			t.Fatal(err)
		}
		target := plan.Targets[0]
		got := make([]byte, target.Body.Size)
		if _, err := target.Body.File.ReadAt(got, 0); err != nil {
			t.Fatal(err)
		}
		if want := []byte{0, 0, 0, 0, 2, 8, 7}; !bytes.Equal(got, want) || target.URL != "http://127.0.0.1:1/shop.Orders/Get" || plan.Protocol != load.HTTP2 {
			t.Errorf("%s with %v over %s, want %v", target.URL, got, plan.Protocol, want)
		}
	}
}

func TestWrongCallsOfGRPCAreRefused(t *testing.T) {
	t.Parallel()
	set := descriptors(t)
	closed := testkit.ClosedAddress(t)
	web := testkit.Serve(t, nil).URL
	for name, c := range map[string]struct {
		s    settings.Settings
		want string
	}{
		"no method":         {settings.Settings{GRPC: "Orders", Proto: set}, `"Orders" is not the name of a method`},
		"no such service":   {settings.Settings{GRPC: "shop.Order/Get", Proto: set}, "there is no service shop.Order; there are shop.Orders"},
		"no such method":    {settings.Settings{GRPC: "shop.Orders/List", Proto: set}, "shop.Orders has no method List; it has Get, Watch"},
		"stream":            {settings.Settings{GRPC: "shop.Orders/Watch", Proto: set}, "shop.Orders/Watch is a stream"},
		"no such field":     {settings.Settings{GRPC: "shop.Orders/Get", Proto: set, Body: `{"ids": 7}`}, `the message does not fit shop.Order: (line 1:2): unknown field "ids"`},
		"no JSON":           {settings.Settings{GRPC: "shop.Orders/Get", Proto: set, Body: `id=7`}, "the message does not fit shop.Order"},
		"template":          {settings.Settings{GRPC: "shop.Orders/Get", Proto: set, Body: `{"id": {{seq}}}`}, "has no templates"},
		"no descriptors":    {settings.Settings{GRPC: "shop.Orders/Get", Proto: os.Args[0]}, "this is no set of descriptors"},
		"no file":           {settings.Settings{GRPC: "shop.Orders/Get", Proto: filepath.Join(t.TempDir(), "none")}, "no such file"},
		"path":              {settings.Settings{URL: "http://127.0.0.1:1/api", GRPC: "shop.Orders/Get", Proto: set}, "and no path"},
		"method of HTTP":    {settings.Settings{Method: "PUT", GRPC: "shop.Orders/Get", Proto: set}, "neither a method of HTTP"},
		"proto without":     {settings.Settings{Proto: set}, "none is called"},
		"file of requests":  {settings.Settings{GRPC: "shop.Orders/Get", RequestsFile: "x"}, "two sources of requests"},
		"nobody listens":    {settings.Settings{URL: closed, GRPC: "shop.Orders/Get"}, "connection refused"},
		"server of HTTP/1":  {settings.Settings{URL: web, GRPC: "shop.Orders/Get"}, "asking the server for the method"},
		"unknown status":    {settings.Settings{GRPC: "shop.Orders/Get", Proto: set, Expect: []string{"grpc FINE"}}, `"FINE" is not a status of gRPC`},
		"status far beyond": {settings.Settings{GRPC: "shop.Orders/Get", Proto: set, Expect: []string{"grpc 17"}}, `"17" is not a status of gRPC`},
	} {
		if c.s.URL == "" && c.s.RequestsFile == "" {
			c.s.URL = "127.0.0.1:1"
		}
		if _, err := c.s.Plan(); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
}
