package front_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/feature/respond"
)

// conditional returns a route with a fixed response: the name.
func conditional(match, name string, when condition.Set) config.Route {
	r := config.DefaultRoute(match, "")
	r.When, r.Respond = when, &respond.Config{Status: 200, Text: name, Type: "text/plain"}
	return r
}

func headers(list ...condition.Condition) condition.Set { return condition.Set{Headers: list} }

func query(list ...condition.Condition) condition.Set { return condition.Set{Query: list} }

var (
	beta   = condition.Condition{Name: "X-Beta", Value: "1"}
	hasAny = condition.Condition{Name: "x-any", Test: condition.IsPresent}
	hasNot = condition.Condition{Name: "X-Any", Test: condition.IsAbsent}
	debug  = condition.Condition{Name: "debug", Test: condition.IsPresent}
)

// TestConditionsSelectTheRoute checks which route gets a request, over both protocols.
func TestConditionsSelectTheRoute(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = append(c.Routes,
			conditional("/a", "a", condition.Set{}),
			conditional("/a", "a beta", headers(beta)),
			conditional("/a", "a any and debug", condition.Set{Headers: headers(hasAny).Headers,
				Query: query(debug).Query}),
			conditional("/a", "a any", headers(hasAny)),
			conditional("/only/{x}", "only beta", headers(beta)),
			conditional("/only/{x...}", "only debug", query(debug)),
			conditional("GET /m", "GET m debug", query(debug)),
			conditional("POST /m", "POST m", condition.Set{}),
			conditional("GET /n", "GET n debug", query(debug)),
			conditional("/n", "n beta", headers(beta)),
			conditional("/q", "q ü", query(condition.Condition{Name: "ü x", Value: "ö&+"})),
			conditional("/q", "q empty", query(condition.Condition{Name: "e"})),
			conditional("/q", "q no debug", query(condition.Condition{Name: "debug", Test: condition.IsAbsent})),
			conditional("/none", "none any", headers(hasNot)),
			conditional("{tenant}.example.com/", "tenant beta", headers(beta)),
		)
		c.Redirects = []redirects.Redirect{{From: "/moved", To: "/to", Status: 301}}
		c.Routes = append(c.Routes, conditional("/moved", "moved beta", headers(beta)))
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for _, c := range []struct {
			request string   // METHOD TARGET
			fields  []string // name: value
			want    string   // the text, a status, or a Location
		}{
			{"GET /a", nil, "a"},
			{"GET /a", []string{"X-Beta: 1"}, "a beta"},
			{"HEAD /a", []string{"X-Beta: 1"}, ""},
			{"GET /a", []string{"x-BETA: 0", "X-beta: 1"}, "a beta"},
			{"GET /a", []string{"X-Beta: 1, 2"}, "a"},
			{"GET /a", []string{"X-Beta: 01"}, "a"},
			{"GET /a", []string{"X-Beta2: 1"}, "a"},
			{"GET /a", []string{"X-Any: "}, "a any"},
			{"GET /a?debug", []string{"X-Any: y"}, "a any and debug"},
			{"GET /a?debug", []string{"X-Any: y", "X-Beta: 1"}, "a beta"},
			{"GET /a?debug", nil, "a"},

			{"GET /only/x", nil, "hello"}, // the route of the upstream, /{path...}
			{"GET /only/x", []string{"X-Beta: 1"}, "only beta"},
			{"GET /only/x?debug=", nil, "only debug"},
			{"GET /only/x/y", []string{"X-Beta: 1"}, "hello"},

			{"GET /m?debug", nil, "GET m debug"},
			{"GET /m", nil, "hello"},
			{"POST /m?debug", nil, "POST m"},
			{"GET /n?debug", []string{"X-Beta: 1"}, "GET n debug"},
			{"GET /n", []string{"X-Beta: 1"}, "n beta"},
			{"HEAD /n", []string{"X-Beta: 1"}, ""},

			{"GET /q?debug&%C3%BC+x=%C3%B6%26%2B", nil, "q ü"},
			{"GET /q?debug&a=1&%C3%BC%20x=%C3%B6%26%2b", nil, "q ü"},
			{"GET /q?debug&%25C3%25BC+x=%C3%B6%26%2B", nil, "hello"}, // unescaped once, not twice
			{"GET /q?debug&%C3%BC+x=%C3%B6&+", nil, "hello"},
			{"GET /q?debug&e", nil, "q empty"},
			{"GET /q?debug&e=1&e=", nil, "q empty"},
			{"GET /q?debug&e=1", nil, "hello"},
			{"GET /q?debug&E", nil, "hello"},
			{"GET /q", nil, "q no debug"},
			{"GET /q?", nil, "q no debug"},
			{"GET /q?%64ebug=%31", nil, "hello"},
			{"GET /q?debug=%zz", nil, "q no debug"}, // like net/url, not a parameter
			{"GET /q?debug;x", nil, "q no debug"},

			{"GET /none", nil, "none any"},
			{"GET /none", []string{"X-Any: "}, "hello"},
			{"GET /", []string{"Host: shop.example.com", "X-Beta: 1"}, "tenant beta"},
			{"GET /", []string{"Host: shop.example.com"}, "hello"},
			{"GET /moved", nil, "/to"},
			{"GET /moved", []string{"X-Beta: 1"}, "moved beta"},
		} {
			method, target, _ := strings.Cut(c.request, " ")
			req, err := http.NewRequest(method, d.url("/"), nil)
			if err != nil {
				t.Fatal(err)
			}
			path, rawQuery, _ := strings.Cut(target, "?")
			req.URL.Path, req.URL.RawQuery = path, rawQuery
			for _, f := range c.fields {
				field, value, _ := strings.Cut(f, ": ")
				if field == "Host" {
					req.Host = value
				} else {
					req.Header[field] = append(req.Header[field], value)
				}
			}
			resp, text := do(t, client, req)
			if location := resp.Header.Get("Location"); location != "" {
				text = location
			}
			if text != c.want {
				t.Errorf("%s %s %q: %d %q, want %q", name, c.request, c.fields, resp.StatusCode, text, c.want)
			}
		}
	}
}

// A request for which no condition holds gets 404, or 405 with the methods that have a route for it.
func TestUnmetConditionsGet404Or405(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{
			conditional("GET /a", "a", query(debug)),
			conditional("/b", "b", query(debug)),
			conditional("GET /c", "c", query(debug)),
			conditional("POST /c", "c", condition.Set{}),
			conditional("GET,POST /d", "d", query(debug)),
			conditional("GET,POST /e", "e", query(debug)),
			conditional("PUT /e", "e", condition.Set{}),
			conditional("/{x...}", "x", headers(beta)),
		}
	})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/a", 404, ""}, {"HEAD", "/a", 404, ""}, {"PUT", "/a", 404, ""},
		{"PUT", "/a?debug", 405, "GET, HEAD, OPTIONS"}, {"OPTIONS", "/a", 404, ""},
		{"OPTIONS", "/a?debug", 204, "GET, HEAD, OPTIONS"},
		{"GET", "/b", 404, ""}, {"GET", "/c", 405, "POST, OPTIONS"}, {"PUT", "/c", 405, "POST, OPTIONS"},
		{"PUT", "/c?debug", 405, "GET, HEAD, POST, OPTIONS"},
		{"GET", "/d", 404, ""}, {"POST", "/d", 404, ""}, {"PUT", "/d", 404, ""},
		{"PUT", "/d?debug", 405, "GET, HEAD, POST, OPTIONS"},
		{"GET", "/e", 405, "PUT, OPTIONS"}, {"POST", "/e", 405, "PUT, OPTIONS"}, {"PATCH", "/e", 405, "PUT, OPTIONS"},
		{"PATCH", "/e?debug", 405, "GET, HEAD, POST, PUT, OPTIONS"},
	} {
		req, err := http.NewRequest(c.method, d.url(c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, _ := do(t, httpClient(t), req); resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want %d, %q", c.method, c.path, resp.StatusCode, resp.Header.Get("Allow"), c.status,
				c.allow)
		}
	}
}

// Routes with the same pattern have their own limits and their own names, without the
// values of conditions. A reload keeps the requests in flight.
func TestConditionalRoutesHaveTheirOwnNames(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered <- struct{}{}
			<-release
		}
		io.WriteString(w, "hello")
	})
	route := func(value string) config.Route {
		r := config.DefaultRoute("/{path...}", "site")
		r.When = headers(condition.Condition{Name: "X-Key", Value: value})
		r.Limits.InFlight = 1
		return r
	}
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = append(c.Routes, route("secret1"), route("secret2"))
	})
	get := func(path, key string) string {
		req, err := http.NewRequest("GET", d.url(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Key", key)
		resp, _ := do(t, httpClient(t), req)
		return resp.Status
	}
	slow := make(chan string)
	go func() { slow <- get("/slow", "secret1") }()
	<-entered
	if _, err := d.Reload(d.config); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"secret1": "503", "secret2": "200", "other": "200"} {
		if got := get("/", key); !strings.HasPrefix(got, want) {
			t.Errorf("X-Key: %s: %s, want %s", key, got, want)
		}
	}
	close(release)
	if got := <-slow; got != "200 OK" {
		t.Errorf("the request in flight: %s", got)
	}
	req, err := http.NewRequest("GET", "http://"+d.AdminAddr().String()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, metrics := do(t, httpClient(t), req)
	for _, label := range []string{`"/{path...} when X-Key"`, `"/{path...} when X-Key #2"`} {
		if !strings.Contains(metrics, "route="+label) {
			t.Errorf("the metrics lack the route %s", label)
		}
	}
	if strings.Contains(metrics, "secret1") {
		t.Error("the metrics contain the value of a condition")
	}
}

// Conditions that hold, and others that do not, cost no allocation.
func TestConditionsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := rawUpstream(t, answerWithoutAllocating)
	d := discardingDoor(t, "http://"+back, config.EventsAll, func(c *config.Config) {
		r := config.DefaultRoute("/{path...}", "site")
		r.When = condition.Set{Headers: []condition.Condition{beta}, Query: []condition.Condition{debug}}
		c.Routes = append(c.Routes, r, conditional("/a/{x}", "a", headers(hasAny)))
	})
	request := "GET /a/b?x=1&debug HTTP/1.1\r\nHost: www.example.com\r\nX-Beta: 1\r\n\r\n"
	if n := mallocsPerRequest(t, d, request); n >= 0.1 {
		t.Errorf("%.2f allocations for a proxied request, want none", n)
	}
}
