package proxying_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// openCounting starts a server that counts its open connections.
func openCounting(t *testing.T) (url string, conns *atomic.Int64) {
	t.Helper()
	conns = new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			conns.Add(1)
		case http.StateClosed:
			conns.Add(-1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, conns
}

// get sends one GET to an upstream and returns the URL of the server that has responded.
func get(t *testing.T, up *proxying.Upstream) string {
	t.Helper()
	w := httptest.NewRecorder()
	var server string
	p := &proxying.Proxy{Upstream: up, Hook: func(x *proxying.Exchange, e proxying.Event) {
		if e == proxying.Done && x.Server != nil {
			server = x.Server.URL()
		}
	}}
	p.ServeHTTP(w, httptest.NewRequest("GET", "http://door/", nil))
	if w.Code != 200 {
		t.Errorf("status %d", w.Code)
	}
	return server
}

// TestSetServersReplacesServers replaces the servers of an upstream. A server that stays keeps its object,
// and a removed one gets no more requests.
func TestSetServersReplacesServers(t *testing.T) {
	t.Parallel()
	a, _ := openCounting(t)
	b, _ := openCounting(t)
	prepared := 0
	up := openUpstream(t, proxying.Options{Prepare: func(*proxying.Server) { prepared++ }}, a)
	first := up.Servers()[0]
	if err := up.SetServers([]proxying.Endpoint{{URL: b}, {URL: a}}); err != nil {
		t.Fatal(err)
	}
	if s := up.Servers(); len(s) != 2 || s[1] != first || prepared != 2 {
		t.Errorf("%d servers, the same one: %t, %d prepared", len(s), s[1] == first, prepared)
	}
	if err := up.SetServers([]proxying.Endpoint{{URL: b}, {URL: "ftp://a"}}); err == nil || len(up.Servers()) != 2 {
		t.Errorf("an invalid endpoint: %v, %d servers", err, len(up.Servers()))
	}
	if err := up.SetServers([]proxying.Endpoint{{URL: b}}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if got := get(t, up); got != b {
			t.Errorf("the request went to %s", got)
		}
	}
}

// TestAdoptKeepsUnusedConnections checks that a server keeps its unused connections when another upstream takes it
// over, and that the first upstream closes only the others.
func TestAdoptKeepsUnusedConnections(t *testing.T) {
	t.Parallel()
	a, conns := openCounting(t)
	b, others := openCounting(t)
	before := openUpstream(t, proxying.Options{}, a, b)
	get(t, before)
	get(t, before)
	if conns.Load() != 1 || others.Load() != 1 {
		t.Fatalf("%d and %d connections", conns.Load(), others.Load())
	}
	now := openUpstream(t, proxying.Options{}, a)
	server := before.Servers()[0]
	now.Adopt(before)
	before.Close()
	if now.Servers()[0] != server {
		t.Error("the server was not adopted")
	}
	testkit.AwaitEqual(t, "the end of the connections to the other server", others.Load, 0)
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections to the adopted server, want 1", n)
	}
	get(t, now)
}

// One name has several addresses, and one has none. The label of a server has its address, and an exchange waits for
// the first server.
func TestNamedServersShowTheirAddresses(t *testing.T) {
	t.Parallel()
	a, _ := openCounting(t)
	addr := strings.TrimPrefix(a, "http://")
	up := openUpstream(t, proxying.Options{ConnectRetry: patience})
	if err := up.SetServers([]proxying.Endpoint{{URL: "http://shop.example:80/base", Unresolved: true}}); err != nil {
		t.Fatal(err)
	}
	if n := len(up.Servers()); n != 0 {
		t.Errorf("%d servers of an unresolved name", n)
	}
	got := make(chan string)
	go func() { got <- get(t, up) }()
	testkit.Await(t, "an exchange that waits", func() bool { n, _ := up.Waiting(); return n == 1 })
	if err := up.SetServers([]proxying.Endpoint{{URL: "http://shop.example:80/base", Addr: addr}}); err != nil {
		t.Fatal(err)
	}
	if url := <-got; url != "http://shop.example:80/base#"+addr {
		t.Errorf("the request went to %s", url)
	}
	if err := up.SetServers([]proxying.Endpoint{{URL: "http://shop.example:80/base", Addr: "10.0.0.5:80"},
		{URL: "http://shop.example:80/base", Addr: "[::1]:80"}}); err != nil {
		t.Fatal(err)
	}
	if s := up.Servers(); s[0].URL() != "http://shop.example:80/base#10.0.0.5" || s[1].URL() != "http://shop.example:80/base#::1" {
		t.Errorf("%s and %s", s[0].URL(), s[1].URL())
	}
}

// TestServersReplaceUnknownOnes has an upstream adopt one that has never had servers.
func TestServersReplaceUnknownOnes(t *testing.T) {
	t.Parallel()
	a, _ := openCounting(t)
	up := openUpstream(t, proxying.Options{}, a)
	up.Adopt(openUpstream(t, proxying.Options{}))
	if got := get(t, up); got != a {
		t.Errorf("the request went to %s", got)
	}
}

// TestWaitingRequestGetsTheNewBasePath replaces the servers by one with another base path, while a request waits for a
// connection. The request has the path of the server that it is sent to.
func TestWaitingRequestGetsTheNewBasePath(t *testing.T) {
	t.Parallel()
	requests := make(chan *message, 1)
	o := openOrigin(t, answering(ok, requests))
	for _, test := range []struct{ before, now, body string }{
		{"", "/v2", ""}, {"/v1", "/version/2", "hello"}, {"/version/1", "/v2", "hello"}, {"/v1", "", ""},
	} {
		_, refusing := testkit.BoundSocket(t)
		var kept []byte
		d := openDoor(t, func(p *proxying.Proxy) {
			p.Upstream = openUpstream(t, proxying.Options{ConnectRetry: patience}, "http://"+refusing+test.before)
			told := p.Hook
			p.Hook = func(x *proxying.Exchange, e proxying.Event) {
				switch e {
				case proxying.Waiting:
					kept, _ = x.BufferedBody()
					if err := p.Upstream.SetServers([]proxying.Endpoint{{URL: o.url + test.now}}); err != nil {
						t.Error(err)
					}
				case proxying.Done:
					if string(kept) != test.body {
						t.Errorf("from %q to %q: the hook has kept the body %q", test.before, test.now, kept)
					}
				}
				told(x, e)
			}
		})
		d.dial().roundTrip(t, fmt.Sprintf("POST /a?b HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s",
			len(test.body), test.body))
		m := testkit.Receive(t, "the request", requests)
		if m.first != "POST "+test.now+"/a?b HTTP/1.1" || m.get("Host") != "a" || m.body != test.body {
			t.Errorf("from %q to %q: the server got %q and %q", test.before, test.now, m.raw, m.body)
		}
		if got := d.outcome(); got.err != nil {
			t.Error(got.err)
		}
	}
}
