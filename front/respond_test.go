package front_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/respond"
)

// TestFixedResponsesAreServed checks the responses of routes with respond, over both protocols.
// The limits of the route apply to them.
func TestFixedResponsesAreServed(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	fixed := func(match string, r respond.Config) config.Route {
		route := config.DefaultRoute(match, "")
		route.Respond = &r
		return route
	}
	limited := fixed("/limited", respond.Config{Status: 200})
	limited.Limits.Body = 5
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = append(c.Routes,
			fixed("/gone/{path...}", respond.Config{Status: 410, Text: "gone\n", Type: "text/html"}),
			fixed("/none", respond.Config{Status: 204}),
			fixed("/empty", respond.Config{Status: 503}),
			limited)
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct {
			method, target, body string
			status               int
			text, contentType    string
		}{
			{"GET", "/gone/a?b", "", 410, "gone\n", "text/html"},
			{"HEAD", "/gone/a", "", 410, "", "text/html"},
			{"POST", "/gone/a", "body", 410, "gone\n", "text/html"},
			{"GET", "/none", "", 204, "", ""},
			{"GET", "/empty", "", 503, "", ""},
			{"POST", "/limited", "12345", 200, "", ""},
			{"POST", "/limited", "123456", 413, "413 Content Too Large\n", "text/plain; charset=utf-8"},
			{"GET", "/", "", 200, "hello", "text/plain; charset=utf-8"},
		} {
			req, err := http.NewRequest(c.method, d.url(c.target), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, text := do(t, client, req)
			if got := resp.Header.Get("Content-Type"); resp.StatusCode != c.status || text != c.text || got != c.contentType {
				t.Errorf("%s %s %s: %d %q %q, want %d %q %q", name, c.method, c.target, resp.StatusCode, got, text,
					c.status, c.contentType, c.text)
			}
		}
	}
}
