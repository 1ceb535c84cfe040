package front_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/resolve/resolvetest"
	"github.com/weirhq/weir/internal/testkit"
)

// listenAt starts a server at an address of the loopback network, which has many on Linux.
func listenAt(t *testing.T, addr string, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// saying returns a handler that responds with a text.
func saying(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }
}

// withNameServer makes a door resolve names at s.
func withNameServer(s *resolvetest.Server) func(*config.Config) {
	return func(c *config.Config) { c.DNS.Servers = []string{s.Addr} }
}

// TestNameChangeFailsNoRequest moves the name of an upstream to another server, under load. No
// request fails: requests to the old server end, and new ones go to the new server.
func TestNameChangeFailsNoRequest(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var waiting atomic.Int32
	old := listenAt(t, "127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			waiting.Add(1)
			<-release
		}
		io.WriteString(w, "old")
	})
	_, port, _ := net.SplitHostPort(old.Listener.Addr().String())
	listenAt(t, "127.0.0.3:"+port, saying("new"))
	ns := resolvetest.Start(t)
	ns.Set("shop.example", 1, resolvetest.IP("127.0.0.2"))
	d := openDoor(t, "http://shop.example:"+port, withNameServer(ns), func(c *config.Config) {
		c.Upstreams[0].ConnectWait = testTimeout // the first request waits for the name
	})

	slow := make(chan string)
	go func() {
		_, body := get(t, httpClient(t), d.url("/slow"))
		slow <- body
	}()
	testkit.AwaitEqual(t, "the slow request arrived", waiting.Load, 1)
	var oldSeen, newSeen, failed atomic.Int64
	stop := repeat(t, 4, func(c *http.Client) {
		switch resp, body := get(t, c, d.url("/")); {
		case resp.StatusCode != 200:
			failed.Add(1)
		case body == "old":
			oldSeen.Add(1)
		default:
			newSeen.Add(1)
		}
	})
	testkit.Await(t, "requests to the old server", func() bool { return oldSeen.Load() > 10 })
	ns.Set("shop.example", 1, resolvetest.IP("127.0.0.3"))
	testkit.Await(t, "requests to the new server", func() bool { return newSeen.Load() > 10 })
	old.Listener.Close() // no further connection is accepted
	before := oldSeen.Load()
	from := newSeen.Load()
	testkit.Await(t, "more requests to the new server", func() bool { return newSeen.Load() > from+100 })
	close(release)
	if body := <-slow; body != "old" {
		t.Errorf("the request in flight got %q", body)
	}
	stop()
	if n := oldSeen.Load() - before; n > 4 || failed.Load() > 0 {
		t.Errorf("%d requests to the old server after the change, %d failed", n, failed.Load())
	}
	for _, m := range d.families(t)["weir_upstream_duration_seconds"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "server" && l.GetValue() != "http://shop.example:"+port+"#127.0.0.3" {
				t.Errorf("a series of the server %s", l.GetValue())
			}
		}
	}
	e := d.log.find(t, func(e event) bool { return e.Event == "upstream name resolved" && e.Data["removed"] != nil })
	if e.Data["server"] != "http://shop.example:"+port || e.Data["upstream"] != "site" {
		t.Errorf("the event has %v", e.Data)
	}
}

// TestUnknownNameGives502UntilItExists starts with a name that does not exist. The front door starts, responds with
// 502, and forwards requests when the name exists.
func TestUnknownNameGives502UntilItExists(t *testing.T) {
	t.Parallel()
	back := listenAt(t, "127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Path+" "+r.Host)
	})
	_, port, _ := net.SplitHostPort(back.Listener.Addr().String())
	ns := resolvetest.Start(t)
	d := openDoor(t, "http://shop.example:"+port+"/base", withNameServer(ns))
	if resp, _ := get(t, httpClient(t), d.url("/a")); resp.StatusCode != 502 {
		t.Errorf("status %d for an unknown name", resp.StatusCode)
	}
	e := d.log.find(t, func(e event) bool { return e.Event == "upstream name not resolved" })
	if e.Severity != 2 {
		t.Errorf("severity %d", e.Severity)
	}
	d.reload(func(c *config.Config) { c.Upstreams[0].ConnectWait = testTimeout })
	ns.Set("shop.example", 60, resolvetest.IP("127.0.0.2"))
	resp, body := get(t, httpClient(t), d.url("/a")) // waits for the name
	if resp.StatusCode != 200 || !strings.HasPrefix(body, "/base/a 127.0.0.1:") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	ns.Fail(resolvetest.Silent)
	d.reload(func(c *config.Config) { c.Namespace = "other" })
	if resp, _ := get(t, httpClient(t), d.url("/a")); resp.StatusCode != 200 {
		t.Errorf("status %d after a reload without a name server", resp.StatusCode)
	}
}
