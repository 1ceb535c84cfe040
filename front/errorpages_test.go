package front_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/compress"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

func htmlPage(body string) errorpages.Page {
	return errorpages.Page{{Type: "text/html; charset=utf-8", Body: body}}
}

func htmlAndJSON(html, json string) errorpages.Page {
	return append(htmlPage(html), errorpages.File{Type: "application/json", Body: json})
}

// TestErrorPagesReplaceErrors checks the pages of errors of the front door and of the upstream, over both
// protocols.
func TestErrorPagesReplaceErrors(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reset" {
			panic(http.ErrAbortHandler)
		}
		status := 200
		fmt.Sscanf(r.URL.Query().Get("status"), "%d", &status)
		h := w.Header()
		h.Set("Content-Type", "text/x-own")
		h.Set("Content-Language", "de")
		h.Set("ETag", `"own"`)
		h.Set("Content-Security-Policy", "default-src 'self'")
		h.Set("Content-Security-Policy-Report-Only", "default-src a.example")
		h.Set("Retry-After", "7")
		w.WriteHeader(status)
		if r.URL.Query().Get("long") != "" {
			for range 1000 {
				io.WriteString(w, strings.Repeat("x", 1000))
			}
		}
		io.WriteString(w, "of the upstream")
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.ErrorPages = &errorpages.Config{Pages: []errorpages.StatusPage{
			{Statuses: statuses.Range{First: 400, Last: 499}, Page: htmlPage("any 4xx")},
			{Statuses: statuses.Range{First: 404, Last: 404}, Page: htmlPage("not found")},
			{Statuses: statuses.Range{First: 502, Last: 502}, Page: htmlAndJSON("bad gateway", `{"error": 502}`)},
		}}
		c.Routes[0].Match = "/site/{path...}"
		reset := config.DefaultRoute("/reset", "site")
		limited := config.DefaultRoute("/limited", "site")
		limited.Limits.Body = 1
		intercepted := config.DefaultRoute("/intercepted", "site")
		intercepted.ErrorPages = &errorpages.Config{Intercept: true, Pages: []errorpages.StatusPage{
			{Statuses: statuses.Range{First: 500, Last: 599}, Page: htmlPage("intercepted")}}}
		intercepted.Compress = compress.Default()
		intercepted.Compress.MinLength = 0
		edited := intercepted
		edited.Match = "/edited"
		edited.ResponseHeaders = edits.Config{
			Set: []edits.Field{{Name: "content-security-policy", Value: "default-src 'none'"},
				{Name: "Content-Language", Value: "fr"}, {Name: "Content-Type", Value: "text/x-edited"}},
			Add:    []edits.Field{{Name: "Content-Location", Value: "/errors/503"}},
			Remove: []string{"X-Content-Type-Options"},
		}
		fixed := config.DefaultRoute("/fixed", "")
		fixed.Respond = &respond.Config{Status: 410}
		text := config.DefaultRoute("/text", "")
		text.Respond = &respond.Config{Status: 410, Text: "own text", Type: "text/x-own"}
		c.Routes = append(c.Routes, reset, limited, intercepted, edited, fixed, text)
		pagesOfAll(c)
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		plainClient(client)
		for _, c := range []struct {
			target, accept string
			status         int
			text, fields   string
		}{
			{"/none", "", 404, "not found", "Content-Type: text/html; charset=utf-8|X-Content-Type-Options: nosniff|Vary: "},
			{"/limited", "", 413, "any 4xx", "Content-Type: text/html; charset=utf-8"},
			{"/reset", "", 502, "bad gateway", "Content-Type: text/html; charset=utf-8|Vary: Accept"},
			{"/reset", "application/json", 502, `{"error": 502}`, "Content-Type: application/json|Vary: Accept"},
			{"/reset", "text/html;q=0.2, */*;q=0.1", 502, "bad gateway", "Content-Type: text/html; charset=utf-8"},
			{"/reset", "image/png", 502, "bad gateway", "Content-Type: text/html; charset=utf-8"},
			{"/site/a?status=404", "", 404, "of the upstream", `Content-Type: text/x-own|ETag: "own"`},
			{"/intercepted?status=404", "", 404, "of the upstream", "Content-Type: text/x-own"},
			{"/intercepted?status=200", "", 200, "of the upstream", "Content-Type: text/x-own"},
			{"/intercepted?status=503", "", 503, "intercepted",
				"Content-Type: text/html; charset=utf-8|ETag: |Content-Language: |Retry-After: 7|" +
					"X-Content-Type-Options: nosniff|Content-Security-Policy: default-src 'self'|" +
					"Content-Security-Policy-Report-Only: default-src a.example"},
			{"/intercepted?status=503&long=1", "", 503, "intercepted", "Content-Length: 11"},
			{"/edited?status=503", "", 503, "intercepted",
				"Content-Type: text/x-edited|Content-Language: fr|Content-Location: /errors/503|X-Content-Type-Options: |" +
					"Content-Security-Policy: default-src 'none'|ETag: "},
			{"/fixed", "", 410, "any 4xx", "Content-Type: text/html; charset=utf-8"},
			{"/text", "", 410, "own text", "Content-Type: text/x-own"},
		} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				what := name + " " + method + " " + c.target
				var body io.Reader
				if method == "POST" || c.target == "/limited" {
					body = strings.NewReader("long body")
				}
				r, err := http.NewRequest(method, d.url(c.target), body)
				if err != nil {
					t.Fatal(err)
				}
				if c.accept != "" {
					r.Header.Set("Accept", c.accept)
				}
				resp, text := do(t, client, r)
				want := c.text
				if method == "HEAD" {
					want = ""
				}
				if resp.StatusCode != c.status || text != want {
					t.Errorf("%s: %d %q, want %d %q", what, resp.StatusCode, text, c.status, want)
				}
				for _, f := range strings.Split(c.fields, "|") {
					if key, value, _ := strings.Cut(f, ": "); resp.Header.Get(key) != value {
						t.Errorf("%s: %s is %q, want %q", what, key, resp.Header.Get(key), value)
					}
				}
			}
		}
	}
	r, err := http.NewRequest("GET", d.url("/intercepted?status=500&compressed"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := plainClient(httpClient(t)).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(decoded(t, resp)); err != nil || string(body) != "intercepted" ||
		resp.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("a compressed page: %q, %v, %v", body, err, resp.Header)
	}
	e := d.log.find(t, func(e event) bool {
		return e.HTTP.Query == "status=503&long=1" && e.HTTP.Method == "GET" && e.HTTP.StatusCode > 0
	})
	if e.HTTP.ResponseContentLength != int64(len("intercepted")) {
		t.Errorf("the log has %d bytes", e.HTTP.ResponseContentLength)
	}
}

// TestMaintenancePageIsServed checks the responses while no server accepts a connection, before and after,
// and those of routes in maintenance.
func TestMaintenancePageIsServed(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	down := "http://" + testkit.ClosedAddress(t)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "down", Servers: []upstreams.Server{{URL: down}}})
		c.ErrorPages = &errorpages.Config{Pages: []errorpages.StatusPage{{Statuses: statuses.Range{First: 500, Last: 599}, Page: htmlPage("any 5xx")}}}
		bare := config.DefaultRoute("/bare", "down")
		bare.Maintenance = new(maintenance.Config)
		active := config.DefaultRoute("/active", "site")
		active.Maintenance = &maintenance.Config{Active: true, RetryAfter: time.Minute}
		down := config.DefaultRoute("/down", "down")
		down.Maintenance = &maintenance.Config{Page: htmlPage("back soon"), RetryAfter: 30 * time.Second}
		c.Routes = append(c.Routes, down, bare, active)
		pagesOfAll(c)
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct {
			target, text, retryAfter string
			status                   int
		}{
			{"/", "hello", "", 200},
			{"/down", "back soon", "30", 503},
			{"/bare", "any 5xx", "", 503},
			{"/active", "any 5xx", "60", 503},
		} {
			for _, body := range []string{"", strings.Repeat("x", 100_000)} {
				r, err := http.NewRequest("POST", d.url(c.target), strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				resp, text := do(t, client, r)
				if got := resp.Header.Get("Retry-After"); resp.StatusCode != c.status || text != c.text || got != c.retryAfter {
					t.Errorf("%s %s: %d %q, Retry-After %q; want %d %q %q", name, c.target, resp.StatusCode, text, got, c.status,
						c.text, c.retryAfter)
				}
			}
		}
	}
	if e := d.completed(t, "/active"); e.Data["refused"] != "maintenance" {
		t.Errorf("the log has %v", e.Data)
	}
	if e := d.completed(t, "/down"); e.Data["failure"] != "refused" || e.HTTP.StatusCode != 503 {
		t.Errorf("the log has status %d, %v", e.HTTP.StatusCode, e.Data)
	}
	changed := doorConfig(back.URL)
	changed.Listen, changed.Admin = d.config.Listen, d.config.Admin
	changed.Routes[0].Maintenance = &maintenance.Config{Active: true}
	if _, err := d.Reload(changed); err != nil {
		t.Fatal(err)
	}
	if resp, text := get(t, httpClient(t), d.url("/")); resp.StatusCode != 503 || text != "503 Service Unavailable\n" {
		t.Errorf("after a reload: %d %q", resp.StatusCode, text)
	}
}

// TestInterceptedCutResponseGetsWholePage checks that the page which replaces a body arrives complete if the
// upstream breaks off the body.
func TestInterceptedCutResponseGetsWholePage(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", "1000")
		}
		w.WriteHeader(500)
		io.WriteString(w, "a part")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	page := strings.Repeat("an error ", 1000)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.ErrorPages = &errorpages.Config{Intercept: true, Pages: []errorpages.StatusPage{
			{Statuses: statuses.Range{First: 500, Last: 599}, Page: htmlPage(page)}}}
		plain := config.DefaultRoute("/plain/{path...}", "site")
		plain.Rewrite.StripPrefix = "/plain"
		c.Routes = append(c.Routes, plain)
		c.Routes[0].Compress = compress.Default()
		pagesOfAll(c)
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, path := range []string{"/sized", "/chunked", "/plain/sized", "/plain/chunked"} {
			resp, err := client.Get(d.url(path)) // which decodes gzip
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 500 || string(body) != page || err != nil {
				t.Errorf("%s %s: %s, %d bytes, %v; want %d bytes", name, path, resp.Status, len(body), err, len(page))
			}
			if compressed := !strings.HasPrefix(path, "/plain"); resp.Uncompressed != compressed {
				t.Errorf("%s %s: compressed is not %v", name, path, compressed)
			}
			id := resp.Header.Get("X-Request-Id")
			e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.Event == "http request completed" })
			if e.Data["failure"] == nil || e.HTTP.StatusCode != 500 {
				t.Errorf("%s %s: the failure is not logged: %s", name, path, e.raw)
			}
		}
	}
}

// pagesOfAll gives the routes without error pages those of requests without a route.
func pagesOfAll(c *config.Config) {
	for i := range c.Routes {
		c.Routes[i].ErrorPages = cmp.Or(c.Routes[i].ErrorPages, c.ErrorPages)
	}
}
