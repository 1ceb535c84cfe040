package front_test

import (
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
)

// The methods of the service of [peer.GRPC].
const (
	emptyCall   = "/grpc.testing.TestService/EmptyCall"
	endlessCall = "/grpc.testing.TestService/StreamingOutputCall" // sends a message, and no end
)

// TestGRPCPeers makes all kinds of calls from clients to services of gRPC, over plain
// connections on both sides, and over TLS on both sides.
func TestGRPCPeers(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]func(testing.TB) peer.GRPC{"go": peer.GRPCGo, "node": peer.GRPCNode} {
		t.Run(name, func(t *testing.T) { testGRPCPeer(t, program(t)) })
	}
}

func testGRPCPeer(t *testing.T, program peer.GRPC) {
	t.Helper()
	root := certtest.Root(t, "services")
	plain, secure := peer.FreeAddress(t), peer.FreeAddress(t)
	program.Serve(t, plain, nil)
	program.Serve(t, secure, root.Issue(t, certtest.Options{}))
	for _, c := range []struct{ name, url string }{
		{"h2c", "http://" + plain},
		{"https", "https://" + secure},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openTLSDoor(t, c.url, withHTTP2, func(cfg *config.Config) {
				if c.name == "https" {
					cfg.Upstreams[0].TLS = &config.UpstreamTLS{Roots: []*x509.Certificate{root.Cert}}
				}
			})
			if c.name == "https" {
				program.Check(t, d.secure, d.root)
			} else {
				program.Check(t, d.addr, nil)
			}
		})
	}
}

// TestGRPCStatus checks the statuses that clients derive from Weir's own responses.
func TestGRPCStatus(t *testing.T) {
	t.Parallel()
	address := peer.FreeAddress(t)
	peer.GRPCGo(t).Serve(t, address, nil)
	d := openDoor(t, "http://"+address, withHTTP2, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, config.Upstream{Name: "down", HTTP2: true,
			Servers: []config.Server{{URL: "http://" + peer.FreeAddress(t)}}})
		limited, full := config.DefaultRoute(emptyCall, "site"), config.DefaultRoute(endlessCall, "site")
		limited.Limits.Rate = config.Rate{Per: config.RatePerRoute, Every: time.Hour, Burst: 1}
		full.Limits.InFlight = 1
		c.Routes = []config.Route{limited, full, config.DefaultRoute("/grpc.testing.Down/{method}", "down"),
			config.DefaultRoute("/grpc.testing.TestService/Unknown", "site")}
	})
	limited := peer.GRPCGo(t).Caller(t, d.addr, nil)
	for _, c := range []struct{ name, method, want string }{
		{"a call", emptyCall, "OK"},
		{"429", emptyCall, "Unavailable"},
	} {
		if got := limited.Call(c.method); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	limited.Begin(endlessCall)
	limited.AwaitMessage()
	for name, program := range map[string]func(testing.TB) peer.GRPC{"go": peer.GRPCGo, "node": peer.GRPCNode} {
		t.Run(name, func(t *testing.T) {
			client := program(t).Caller(t, d.addr, nil)
			for _, c := range []struct{ name, method, want string }{
				{"429", emptyCall, "Unavailable"},
				{"503", endlessCall, "Unavailable"},
				{"502", "/grpc.testing.Down/Call", "Unavailable"},
				{"404", "/grpc.testing.None/Call", "Unimplemented"},
				{"a method that the service does not have", "/grpc.testing.TestService/Unknown", "Unimplemented"},
			} {
				if got := client.Call(c.method); got != c.want {
					t.Errorf("%s: %s, want %s", c.name, got, c.want)
				}
			}
		})
	}
}

// TestGRPCRestart kills the service while a stream is open, and starts it again. Calls over the
// same connection of the client succeed again.
func TestGRPCRestart(t *testing.T) {
	t.Parallel()
	program := peer.GRPCGo(t)
	address := peer.FreeAddress(t)
	stop := program.Serve(t, address, nil)
	d := openDoor(t, "http://"+address, withHTTP2)
	c := program.Caller(t, d.addr, nil)
	c.Begin(endlessCall)
	c.AwaitMessage()
	stop()
	if got := c.End(); got != "Internal" {
		t.Errorf("the stream ended with %s", got)
	}
	if got := c.Call(emptyCall); got != "Unavailable" {
		t.Errorf("without a service, a call ended with %s", got)
	}
	program.Serve(t, address, nil)
	if got := c.Call(emptyCall); got != "OK" {
		t.Errorf("after the restart, a call ended with %s", got)
	}
}

// A stream whose ends are both silent for 75 s stays open, with the default policies of both ends: servers of gRPC end the
// connections of clients that send more than a few PINGs in five minutes.
func TestGRPCSilentServer(t *testing.T) {
	if os.Getenv("WEIR_SOAK") == "" {
		t.Skip("it takes 75 s; make soak runs it")
	}
	t.Parallel()
	program := peer.GRPCGo(t)
	address := peer.FreeAddress(t)
	program.Serve(t, address, nil)
	d := openDoor(t, "http://"+address, withHTTP2, func(c *config.Config) { c.Routes[0].Timeout = 0 },
		limited(func(l *config.Limits) { l.ReadTimeout = 0 }))
	body, send := io.Pipe() // neither side sends a message
	defer send.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", d.url("/grpc.testing.TestService/FullDuplexCall"), body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	client := h2cClient(t)
	client.Timeout = 0
	ended := make(chan error, 1)
	go func() {
		resp, err := client.Do(req)
		if err == nil {
			defer resp.Body.Close()
			_, err = resp.Body.Read(make([]byte, 1))
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the stream has ended: %v", err)
	case <-time.After(75 * time.Second):
	}
}
