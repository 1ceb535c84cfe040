package front_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestAmbiguousPathsAreRefused sends paths that parsers read differently. Each is refused before
// an upstream gets it, or means the same to the route, the log and the
// upstream.
func TestAmbiguousPathsAreRefused(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Got", r.RequestURI) })
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{
			config.DefaultRoute("/{path...}", "site"),
			config.DefaultRoute("/a/{rest...}", "site"),
		}
	})
	for i, c := range []struct {
		target string
		route  string // "" for a refusal
	}{
		{"/", "/{path...}"},
		{"/a/b", "/a/{rest...}"},
		{"/a/b?x=/../y&z=%2e%2e%5c", "/a/{rest...}"},
		{"/a//b", "/a/{rest...}"},
		{"//a/b", "/{path...}"},
		{"///", "/{path...}"},
		{"/a%2Fb", "/{path...}"},
		{"/a/%2f", "/a/{rest...}"},
		{"/a/%20;v=1/b;c", "/a/{rest...}"},
		{"/a/b.c/..d/...", "/a/{rest...}"},
		{"/a/%252e%252e/b", "/a/{rest...}"},
		{"/%61/b", "/a/{rest...}"},
		{"/a/%E2%82%AC", "/a/{rest...}"},
		{"/a/:@!$&'()*+,=~", "/a/{rest...}"},

		{"/a/../b", ""},
		{"/a/..", ""},
		{"/..", ""},
		{"/a/./b", ""},
		{"/.", ""},
		{"/a/%2e%2e/b", ""},
		{"/a/%2E%2e", ""},
		{"/a/.%2E/b", ""},
		{"/a/%2e./b", ""},
		{"/a/%2e/b", ""},
		{"/a/..;/b", ""},
		{"/a/..;x=y/b", ""},
		{"/a/.;/b", ""},
		{"/a/%2e%2e;x", ""},
		{"/a/..%2fb", ""},
		{"/a/..%2F..%2Fb", ""},
		{"/a%2F../b", ""},
		{"/a/b%2f%2e%2E", ""},
		{"/a/%2f..;x%2fb", ""},
		{"/a/..%5cb", ""},
		{"/a\\b", ""},
		{"/a%5Cb", ""},
		{"/a/%00", ""},
		{"/a/%0d%0aX:", ""},
		{"/a/%7f", ""},
		{"/a/%", ""},
		{"/a/%4", ""},
		{"/a/%4x", ""},
		{"/a/%u002e", ""},
		{"/a#b", ""},
		{"/a?x#b", ""},
		{"/a\x01", ""},
		{"a/b", ""},
		{"?x", ""},
	} {
		trace := fmt.Sprintf("path-%d", i)
		resp, _ := ask(t, d.addr, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: a\r\nX-Request-Id: %s\r\n\r\n", c.target, trace))
		if c.route == "" {
			if resp.StatusCode != 400 || resp.Header.Get("X-Got") != "" {
				t.Errorf("%s: %d, and the upstream got %q; want 400", c.target, resp.StatusCode, resp.Header.Get("X-Got"))
			}
			continue
		}
		if got := resp.Header.Get("X-Got"); resp.StatusCode != 200 || got != c.target {
			t.Errorf("%s: %d, and the upstream got %q", c.target, resp.StatusCode, got)
			continue
		}
		e := d.log.find(t, func(e event) bool { return e.TraceID == trace && e.HTTP.StatusCode != 0 })
		logged := e.HTTP.Path
		if e.HTTP.Query != "" {
			logged += "?" + e.HTTP.Query
		}
		if logged != c.target || e.HTTP.Route != c.route {
			t.Errorf("%s: logged as %q on route %q, want route %q", c.target, logged, e.HTTP.Route, c.route)
		}
	}
}

// TestRefusedRequestHasTwoEvents checks the two events of a refused request, with the
// reason.
func TestRefusedRequestHasTwoEvents(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("GET /known", "site")}
	})
	for _, c := range []struct {
		request string
		status  int
		refused string
	}{
		{"GET /unknown HTTP/1.1\r\nHost: a\r\n\r\n", 404, "no route"},
		{"PUT /known HTTP/1.1\r\nHost: a\r\n\r\n", 405, "no route for the method"},
		{"GET /a/.. HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the path has a dot segment"},
		{"GET / HTTP/1.1\r\nHost: a:0\r\n\r\n", 400, "the Host is missing, ambiguous or invalid"},
		{"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 501, "this is not a forward proxy"},
	} {
		resp, body := ask(t, d.addr, c.request)
		id := resp.Header.Get("X-Request-Id")
		done := d.log.find(t, func(e event) bool { return e.TraceID == id && e.Event == "http request completed" })
		var names []string
		for _, e := range d.log.events(t) {
			if e.TraceID == id {
				names = append(names, e.Event)
			}
		}
		if len(names) != 2 || names[0] != "http request received" {
			t.Errorf("%.20q: events %q, want received and completed", c.request, names)
		}
		if done.HTTP.StatusCode != c.status || done.Data["refused"] != c.refused || done.Severity != 3 ||
			len(done.Data) != 1 || done.HTTP.ResponseContentLength != int64(len(body)) {
			t.Errorf("%.20q: %s", c.request, done.raw)
		}
	}
}
