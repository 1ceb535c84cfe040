package front_test

import (
	"crypto/x509"
	"os"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
)

// The methods of the service of [peer.GRPC].
const (
	emptyCall   = "/grpc.testing.TestService/EmptyCall"
	endlessCall = "/grpc.testing.TestService/StreamingOutputCall" // sends a message, and no end
)

var grpcPrograms = map[string]func(testing.TB) peer.GRPC{
	"go": peer.GRPCGo, "node": peer.GRPCNode, "python": peer.GRPCPython,
}

// TestGRPCPeersMakeAllCalls makes all kinds of calls from clients to services of gRPC, over plain
// connections on both sides, and over TLS on both sides.
func TestGRPCPeersMakeAllCalls(t *testing.T) {
	t.Parallel()
	for name, program := range grpcPrograms {
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
				// On a busy machine, a handshake beside 200 calls may take longer than an attempt to connect.
				cfg.Upstreams[0].ConnectWait, cfg.Routes[0].Timeout = testTimeout, testTimeout
				if c.name == "https" {
					cfg.Upstreams[0].TLS = &upstreams.TLS{Roots: []*x509.Certificate{root.Cert}}
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

// TestGRPCClientsDeriveTheStatus checks the statuses that clients derive from Weir's own responses.
func TestGRPCClientsDeriveTheStatus(t *testing.T) {
	t.Parallel()
	for name, program := range grpcPrograms {
		// Installing a program may take longer than the call below.
		t.Run("install "+name, func(t *testing.T) { program(t) })
	}
	address := peer.FreeAddress(t)
	peer.GRPCGo(t).Serve(t, address, nil)
	d := openDoor(t, "http://"+address, withHTTP2, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "down", HTTP2: true,
			Servers: []upstreams.Server{{URL: "http://" + peer.FreeAddress(t)}}})
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
	for name, program := range grpcPrograms {
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

// TestGRPCSurvivesRestartOfService kills the service while a stream is open, and starts it again. Calls over the
// same connection of the client succeed again.
func TestGRPCSurvivesRestartOfService(t *testing.T) {
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

// Calls in which one side, or both, is silent live as long as the timeout of their route, also if that is longer than
// upload_rate and client_timeouts.read allow. Both ends have their default policies of PINGs, and some clients send more.
// Servers of gRPC end the connections of clients that send more than a few in five minutes.
func TestGRPCQuietCallsLive(t *testing.T) {
	t.Parallel()
	pause := 4
	adjust := limited(func(l *config.Limits) { l.UploadRate, l.ReadTimeout = 1000, time.Second })
	if os.Getenv("WEIR_SOAK") != "" {
		pause, adjust = 70, func(*config.Config) {}
	}
	for name, program := range map[string]func(testing.TB) peer.GRPC{"go": peer.GRPCGo, "python": peer.GRPCPython} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := peer.FreeAddress(t)
			program(t).Serve(t, address, nil)
			d := openDoor(t, "http://"+address, withHTTP2, adjust, func(c *config.Config) { c.Routes[0].Timeout = time.Hour })
			program(t).Quiet(t, d.addr, pause)
		})
	}
}
