package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/peer"
)

// TestMovedGRPCConfigurationsRespondAlike runs examples/moving/grpc with a client and a service of gRPC, with weir and
// with the programs of movers.
func TestMovedGRPCConfigurationsRespondAlike(t *testing.T) {
	t.Parallel()
	checkMovingDocs(t, "grpc")
	program := peer.GRPCGo(t)
	service := peer.FreeAddress(t)
	program.Serve(t, service, nil)
	services := map[string]string{"127.0.0.1:9001": service}
	check := func(t *testing.T, addr string, attempts int) {
		t.Helper()
		c := program.Caller(t, addr, nil)
		for method, want := range map[string]string{
			"/grpc.testing.TestService/EmptyCall":      "OK",
			"/grpc.testing.TestService/FullDuplexCall": "OK",
			"/grpc.testing.TestService/None":           "Unimplemented", // by the service
			"/grpc.testing.None/EmptyCall":             "Unimplemented", // by the status 404
		} {
			got := c.Call(method)
			for i := 1; got != want && i < attempts; i++ {
				got = c.Call(method)
			}
			if got != want {
				t.Errorf("%s: %s, want %s", method, got, want)
			}
		}
		c.Begin("/grpc.testing.TestService/StreamingOutputCall") // the next message is far away
		c.AwaitMessage()
	}
	t.Run("weir", func(t *testing.T) {
		folder, addr := movingFolder(t, "grpc", services)
		p := start(t, "serve", "--config", filepath.Join(folder, "weir.yaml"), "--admin", "off")
		p.url()
		check(t, addr.plain, 1)
	})
	for _, m := range movers {
		t.Run(m.name, func(t *testing.T) {
			if _, err := exec.LookPath(m.name); err != nil {
				t.Skipf("needs %s: %v", m.name, err)
			}
			folder, addr := movingFolder(t, "grpc", services)
			runMover(t, folder, addr.plain, m.name, m.args...)
			// Caddy 2.6 responds to some calls with Internal if the service ends it before the request has ended.
			check(t, addr.plain, 20)
		})
	}
}
