package front_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestDoorRespondsToItsMethods sends methods to which the front door itself responds, and then
// another request on the same connection, to check that it still works.
func TestDoorRespondsToItsMethods(t *testing.T) {
	t.Parallel()
	back := upstream(t,
		func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Got", r.Method+" "+r.RequestURI) })
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{
			config.DefaultRoute("GET,POST /known", "site"),
			config.DefaultRoute("/any", "site"),
		}
	})
	for _, c := range []struct {
		method, target string
		want           int
		allow          string
		got            string // at the upstream
	}{
		{"GET", "/known", 200, "", "GET /known"},
		{"HEAD", "/known", 200, "", "HEAD /known"},
		{"POST", "/known", 200, "", "POST /known"},
		{"PUT", "/known", 405, "GET, HEAD, POST, OPTIONS", ""},
		{"get", "/known", 405, "GET, HEAD, POST, OPTIONS", ""},
		{"BREW", "/known", 405, "GET, HEAD, POST, OPTIONS", ""},
		{"OPTIONS", "/known", 204, "GET, HEAD, POST, OPTIONS", ""},
		{"OPTIONS", "/any", 200, "", "OPTIONS /any"},
		{"BREW", "/any", 200, "", "BREW /any"},
		{"OPTIONS", "/unknown", 404, "", ""},
		{"HEAD", "/unknown", 404, "", ""},
		{"OPTIONS", "*", 204, throughTheDoor, ""},
		{"GET", "*", 400, "", ""},
		{"TRACE", "/any", 405, throughTheDoor, ""},
		{"TRACE", "/known", 405, throughTheDoor, ""},
		{"CONNECT", "example.com:443", 501, "", ""},
		{"CONNECT", "/any", 501, "", ""},
	} {
		t.Run(c.method+c.target, func(t *testing.T) {
			conn := dial(t, d.addr)
			host := "example.com:443" // as in the target of CONNECT
			conn.send(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", c.method, c.target, host))
			resp, body := conn.response(c.method)
			if resp.StatusCode != c.want || resp.Header.Get("Allow") != c.allow || resp.Header.Get("X-Got") != c.got {
				t.Errorf("%d, Allow %q, upstream %q; want %d, %q, %q", resp.StatusCode,
					resp.Header.Get("Allow"), resp.Header.Get("X-Got"), c.want, c.allow, c.got)
			}
			if c.want == 204 && (body != "" || len(resp.Header["Content-Length"])+len(resp.Header["Content-Type"]) > 0) {
				t.Errorf("204 with a body: %q, %v", body, resp.Header)
			}
			if resp.Header.Get("X-Request-Id") == "" {
				t.Error("no X-Request-Id")
			}
			conn.send("GET /known HTTP/1.1\r\nHost: a\r\n\r\n")
			if resp, _ := conn.response("GET"); resp.StatusCode != 200 {
				t.Errorf("the next request: %d", resp.StatusCode)
			}
		})
	}
}

// throughTheDoor are the methods that a front door accepts, apart from routes.
const throughTheDoor = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// TestDoorRespondsToItsMethodsOverHTTP2 checks the same responses over HTTP/2.
func TestDoorRespondsToItsMethodsOverHTTP2(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("GET /known", "site")}
	})
	h2 := dialHTTP2(t, d.addr)
	for _, c := range []struct {
		want   int
		fields []string
	}{
		{204, []string{":method", "OPTIONS", ":scheme", "http", ":authority", "a", ":path", "/known"}},
		{204, []string{":method", "OPTIONS", ":scheme", "http", ":authority", "a", ":path", "*"}},
		{405, []string{":method", "TRACE", ":scheme", "http", ":authority", "a", ":path", "/known"}},
		{501, []string{":method", "CONNECT", ":authority", "a:443"}},
		{405, []string{":method", "PUT", ":scheme", "http", ":authority", "a", ":path", "/known"}},
		{200, []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/known"}},
	} {
		if got := h2.get(c.fields...); got != c.want {
			t.Errorf("%v: %d, want %d", c.fields, got, c.want)
		}
	}
}
