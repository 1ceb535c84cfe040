package front_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// corsRoute returns a route with CORS for https://app.example and the hosts below
// example.com.
func corsRoute(match string) config.Route {
	route := config.DefaultRoute(match, "site")
	route.CORS = &cors.Config{
		Origins:      []string{"https://app.example", "https://*.example.com", "http://*.example.com:8080"},
		AllowMethods: []string{"GET", "PUT"}, AllowHeaders: []string{"X-Token", "Content-Type"}, ExposeHeaders: []string{"X-Total"},
		Credentials: true, MaxAge: time.Minute,
	}
	return route
}

// corsDoor starts a door with routes, and an upstream that would allow all origins.
func corsDoor(t *testing.T, adjust ...func(*config.Config)) *testDoor {
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("access-control-allow-credentials", "true")
		h.Set("Access-Control-Max-Age", "5")
		h.Set("Vary", "Accept")
		io.WriteString(w, r.Method)
	})
	return openDoor(t, back.URL, adjust...)
}

// fieldsOfCORS returns the fields of a response that concern CORS, sorted.
func fieldsOfCORS(resp *http.Response) string {
	var fields []string
	for name, values := range resp.Header {
		if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
			fields = append(fields, fmt.Sprintf("%s: %s\n", strings.TrimPrefix(name, "Access-Control-"),
				strings.Join(values, ", ")))
		}
	}
	slices.Sort(fields)
	return strings.Join(fields, "")
}

const corsAllowed = "Allow-Credentials: true\nAllow-Origin: https://app.example\nExpose-Headers: X-Total\n"

// TestCORSAllowsConfiguredOrigins sends requests and preflights from allowed and other origins.
func TestCORSAllowsConfiguredOrigins(t *testing.T) {
	t.Parallel()
	d := corsDoor(t, func(c *config.Config) {
		get, read, open := corsRoute("GET /data"), corsRoute("PUT /data"), config.DefaultRoute("/open", "site")
		read.CORS.Origins = []string{"https://editor.example"}
		open.CORS = &cors.Config{Origins: []string{"*"}, AllowMethods: []string{"GET"}, AllowHeaders: []string{"*"}}
		named := config.DefaultRoute("/null", "site")
		named.CORS = &cors.Config{Origins: []string{"null"}, AllowMethods: []string{"GET"}}
		c.Routes = append(c.Routes, get, read, open, named, config.DefaultRoute("POST /data", "site"))
	})
	const app = "Origin: https://app.example\r\n"
	preflight := func(method string) string { return "Access-Control-Request-Method: " + method + "\r\n" }
	const preflightVary = "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers\n"
	upstreams := "Allow-Credentials: true\nAllow-Origin: *\nMax-Age: 5\nVary: Accept\n"
	for i, c := range []struct {
		method, path, fields string
		status               int
		want                 string
	}{
		{"GET", "/data", app, 200, corsAllowed + "Vary: Accept, Origin\n"},
		{"HEAD", "/data", app, 200, corsAllowed + "Vary: Accept, Origin\n"},
		{"GET", "/data", "", 200, "Vary: Accept, Origin\n"},
		{"GET", "/data", "Origin: null\r\n", 200, "Vary: Accept, Origin\n"},
		{"GET", "/data", "Origin: https://app.example.evil\r\n", 200, "Vary: Accept, Origin\n"},
		{"GET", "/data", app + app, 200, "Vary: Accept, Origin\n"},
		{"GET", "/null", "Origin: null\r\n", 200, "Allow-Origin: null\nVary: Accept, Origin\n"},
		{"GET", "/open", app, 200, "Allow-Origin: *\nVary: Accept\n"},
		{"GET", "/open", "Origin: null\r\n", 200, "Allow-Origin: *\nVary: Accept\n"},
		{"GET", "/open", "", 200, "Allow-Origin: *\nVary: Accept\n"}, // a cache may keep it for other origins
		{"POST", "/data", app, 200, upstreams},

		{"OPTIONS", "/data", app + preflight("GET"), 204,
			"Allow-Credentials: true\nAllow-Headers: X-Token, Content-Type\nAllow-Methods: GET, PUT\n" +
				"Allow-Origin: https://app.example\nExpose-Headers: X-Total\nMax-Age: 60\n" + preflightVary},
		{"OPTIONS", "/data", app + preflight("PUT"), 204, preflightVary},
		{"OPTIONS", "/data", "Origin: https://evil.example\r\n" + preflight("GET"), 204, preflightVary},
		{"OPTIONS", "/open", app + preflight("GET") + "Access-Control-Request-Headers: x-a,x-b\r\n", 204,
			"Allow-Headers: x-a,x-b\nAllow-Methods: GET\nAllow-Origin: *\n" +
				"Vary: Access-Control-Request-Method, Access-Control-Request-Headers\n"},
		{"OPTIONS", "/data", app + preflight("POST"), 200, upstreams}, // of /{path...}
		{"OPTIONS", "/data", app + preflight("POST") + preflight("GET"), 200, upstreams},
		{"OPTIONS", "/data", app, 200, upstreams},
		{"OPTIONS", "/data", preflight("GET"), 200, upstreams},
		{"OPTIONS", "/open", app, 200, "Allow-Origin: *\nVary: Accept\n"}, // not a preflight
	} {
		resp, body := ask(t, d.addr, c.method+" "+c.path+" HTTP/1.1\r\nHost: a\r\n"+c.fields+"\r\n")
		if got := fieldsOfCORS(resp); resp.StatusCode != c.status || got != c.want || c.status == 204 && body != "" {
			t.Errorf("%d, %s %s %q: %s with\n%swant %d with\n%s", i, c.method, c.path, c.fields, resp.Status, got,
				c.status, c.want)
		}
	}
	e := d.log.find(t, func(e event) bool { return e.HTTP.StatusCode == 204 && e.HTTP.Route == "PUT /data" })
	if e.HTTP.Method != "OPTIONS" {
		t.Errorf("a preflight is logged as %s", e.raw)
	}
}

func TestWildcardOriginsMatchSubdomains(t *testing.T) {
	t.Parallel()
	d := corsDoor(t, func(c *config.Config) { c.Routes = []config.Route{corsRoute("/")} })
	for origin, want := range map[string]bool{
		"https://a.example.com":       true,
		"https://a.b.example.com":     true,
		"http://a.example.com:8080":   true,
		"http://a.example.com":        false,
		"https://a.example.com:8080":  false,
		"https://example.com":         false,
		"https://.example.com":        false,
		"https://aexample.com":        false,
		"https://a.example.com.evil":  false,
		"https://evil/.example.com":   false,
		"https://evil:1.example.com":  false,
		"https://u@evil#.example.com": false,
		"HTTPS://A.EXAMPLE.COM":       false, // browsers send lower case
	} {
		resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\nOrigin: "+origin+"\r\n\r\n")
		if got := resp.Header.Get("Access-Control-Allow-Origin"); (got == origin) != want || got != "" && !want {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", origin, got)
		}
	}
}

// TestCORSAppliesToRefusals checks that pages can read the responses that the door makes, and that
// preflights need no password, but an allowed network.
func TestCORSAppliesToRefusals(t *testing.T) {
	t.Parallel()
	dead := testkit.ClosedAddress(t)
	d := corsDoor(t, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "dead", Servers: []upstreams.Server{{URL: "http://" + dead}}})
		c.TrustedProxies = parsePrefixes(t, "127.0.0.1/32")
		c.Access = &access.Config{Deny: parsePrefixes(t, "192.0.2.1/32")}
		users, inner, failing, rare := corsRoute("/users"), corsRoute("/inner"), corsRoute("/failing"), corsRoute("/rare")
		users.BasicAuth = &basicauth.Config{Realm: "x",
			Users: []basicauth.User{{Name: "a", Hash: bcryptHash(t, "b", bcrypt.MinCost)}}}
		inner.Access = []*access.Config{{Deny: parsePrefixes(t, "192.0.2.2/32")}}
		failing.To = "dead"
		rare.Limits.Rate = config.Rate{Every: time.Hour, Burst: 1}
		fixed, wide := corsRoute("/fixed"), corsRoute("/wide")
		fixed.To, fixed.Respond = "", &respond.Config{Status: 410}
		wide.Limits.Body = 1
		c.Routes = append(c.Routes, users, inner, failing, rare, fixed, wide)
	})
	for i, c := range []struct {
		method, path, fields string
		status               int
	}{
		{"GET", "/users", "", 401},
		{"GET", "/users", basic("a:b"), 200},
		{"GET", "/users", "X-Forwarded-For: 192.0.2.1\r\n", 403},
		{"GET", "/inner", "X-Forwarded-For: 192.0.2.2\r\n", 403},
		{"GET", "/failing", "", 502},
		{"GET", "/rare", "", 200},
		{"GET", "/rare", "", 429},
		{"GET", "/fixed", "", 410},
		{"PUT", "/wide", "Content-Length: 2\r\n", 413},
		{"OPTIONS", "/users", "Access-Control-Request-Method: GET\r\n", 204},
		{"OPTIONS", "/failing", "Access-Control-Request-Method: GET\r\n", 204},
		{"OPTIONS", "/inner", "Access-Control-Request-Method: GET\r\nX-Forwarded-For: 192.0.2.2\r\n", 403},
	} {
		resp, _ := ask(t, d.addr,
			c.method+" "+c.path+" HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\n"+c.fields+"\r\n")
		got := fieldsOfCORS(resp)
		if resp.StatusCode != c.status || !strings.Contains(got, "Allow-Origin: https://app.example\n") ||
			!strings.Contains(got, "Vary: ") {
			t.Errorf("%d, %s %s: %s with\n%s", i, c.method, c.path, resp.Status, got)
		}
	}
	r, err := http.NewRequest("OPTIONS", d.url("/users"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://a.example.com")
	r.Header.Set("Access-Control-Request-Method", "PUT")
	resp, _ := do(t, h2cClient(t), r)
	if resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Origin") != "https://a.example.com" {
		t.Errorf("HTTP/2: %s with\n%s", resp.Status, fieldsOfCORS(resp))
	}
}
