package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestAdminIsNotPublic requests the pages of the admin listener from the public
// listener.
func TestAdminIsNotPublic(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	c := client(t)
	tried := 0
	for _, prefix := range []string{"", "/admin", "/_", "//", "/./", "/x/..", "/%2e", "/;", "/debug", "/DEBUG"} {
		for _, path := range []string{
			"/", "/healthz", "/readyz", "/metrics", "/metrics/", "/metrics?x", "/debug/pprof", "/debug/pprof/",
			"/debug/pprof/heap", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline",
			"/debug/pprof/profile?seconds=1",
			"/debug/pprof/symbol", "/debug/pprof/trace?seconds=1", "/debug/pprof/%68eap", "/debug/vars",
			"/debug/requests",
			"/status", "/server-status", "/config",
		} {
			tried++
			req, err := http.NewRequest("GET", p.url()+prefix+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := do(t, c, req)
			if backend := strings.HasPrefix(a.body, "GET "+req.URL.RequestURI()); a.StatusCode != 400 && !backend {
				t.Errorf("GET %s%s: %s %.100q; want the backend's response or 400", prefix, path, a.Status, a.body)
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d paths, want 200", tried)
	}
}

func TestAdminPagesAreServed(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	c := client(t)
	get(t, c, p.url()+"/")
	const counted = "\nweir_requests_total{code=\"200\",method=\"GET\",route=\"/{path...}\"} 1\n"
	testkit.Await(t, "the count of a request", func() bool { // it ends a moment after its response
		return strings.Contains(get(t, c, p.admin()+"/metrics").body, counted)
	})
	for path, want := range map[string]string{
		"/healthz":                       "ok\n",
		"/readyz":                        "ready\n",
		"/metrics":                       counted,
		"/debug/pprof/":                  "goroutine",
		"/debug/pprof/goroutine?debug=1": "goroutine profile: total",
	} {
		if a := get(t, c, p.admin()+path); a.StatusCode != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %s, without %q:\n%s", path, a.Status, want, a.body)
		}
	}
	for host, status := range map[string]int{"localhost": 200, "127.0.0.1": 200, "rebound.example": 421,
		"127.0.0.1.example:20001": 421} {
		req, err := http.NewRequest("GET", p.admin()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		if a := do(t, c, req); a.StatusCode != status {
			t.Errorf("Host %s: %s, want %d", host, a.Status, status)
		}
	}
	for _, name := range []string{"go_goroutines", "process_open_fds", "weir_request_duration_seconds_count",
		"weir_log_bytes_total"} {
		if metric(t, p.admin(), name) == 0 {
			t.Errorf("%s is 0 or missing", name)
		}
	}
	if n := metric(t, p.admin(), "weir_requests_total"); n != 1 {
		t.Errorf("weir_requests_total = %v, want 1: the admin's own requests do not count", n)
	}
	if got := p.admin(); !strings.HasPrefix(got, "http://127.0.0.1:") {
		t.Errorf("the admin listener is %s", got)
	}
}
