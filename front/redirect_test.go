package front_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/redirects"
)

// redirecting returns a function that adds redirects to a configuration.
func redirecting(lines ...redirects.Redirect) func(*config.Config) {
	return func(c *config.Config) { c.Redirects = append(c.Redirects, lines...) }
}

func TestRedirectsOfTheFileAreServed(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, redirecting(
		redirects.Redirect{From: "/a", To: "/b", Status: 307},
		redirects.Redirect{From: "/own", To: "/b?y=2#part", Status: 301},
		redirects.Redirect{From: "/drop", To: "/b?", Status: 302},
		redirects.Redirect{From: "/part", To: "/b#part", Status: 308},
		redirects.Redirect{From: "/away", To: "HTTPS://Example.com", Status: 301},
		redirects.Redirect{From: "/ü", To: "/ö x/%C3%A4?é=\"1\"#ß", Status: 301},
		redirects.Redirect{From: "/slash/", To: "/b", Status: 301},
		redirects.Redirect{From: "/p/*", To: "/q/*", Status: 308},
		redirects.Redirect{From: "/p/x", To: "/exact", Status: 308},
		redirects.Redirect{From: "/old/deep/*", To: "https://example.com/new/*?", Status: 301},
		redirects.Redirect{From: "/all/*", To: "/one", Status: 302},
		redirects.Redirect{From: "/root/*", To: "/*", Status: 302},
		redirects.Redirect{From: "h.example/a", To: "/host", Status: 302},
	), func(c *config.Config) { c.Routes = append(c.Routes, config.DefaultRoute("/p/route", "site")) })
	for _, c := range []struct {
		target, want string // want: the status and the Location
	}{
		{"/a", "307 /b"},
		{"/a?x=1&y=%20", "307 /b?x=1&y=%20"},
		{"/a?", "307 /b"},
		{"/a/", "200 "},
		{"/own?x=1", "301 /b?y=2#part"},
		{"/drop?x=1", "302 /b"},
		{"/part?x=1", "308 /b?x=1#part"},
		{"/away?x=1", "301 https://example.com/?x=1"},
		{"/%c3%BC", "301 /%C3%B6%20x/%C3%A4?%C3%A9=%221%22#%C3%9F"},
		{"/slash/", "301 /b"},
		{"/slash/x", "200 "},
		{"/slash", "200 "},

		{"/p/", "308 /q/"},
		{"/p", "200 "},
		{"/p/y/z?x=1", "308 /q/y/z?x=1"},
		{"/p/a%2Fb", "308 /q/a%2Fb"},
		{"/p/x", "308 /exact"},
		{"/p/x/y", "308 /q/x/y"},
		{"/p/route", "200 "},
		{"/old/deep/a/b?x=1", "301 https://example.com/new/a/b"},
		{"/all/a/b", "302 /one"},

		{"/root//evil.example", "302 /evil.example"},
		{"/root////evil.example/x", "302 /evil.example/x"},
		{"/root/%2F/evil.example", "302 /%2F/evil.example"},
		{"/root/\\evil.example", "400 "},
		{"/root/%5Cevil.example", "400 "},
		{"/root/x%0D%0ASet-Cookie:y", "400 "},
		{"/a?x=%0D%0ASet-Cookie:y", "307 /b?x=%0D%0ASet-Cookie:y"},
		{"/a?\"<\\>", "307 /b?%22%3C%5C%3E"},
		{"/root/\xc3\xbc\xff", "302 /%C3%BC%FF"},
	} {
		resp, _ := ask(t, d.addr, "GET "+c.target+" HTTP/1.1\r\nHost: a\r\n\r\n")
		if got := fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Location")); got != c.want {
			t.Errorf("GET %s: %s, want %s", c.target, got, c.want)
		}
	}
	for host, want := range map[string]string{"h.example": "/host", "H.EXAMPLE:80": "/host", "other.example": "/b"} {
		resp, _ := ask(t, d.addr, "GET /a HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		if got := resp.Header.Get("Location"); got != want {
			t.Errorf("GET /a of %s leads to %s, want %s", host, got, want)
		}
	}
}

// TestRedirectsApplyToAllMethods checks that redirects apply to all methods, over HTTP/1
// and HTTP/2, and do not wait for a body.
func TestRedirectsApplyToAllMethods(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, redirecting(redirects.Redirect{From: "/a", To: "/b", Status: 308}))
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS", "PROPFIND"} {
			var body io.Reader
			if method == "POST" || method == "PUT" {
				body = strings.NewReader(strings.Repeat("x", 100_000))
			}
			req, err := http.NewRequest(method, d.url("/a"), body)
			if err != nil {
				t.Fatal(err)
			}
			resp, text := do(t, client, req)
			want := "308 Permanent Redirect\n"
			if method == "HEAD" {
				want = ""
			}
			if resp.StatusCode != 308 || resp.Header.Get("Location") != "/b" || text != want {
				t.Errorf("%s %s: %d, Location %q, %q", name, method, resp.StatusCode, resp.Header.Get("Location"), text)
			}
		}
	}
}

// TestRedirectsAreNamed checks that the event names the redirect, and that the
// metrics name only prefixes, because a time series for each line would be too
// many.
func TestRedirectsAreNamed(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	lines := []redirects.Redirect{{From: "/old/*", To: "/new/*?", Status: 301}}
	for i := range 300 {
		lines = append(lines,
			redirects.Redirect{From: fmt.Sprintf("/path%d", i), To: "/x", Status: 301},
			redirects.Redirect{From: fmt.Sprintf("/prefix%d/*", i), To: "/x", Status: 301})
	}
	d := openDoor(t, back.URL, redirecting(lines...))
	client := httpClient(t)
	get(t, client, d.url("/old/a?token=secret"))
	for i := range 300 {
		get(t, client, d.url(fmt.Sprintf("/path%d", i)))
		get(t, client, d.url(fmt.Sprintf("/prefix%d/y", i)))
	}
	e := d.completed(t, "/old/a")
	if e.HTTP.Route != "/old/*" || e.Data["redirect"] != "/new/*?" || e.HTTP.StatusCode != 301 {
		t.Errorf("the event has the route %q, the redirect %v and the status %d", e.HTTP.Route, e.Data["redirect"],
			e.HTTP.StatusCode)
	}
	if e := d.completed(t, "/path7"); e.HTTP.Route != "/path7" || e.Data["redirect"] != "/x" {
		t.Errorf("the event has the route %q and the redirect %v", e.HTTP.Route, e.Data["redirect"])
	}
	if n := d.metric(t, `weir_requests_total{code="301",method="GET",route="/old/*"}`); n != 1 {
		t.Errorf("%v requests for /old/*", n)
	}
	if n := d.metric(t, `weir_requests_total{code="301",method="GET",route="redirects"}`); n != 300+201 {
		t.Errorf("%v requests for the redirects without a name", n)
	}
	series := 0
	for name := range d.metrics(t) {
		if strings.HasPrefix(name, "weir_requests_total{") {
			series++
		}
	}
	if series > 101 {
		t.Errorf("%d time series of requests", series)
	}
}

// TestReloadReplacesRedirects checks that a reload replaces the redirects, and that an
// invalid one changes nothing.
func TestReloadReplacesRedirects(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, redirecting(redirects.Redirect{From: "/a", To: "/b", Status: 301}))
	client := httpClient(t)
	for _, c := range []struct {
		line redirects.Redirect
		ok   bool
		want string
	}{
		{redirects.Redirect{From: "/a", To: "/c", Status: 301}, true, "/c"},
		{redirects.Redirect{From: "/a", To: "//d", Status: 301}, false, "/c"},
		{redirects.Redirect{From: "a", To: "/d", Status: 301}, false, "/c"},
		{redirects.Redirect{From: "/{path}/*", To: "/d", Status: 301}, false, "/c"},
		{redirects.Redirect{From: "/x", To: "/d", Status: 301}, true, ""},
	} {
		if _, err := d.Reload(doorConfig(back.URL, redirecting(c.line))); (err == nil) != c.ok {
			t.Errorf("%v: Reload returns %v", c.line, err)
		}
		if resp, _ := get(t, client, d.url("/a")); resp.Header.Get("Location") != c.want {
			t.Errorf("%v: /a leads to %q, want %q", c.line, resp.Header.Get("Location"), c.want)
		}
	}
}
