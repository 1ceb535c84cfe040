package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/log"
)

// A testServer is a Server at a free port that responds with the target of each request.
type testServer struct {
	*Server
	attached, refused atomic.Int64
	limited           chan string
}

// open starts a server, which ends with the test.
func open(t *testing.T, loops bool, limits Limits) *testServer {
	t.Helper()
	logger := log.New(io.Discard, log.Options{})
	s := &testServer{limited: make(chan string, 10)}
	s.Server = New(Settings{
		Attach: func(x *Exchange) { x.Context = s.attached.Add(1) },
		Serve: func(x *Exchange) {
			x.Pacer.Bind(&x.Exchange.Exchange)
			x.Respond(200, x.Target)
		},
		Log:         func() *log.Logger { return logger },
		Busy:        func() bool { return false },
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") },
		CloseUnused: func() bool { return false },
		Counts: Counts{
			Limited: func(l string) { s.limited <- l }, Refused: func() { s.refused.Add(1) }, Unused: func() {}, Header: func(string) {},
			Handshake: func(handshake.Result) {}, Connected: func(*handshake.Client) {},
			HTTP2Error: func(string, string) {}, HTTP3Error: func(string, string) {},
		},
	})
	limits.Headers, limits.HeaderTimeout, limits.IdleTimeout = 64<<10, time.Minute, time.Minute
	s.Use(limits)
	c, err := s.Prepare([]Address{{Use: "listen", Text: "127.0.0.1:0"}}, Address{})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(0)
	if err := s.Start(loops); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.BeginDrain()
		s.StopAccepting()
		s.EndIdle(context.Background())
		s.Cut()
		if err := s.Await(context.Background(), func() bool { return true }); err != nil {
			t.Error(err)
		}
		s.End()
		s.Close()
	})
	return s
}

// dial returns a connection to the server.
func (s *testServer) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

// response reads a response.
func response(t *testing.T, r *bufio.Reader) (status int, body string) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// forEngines runs a test with both engines.
func forEngines(t *testing.T, f func(t *testing.T, loops bool)) {
	for name, loops := range map[string]bool{"loops": true, "goroutines": false} {
		t.Run(name, func(t *testing.T) { f(t, loops) })
	}
}

// TestServerServesAndRefusesOnOneConnection sends two requests, and then bytes that are not a request, on one
// connection. The server serves and refuses them, and attaches no second state to an exchange.
func TestServerServesAndRefusesOnOneConnection(t *testing.T) {
	forEngines(t, func(t *testing.T, loops bool) {
		s := open(t, loops, Limits{})
		c, r := s.dial(t)
		for i, target := range []string{"/a?b=c", "/d"} {
			io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: h\r\n\r\n")
			if status, body := response(t, r); status != 200 || body != target+"\n" {
				t.Errorf("got %d %q, want 200 and %q", status, body, target)
			}
			if n := s.attached.Load(); n > int64(i)+1 {
				t.Errorf("%d states are attached after %d requests", n, i+1)
			}
		}
		if n := s.refused.Load(); n != 0 {
			t.Errorf("%d requests are refused, want none", n)
		}
		io.WriteString(c, "GET / HTTP/1.1\r\nHost h\r\n\r\n")
		if status, _ := response(t, r); status != 400 {
			t.Errorf("got %d for a malformed request, want 400", status)
		}
		if n := s.refused.Load(); n != 1 {
			t.Errorf("%d requests are refused, want 1", n)
		}
	})
}

// TestConnectionBeyondLimitGets503 opens a connection beyond the limit. It gets 503 and is counted.
func TestConnectionBeyondLimitGets503(t *testing.T) {
	forEngines(t, func(t *testing.T, loops bool) {
		s := open(t, loops, Limits{Connections: 1})
		c, r := s.dial(t)
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		response(t, r)
		_, r = s.dial(t)
		if status, _ := response(t, r); status != 503 {
			t.Errorf("got %d beyond the limit, want 503", status)
		}
		if l := <-s.limited; l != LimitConnections {
			t.Errorf("the limit is %q, want %q", l, LimitConnections)
		}
	})
}

func TestListenerFailureIsReported(t *testing.T) {
	s := open(t, true, Limits{})
	s.listeners[0].Listener.Close()
	if err := <-s.Failed(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the error is %v, want that of a closed listener", err)
	}
}

// TestParsedExchangeStaysValid parses heads. An exchange stays valid when another one is parsed.
func TestParsedExchangeStaysValid(t *testing.T) {
	s := open(t, false, Limits{})
	client := netip.MustParseAddr("192.0.2.1")
	x, err := s.Parse("https", []byte("GET /a HTTP/1.1\r\nHost: h\r\nX-A: b\r\n\r\n"), client)
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[string]string{
		"GET /longer HTTP/1.1\r\nHost: other\r\n\r\n": "",
		"GET / HTTP/1.1\r\nHost: h\r\n":               "the head is not complete",
		"GET / HTTP/1.1\r\nHost h\r\n\r\n":            "the front door would respond with 400: ",
	} {
		got := ""
		if _, err := s.Parse("http", []byte(head), client); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: the error is %q, want %q", head, got, want)
		}
	}
	if x.Method != "GET" || x.Target != "/a" || x.Host != "h" || x.Scheme != "https" || x.Peer != client ||
		len(x.Header) != 1 || x.Header[0].Name != "X-A" || x.Header[0].Value != "b" || x.Context == nil {
		t.Errorf("the exchange has %s %s://%s%s from %v with %v", x.Method, x.Scheme, x.Host, x.Target, x.Peer, x.Header)
	}
}
