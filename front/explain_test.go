package front_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/upstreams"
)

// explain returns the decision about a request with fields, as METHOD HOST TARGET.
func (d *testDoor) explain(t *testing.T, request string, fields ...string) *front.Explanation {
	t.Helper()
	p := strings.Fields(request)
	head := p[0] + " " + p[2] + " HTTP/1.1\r\nHost: " + p[1] + "\r\n"
	for _, f := range fields {
		head += f + "\r\n"
	}
	e, err := d.Explain("https", []byte(head+"\r\n"), netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return e
}

// TestExplainAgreesWithTheDoor sends requests and compares the response with the
// explanation.
func TestExplainAgreesWithTheDoor(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{
			conditional("/a/{x}", "1", headers(beta)),
			conditional("/a/{x}", "2", query(debug)),
			conditional("GET /a/{x}", "3", query(debug)),
			conditional("*.example.com/a/{x}", "4", headers(hasAny)),
			conditional("{tenant}.example.com/{path...}", "5", condition.Set{}),
			conditional("shop.example.com/a/b", "6", condition.Set{}),
			conditional("POST /post", "7", condition.Set{}),
			conditional("/{p...}", "8", headers(hasNot)),
		}
		for i := range c.Routes {
			c.Routes[i].Position = config.Position{File: "weir.yaml", Line: i + 1}
		}
	})
	client := httpClient(t)
	for _, host := range []string{"localhost", "shop.example.com", "blog.example.com", "a.b.example.com"} {
		for _, target := range []string{"/a/b", "/a/b?debug", "/a/c", "/post", "/", "/a/../b", "*"} {
			for _, fields := range [][]string{nil, {"X-Beta: 1"}, {"X-Any: 2"}, {"X-Beta: 1", "X-Any: 2"}} {
				for _, method := range []string{"GET", "POST", "OPTIONS"} {
					if target == "*" && method != "OPTIONS" {
						continue
					}
					req := &http.Request{Method: method, URL: d.parsedURL(t, target), Host: host, Header: http.Header{}}
					for _, f := range fields {
						name, value, _ := strings.Cut(f, ": ")
						req.Header.Set(name, value)
					}
					resp, text := do(t, client, req)
					e := d.explain(t, method+" "+host+" "+target, fields...)
					chosen := ""
					for _, r := range e.Routes {
						if r.Chosen {
							chosen = string(rune('0' + r.Line))
						}
					}
					status := e.Status
					if chosen != "" {
						status = 200
					}
					if chosen != "" && text != chosen || status != resp.StatusCode || e.Allow != resp.Header.Get("Allow") {
						t.Errorf("%s %s%s %q: %d %q, but explained as %d by line %s, %+v", method, host, target, fields,
							resp.StatusCode, text, status, chosen, e)
					}
				}
			}
		}
	}
}

func TestExplainListsTheCandidates(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		redirecting(redirects.Redirect{From: "/old/*", To: "/new/*", Status: 301,
			File: "r.csv", Line: 7})(c)
		limited := config.DefaultRoute("{t}.example.com/old/{x:int}", "site")
		limited.Access = []*access.Config{{Deny: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
		shares := config.DefaultRoute("/old/{x}/b", "")
		shares.Split = []split.Share{{To: "site", Weight: 3}, {To: "site", Weight: 1}}
		c.Routes = append(c.Routes, limited, shares, conditional("GET {t...}.com/{p...}", "any", headers(beta)),
			conditional("/{x}/1", "x", condition.Set{}))
	})
	for _, c := range []struct {
		request string
		want    string // of each route, its pattern, why and steps
	}{
		{"GET a.example.com /old/1", "{t}.example.com/old/{x:int} [refuses the client 127.0.0.1 with 403] | " +
			"GET {t...}.com/{p...} (a condition does not hold) | " +
			"/old/{rest...} (less specific: it has no host) | /{x}/1 (less specific: it has no host) | " +
			"/{path...} (less specific: it has no host)"},
		{"GET h /old/1", "/old/{rest...} [redirects with 301 to /new/1] | " +
			"/{x}/1 (less specific: {x} instead of old in segment 1) | " +
			"/{path...} (less specific: {path...} instead of old in segment 1)"},
		{"GET h /old/a/b", "/old/{x}/b [forwards 75 % of the requests to the upstream site: " + back.URL +
			", forwards 25 % of the requests to the upstream site: " + back.URL + "] | " +
			"/old/{rest...} (less specific: {rest...} instead of {x} in segment 2) | " +
			"/{path...} (less specific: {path...} instead of old in segment 1)"},
		{"GET h /x/1", "/{x}/1 [responds with 200 and a body of 1 bytes] | " +
			"/{path...} (less specific: {path...} instead of {x} in segment 1)"},
	} {
		var got []string
		for _, r := range d.explain(t, c.request).Routes {
			text := r.Pattern
			if r.Why != "" {
				text += " (" + r.Why + ")"
			}
			if r.Chosen {
				text += " [" + strings.Join(r.Steps, ", ") + "]"
			}
			got = append(got, text)
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.request, strings.Join(got, " | "), c.want)
		}
	}
}

// TestExplainShowsTheSteps checks the steps that depend on the request.
func TestExplainShowsTheSteps(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	to := "forwards to the upstream site: " + back.URL
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams,
			upstreams.Upstream{Name: "two", Servers: []upstreams.Server{{URL: "http://a:1"}, {URL: "http://b:2"}}},
			upstreams.Upstream{Name: "grpc", Servers: []upstreams.Server{{URL: "http://c:3"}}, HTTP2: true,
				Connections: upstreams.Limit{Max: 7}})
		add := func(match string, change func(r *config.Route)) {
			r := config.DefaultRoute(match, "site")
			change(&r)
			c.Routes = append(c.Routes, r)
		}
		add("{tenant}.example.com/api/{path...}", func(r *config.Route) {
			r.Rewrite.StripPrefix, r.Rewrite.AddPrefix = "/api", "/v2"
			r.RequestHeaders.Set = []edits.Field{{Name: "Host", Value: "{tenant}.internal"}, {Name: "Authorization", Value: "secret"}}
		})
		add("/split", func(r *config.Route) {
			r.To = ""
			r.Split = []split.Share{{To: "site", Weight: 1}, {To: "two", Weight: 3}, {To: "two", When: headers(beta)}}
			r.StickySplit = &split.Sticky{Cookie: "door"}
		})
		add("/grpc", func(r *config.Route) { r.To = "grpc" })
		add("/redirect/{id}", func(r *config.Route) {
			r.To, r.Redirect = "", &redirects.Config{To: "/new/{id}", Status: 308}
		})
		add("/cookie", func(r *config.Route) { r.When.Cookies = []condition.Condition{{Name: "a", Value: "b"}} })
		add("/mirror", func(r *config.Route) {
			r.Mirror = &mirror.Config{To: "two", Share: mirror.All / 10, InFlight: 1}
		})
		add("/asked", func(r *config.Route) { r.ForwardAuth = &forwardauth.Config{To: "two", Path: "/verify"} })
		add("/cors", func(r *config.Route) {
			r.CORS = &cors.Config{Origins: []string{"https://a.example"}, AllowMethods: []string{"PUT"}}
		})
	})
	const two = "upstream two: http://a:1, http://b:2 in turn"
	for _, c := range []struct {
		request string
		fields  []string
		want    string
	}{
		{"GET blue.example.com /api/a%20b?c=d", nil,
			"changes the target to /v2/a%20b?c=d | changes the host to blue.internal | " +
				"sets Authorization of the request to [redacted] | " + to},
		{"GET h /split", nil, "forwards 25 % of the requests to the upstream site: " + back.URL +
			" | forwards 75 % of the requests to the " + two + " | sets the cookie door, which keeps the client at its upstream"},
		{"GET h /split", []string{"X-Beta: 1"}, "forwards, because of X-Beta, to the " + two},
		{"GET h /grpc", nil, "forwards to the upstream grpc: http://c:3 over HTTP/2; at most 7 requests at a server"},
		{"GET h /redirect/7?x=y", nil, "redirects with 308 to /new/7?x=y"},
		{"GET h /cookie", []string{"Cookie: a=b"}, to},
		{"GET h /mirror", nil, "sends copies of 10 % of the requests to the " + two + " | " + to},
		{"GET h /asked", nil, "asks the " + two + " whether the request is admitted | " + to},
		{"OPTIONS h /cors", []string{"Origin: https://a.example", "Access-Control-Request-Method: PUT"},
			"responds to the preflight of CORS"},
	} {
		steps := []string{"no route"}
		for _, r := range d.explain(t, c.request, c.fields...).Routes {
			if r.Chosen {
				steps = r.Steps
			}
		}
		if got := strings.Join(steps, " | "); got != c.want {
			t.Errorf("%s %q: got\n%s\nwant\n%s", c.request, c.fields, got, c.want)
		}
	}
	for _, r := range d.explain(t, "GET h /cookie", "Cookie: a=c").Routes {
		if r.Pattern == "/cookie" && (r.Chosen || len(r.Conditions) != 1 || r.Conditions[0].Condition != `cookie a is "b"`) {
			t.Errorf("another cookie: %+v", r)
		}
	}
}

func TestExplainAgreesForFiles(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{"index.html": "", "a.txt": "abc", "a.txt.gz": "gzip", "in/b": "b", "app.html": "app"})
	if err := os.Chtimes(string(f)+"/a.txt.gz", time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	gone := f.route("/gone/{path...}")
	gone.Files.Root += "/none"
	d := openDoor(t, "http://127.0.0.1:1", routes(gone,
		f.route("/{path...}", func(c *files.Config) { c.Precompressed = []string{"gzip"} }),
		f.route("/app/{path...}", func(c *files.Config) { c.Fallback = "/app.html" })))
	client := plainClient(httpClient(t))
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	in := " in the folder " + string(f)
	for _, c := range []struct {
		method, path, field, want string
		status                    int
	}{
		{"GET", "/", "", `serves "index.html"` + in, 200},
		{"HEAD", "/a.txt", "", `serves "a.txt"` + in, 200},
		{"GET", "/a.txt", "Accept-Encoding: gzip", `serves "a.txt" with gzip` + in, 200},
		{"GET", "/a.txt", "If-None-Match: *", `responds with 304 for "a.txt"` + in, 304},
		{"GET", "/a.txt", "If-Match: \"x\"", `responds with 412 for "a.txt"` + in, 412},
		{"GET", "/a.txt", "Range: bytes=1-", `responds with 206 for "a.txt"` + in, 206},
		{"GET", "/a.txt", "Range: bytes=3-", `responds with 416 for "a.txt"` + in, 416},
		{"GET", "/in?x", "", "redirects with 301 to ./in/?x", 301},
		{"GET", "/in/", "", "responds with 404: no such file", 404},
		{"GET", "/none", "", "responds with 404: no such file", 404},
		{"GET", "/.env", "", "responds with 404: the name begins with a dot", 404},
		{"GET", "/app/none", "", `serves "app.html"` + in, 200},
		{"OPTIONS", "/none", "", "responds with 204 and Allow: GET, HEAD, OPTIONS", 204},
		{"POST", "/a.txt", "", "responds with 405: files have only GET and HEAD", 405},
		{"GET", "/gone/a.txt", "", "responds with 500: the root: ", 500},
	} {
		req := &http.Request{Method: c.method, URL: d.parsedURL(t, c.path), Header: http.Header{}}
		var fields []string
		if name, value, found := strings.Cut(c.field, ": "); found {
			req.Header.Set(name, value)
			fields = append(fields, c.field)
		}
		if resp, _ := do(t, client, req); resp.StatusCode != c.status {
			t.Errorf("%s %s %s: %s, want %d", c.method, c.path, c.field, resp.Status, c.status)
		}
		var steps []string
		for _, r := range d.explain(t, c.method+" h "+c.path, fields...).Routes {
			if r.Chosen {
				steps = r.Steps
			}
		}
		if got := strings.Join(steps, " | "); got != c.want && (c.status != 500 || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %s %s: got\n%s\nwant\n%s", c.method, c.path, c.field, got, c.want)
		}
	}
}

// Access of all requests comes before the routes.
func TestExplainShowsAccessOfAllRequests(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Access = &access.Config{Deny: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	})
	if e := d.explain(t, "GET h /"); e.Status != 403 || len(e.Routes) != 0 {
		t.Errorf("got %+v, want 403", e)
	}
	if e := d.explain(t, "TRACE h /"); e.Status != 405 || e.Allow == "" {
		t.Errorf("got %+v, want 405", e)
	}
}

// TestExplainAgreesOnThePrecedence sends requests for which several parts of the front door have a response: the
// redirect to https, the check of the spelling, TRACE, OPTIONS * and access of all requests.
func TestExplainAgreesOnThePrecedence(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.TLS = tlsConfig(t, "a.example")
		c.TLS.HTTPS.Redirect = 443
		c.TrustedProxies = parsePrefixes(t, "127.0.0.1/32")
		c.Access = &access.Config{Deny: parsePrefixes(t, "192.0.2.0/24")}
		staff := config.DefaultRoute("/staff/{path...}", "site")
		staff.Access = []*access.Config{{Allow: parsePrefixes(t, "10.0.0.0/8")}}
		health := config.DefaultRoute("/healthz", "site")
		health.PlainHTTP = true
		c.Routes = append(c.Routes, staff, health)
	})
	for _, c := range []struct {
		request, proto, client string
		want                   int
	}{
		{"GET /", "http", "192.0.2.1", 308},
		{"GET /", "https", "192.0.2.1", 403},
		{"GET /", "https", "198.51.100.1", 200},
		{"GET /healthz", "http", "192.0.2.1", 403},
		{"GET /healthz", "http", "198.51.100.1", 200},
		{"GET //staff/x", "http", "192.0.2.1", 308},
		{"GET //staff/x", "https", "192.0.2.1", 400},
		{"TRACE /", "http", "192.0.2.1", 308},
		{"TRACE /", "https", "192.0.2.1", 405},
		{"TRACE //staff/x", "https", "198.51.100.1", 400},
		{"OPTIONS *", "http", "192.0.2.1", 204},
		{"GET /..", "http", "192.0.2.1", 400},
	} {
		head := c.request + " HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-Proto: " + c.proto + "\r\nX-Forwarded-For: " + c.client +
			"\r\n\r\n"
		resp, _ := ask(t, d.addr, head)
		e, err := d.Explain("http", []byte(head), netip.MustParseAddr("127.0.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		explained := e.Status
		if explained == 0 {
			explained = 200 // of the upstream
		}
		if resp.StatusCode != c.want || explained != c.want || e.Allow != resp.Header.Get("Allow") ||
			(len(e.Routes) == 0) != (e.Status != 0) {
			t.Errorf("%s over %s from %s: %d, explained as %+v, want %d", c.request, c.proto, c.client, resp.StatusCode, e, c.want)
		}
	}
}

func TestExplainRejectsHeads(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	for head, want := range map[string]string{
		"":                                    "not complete",
		"GET / HTTP/1.1\r\n":                  "not complete",
		"GET / HTTP/1.1\r\n\r\n":              "400",
		"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n": "400",
		"G(T / HTTP/1.1\r\nHost: a\r\n\r\n":   "400",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":    "400",
	} {
		if _, err := d.Explain("https", []byte(head), netip.MustParseAddr("127.0.0.1")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", head, err, want)
		}
	}
	e, err := d.Explain("https", []byte("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"),
		netip.MustParseAddr("127.0.0.1"))
	if err != nil || len(e.Routes) != 1 || !e.Routes[0].Chosen {
		t.Errorf("a request with a body: %+v, %v", e, err)
	}
}

// parsedURL returns the URL of a target, which is sent as it is.
func (d *testDoor) parsedURL(t *testing.T, target string) *url.URL {
	t.Helper()
	u, err := url.Parse(d.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	if target == "*" {
		u.Opaque, u.Path = "*", ""
		return u
	}
	path, rawQuery, _ := strings.Cut(target, "?")
	u.Path, u.RawQuery = path, rawQuery
	return u
}

func TestExplainShowsRedirectToHTTPS(t *testing.T) {
	t.Parallel()
	d := newDoor(t, "http://127.0.0.1:1", func(c *config.Config) {
		c.TLS = tlsConfig(t, "a.example")
		c.TLS.HTTPS.Redirect = 443
		c.Routes = append(c.Routes, config.Route{Match: "/healthz", To: "site", PlainHTTP: true, Timeout: time.Minute})
	})
	for _, c := range []struct {
		scheme, path string
		want         int
	}{{"http", "/", 308}, {"https", "/", 0}, {"http", "/healthz", 0}} {
		e, err := d.Explain(c.scheme, []byte("GET "+c.path+" HTTP/1.1\r\nHost: a.example\r\n\r\n"),
			netip.MustParseAddr("127.0.0.1"))
		if err != nil || e.Status != c.want || (len(e.Routes) == 0) != (c.want != 0) {
			t.Errorf("%s %s: %+v, %v, want %d", c.scheme, c.path, e, err, c.want)
		}
	}
}
