package front_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestAdminPagesRefuseForeignHosts requests the pages of the admin listener, with hosts that it has
// and with hosts that a website could point at it.
func TestAdminPagesRefuseForeignHosts(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	addr := d.AdminAddr().String()
	if ap := netip.MustParseAddrPort(addr); !ap.Addr().IsLoopback() {
		t.Errorf("the admin listener is on %s", addr)
	}
	for _, c := range []struct {
		path, host string
		want       int
		text       string // part of the page
	}{
		{"/", addr, 200, "/metrics"},
		{"/healthz", addr, 200, "ok\n"},
		{"/readyz", addr, 200, "ready\n"},
		{"/metrics", addr, 200, "weir_requests_in_flight 0\n"},
		{"/debug/pprof/", addr, 200, "goroutine"},
		{"/debug/pprof/goroutine?debug=1", addr, 200, "goroutine profile"},
		{"/debug/pprof/cmdline", addr, 200, "front.test"},
		{"/debug/pprof/symbol", addr, 200, "num_symbols"},
		{"/healthz", "localhost", 200, "ok\n"},
		{"/healthz", "LocalHost:20001", 200, "ok\n"},
		{"/healthz", "[::1]:20001", 200, "ok\n"},
		{"/healthz", "10.1.2.3", 200, "ok\n"},
		{"/healthz", "evil.example", 421, ""},
		{"/metrics", "evil.example:20001", 421, ""},
		{"/debug/pprof/cmdline", "127.0.0.1.evil.example", 421, ""},
		{"/debug/pprof/cmdline", "localhost.evil.example", 421, ""},
		{"/healthz", "127.0.0.1@evil.example", 400, ""},
		{"/nothing", addr, 404, ""},
		{"/debug", addr, 404, ""},
	} {
		resp, body := ask(t, addr, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", c.path, c.host))
		if resp.StatusCode != c.want || !strings.Contains(body, c.text) {
			t.Errorf("%s of %s: %d and %.80q, want %d and %q", c.path, c.host, resp.StatusCode, body, c.want, c.text)
		}
		if server := resp.Header.Get("Server"); c.want != 400 && server != "weir/devel" { // net/http sends the 400 itself
			t.Errorf("%s of %s: Server is %q", c.path, c.host, server)
		}
	}
	if resp, body := ask(t, addr, "GET /readyz HTTP/1.0\r\n\r\n"); resp.StatusCode != 200 || body != "ready\n" {
		t.Errorf("without a Host: %d and %q", resp.StatusCode, body)
	}
	if n := len(d.log.events(t)); n != 0 {
		t.Errorf("the admin listener wrote %d events", n)
	}
}

// TestOtherMachinesMayNameTheDoor scrapes and checks an admin listener that other machines reach. Its pages for people
// have only the hosts above.
func TestOtherMachinesMayNameTheDoor(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) { c.Admin = ":0" })
	addr := fmt.Sprintf("127.0.0.1:%d", netip.MustParseAddrPort(d.AdminAddr().String()).Port())
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/metrics": 200, "/": 421, "/upstreams": 421, "/debug/pprof/cmdline": 421,
	} {
		resp, _ := ask(t, addr, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: door-1.internal:20001\r\nConnection: close\r\n\r\n", path))
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// TestAdminPathsArePrivate requests 200 paths of the public listener that
// expose internals of a process on other servers. With a route for all paths,
// the upstream gets them. Without one, the response is 404.
func TestAdminPathsArePrivate(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Upstream", r.RequestURI) })
	everything := openDoor(t, back.URL)
	little := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("/site/{path...}", "site")}
	})
	paths := debugPaths()
	if len(paths) < 200 {
		t.Fatalf("only %d paths", len(paths))
	}
	client := httpClient(t)
	for _, path := range paths {
		if resp, _ := get(t, client, everything.url(path)); resp.Header.Get("X-Upstream") != path {
			t.Errorf("%s: %d, and the upstream did not get it", path, resp.StatusCode)
		}
		if resp, body := get(t, client, little.url(path)); resp.StatusCode != 404 || body != "404 Not Found\n" ||
			resp.Header.Get("Server") != "" {
			t.Errorf("%s: %d, %.40q; want a plain 404", path, resp.StatusCode, body)
		}
	}
}

func debugPaths() []string {
	var paths []string
	pages := []string{"", "metrics", "healthz", "readyz", "livez", "health", "ready", "status", "stats", "info", "env",
		"config", "vars", "pprof", "pprof/", "pprof/heap", "pprof/profile", "pprof/goroutine", "pprof/cmdline",
		"pprof/symbol", "pprof/trace", "requests", "events", "reload", "routes", "dump"}
	for _, prefix := range []string{"/", "/debug/", "/admin/", "/_/", "/internal/", "/actuator/", "/-/", "/weir/"} {
		for _, page := range pages {
			paths = append(paths, prefix+page)
		}
	}
	return paths
}

func TestAdminListenerCanBeOff(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) { c.Admin = config.AdminOff })
	if addr := d.AdminAddr(); addr != nil {
		t.Errorf("the admin listener is on %v", addr)
	}
	if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 {
		t.Errorf("the public listener: %d", resp.StatusCode)
	}
	if err := d.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}
