package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/router"
)

// newRouter returns a router whose handlers write their pattern and values.
func newRouter(patterns ...string) *router.Router {
	r := new(router.Router)
	for _, p := range patterns {
		r.Handle(p, echo(p))
	}
	return r
}

// echo writes the pattern with which it was registered, the pattern of the request, and
// the values of a few parameters.
func echo(pattern string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintf(w, "%s %s", pattern, req.Pattern)
		for _, name := range []string{"a", "b", "c", "d"} {
			if value := req.PathValue(name); value != "" {
				fmt.Fprintf(w, " %s=%s", name, value)
			}
		}
	})
}

// result serves a request, such as "GET example.com/a?b=c", and returns status,
// Location, Allow and body in one line.
func result(h http.Handler, request string) string { return answerTo(h, newRequest(request)) }

func newRequest(request string) *http.Request {
	method, target, _ := strings.Cut(request, " ")
	slash := strings.IndexByte(target, '/')
	u, err := url.ParseRequestURI(target[slash:])
	if err != nil {
		panic(err)
	}
	return &http.Request{Method: method, Host: target[:slash], URL: u, Header: http.Header{},
		RequestURI: target[slash:], ProtoMajor: 1, ProtoMinor: 1}
}

func answerTo(h http.Handler, req *http.Request) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	line := fmt.Sprint(w.Code)
	for _, key := range []string{"Location", "Allow"} {
		if value := w.Header().Get(key); value != "" {
			line += " " + key + ": " + value
		}
	}
	if w.Code == http.StatusOK {
		line += " " + w.Body.String()
	}
	return line
}

func TestRouterServesMatchingRoutes(t *testing.T) {
	r := newRouter(
		"/{$}", "GET,POST /users/{a:int}", "DELETE /users/{a}", "/files/{a...}", "GET /tree/",
		"OPTIONS /own", "GET /own",
		"example.com/{a}/x/{b}", "/{a...}/datalist", "GET /{a}/%2F/{$}",
	)
	for request, want := range map[string]string{
		"GET /":                           "200 /{$} /{$}",
		"HEAD /users/7":                   "200 GET,POST /users/{a:int} GET,POST /users/{a:int} a=7",
		"GET example.com:8080/p/x/q%2Fr":  "200 example.com/{a}/x/{b} example.com/{a}/x/{b} a=p b=q/r",
		"GET /p/q/datalist":               "200 /{a...}/datalist /{a...}/datalist a=p/q",
		"DELETE /users/me":                "200 DELETE /users/{a} DELETE /users/{a} a=me",
		"PUT /users/7":                    "405 Allow: DELETE, GET, HEAD, OPTIONS, POST",
		"PUT /users/me":                   "405 Allow: DELETE, OPTIONS",
		"OPTIONS /users/7":                "204 Allow: DELETE, GET, HEAD, OPTIONS, POST",
		"OPTIONS /own":                    "200 OPTIONS /own OPTIONS /own",
		"PUT /own":                        "405 Allow: GET, HEAD, OPTIONS",
		"OPTIONS /nothing/here":           "404",
		"GET /nothing/here":               "404",
		"GET /files":                      "307 Location: /files/",
		"GET /files?x=%2F":                "307 Location: /files/?x=%2F",
		"PUT /tree":                       "405 Allow: GET, HEAD, OPTIONS",
		"GET /tree":                       "307 Location: /tree/",
		"GET /p/%2F":                      "307 Location: /p/%2F/",
		"GET /files//a/./b/../c":          "307 Location: /files/a/c",
		"GET /files/../../users/7":        "307 Location: /users/7",
		"GET /files/%2e%2e/a":             "307 Location: /a",
		"GET /files/100%25//a%20b?q=a%20": "307 Location: /files/100%25/a%20b?q=a%20",
		"GET //evil.example/a":            "307 Location: /evil.example/a",
		"CONNECT //files":                 "404",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestRouterRejectsGetOfAsterisk(t *testing.T) {
	req := httptest.NewRequest("GET", "/", nil)
	req.RequestURI = "*"
	w := httptest.NewRecorder()
	newRouter("/").ServeHTTP(w, req)
	if w.Code != http.StatusBadRequest || w.Header().Get("Connection") != "close" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

func TestRouterLeavesConnectPathsAlone(t *testing.T) {
	r := newRouter("CONNECT /{a...}", "/{b...}/tree/")
	for request, want := range map[string]string{
		"CONNECT h/x//y":         "200 CONNECT /{a...} CONNECT /{a...} a=x//y",
		"CONNECT h//x.org//tree": "307 Location: /x.org/tree/", // never to another host
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestZeroRouterIsReady(t *testing.T) {
	var r router.Router
	if got := result(&r, "GET /a"); got != "404" {
		t.Errorf("without patterns: got %s", got)
	}
	r.Handle("/a", echo("/a"))
	if got := result(&r, "GET /a"); got != "200 /a /a" {
		t.Errorf("got %s", got)
	}
}

func TestMistakesInRegistrationPanic(t *testing.T) {
	h := http.NotFoundHandler()
	here := `[^ ]*router_test\.go:\d+`
	for _, c := range []struct {
		name     string
		register func(r *router.Router)
		want     string // a regular expression
	}{
		{"unreadable", func(r *router.Router) { r.Handle("/{x", h) },
			`^router: pattern "/{x": at offset 1: .* \(registered at ` + here + `\)$`},
		{"conflict", func(r *router.Router) { r.Handle("GET /a/{x}", h); r.HandleFunc("GET,PUT /a/{y}", h.ServeHTTP) },
			`^router: pattern "GET,PUT /a/{y}" \(registered at ` + here +
				`\) conflicts with pattern "GET /a/{x}" \(registered at ` + here + `\): both match "GET /a/y"`},
		{"unknown constraint", func(r *router.Router) { r.Handle("/{x:code}", h) }, `no constraint "code"`},
		{"nil handler", func(r *router.Router) { r.Handle("/a", nil) }, `pattern "/a" \(registered at ` + here +
			`\) has no handler`},
		{"nil function", func(r *router.Router) { r.HandleFunc("/a", nil) }, `pattern "/a" \(registered at ` + here +
			`\) has no handler`},
		{"constraint twice", func(r *router.Router) { r.Constrain("c", router.Int); r.Constrain("c", router.Hex) },
			`constraint "c" \(given at ` + here + `\): .*the name is taken \(given at ` + here + `\)`},
		{"constraint after use", func(r *router.Router) { r.Handle("/{x:int}", h); r.Constrain("int", router.Hex) },
			`constraint "int" .*call Constrain before`},
		{"constraint that no pattern can hold", func(r *router.Router) { r.Constrain("area code", router.Int) },
			`constraint "area code" .*patterns cannot contain`},
	} {
		got := panicOf(func() { c.register(new(router.Router)) })
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: got %q, want %s", c.name, got, c.want)
		}
	}
}

// panicOf returns the value of f's panic as text.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// A program may recover from a failed registration: the earlier routes stay.
func TestRefusedRegistrationChangesNothing(t *testing.T) {
	r := newRouter("/a/{a}")
	if panicOf(func() { r.Handle("/a/{b}", echo("other")) }) == "" {
		t.Error("no panic")
	}
	r.Handle("/b", echo("/b"))
	for request, want := range map[string]string{"GET /a/1": "200 /a/{a} /a/{a} a=1", "GET /b": "200 /b /b"} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestOwnConstraintReplacesBuiltin(t *testing.T) {
	r := new(router.Router)
	r.Constrain("int", router.Regexp(`[0-9]{2}`))
	r.Handle("/{a:int}", echo("int"))
	if one, two := result(r, "GET /1"), result(r, "GET /12"); one != "404" || two != "200 int /{a:int} a=12" {
		t.Errorf("got %s and %s", one, two)
	}
}

// Requests see every pattern that was registered before they arrived, during other
// registrations; run with -race.
func TestRoutesMayBeAddedWhileServing(t *testing.T) {
	r := newRouter("/{a...}")
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 50 {
				pattern := fmt.Sprintf("/w%d/%d", worker, i)
				r.Handle(pattern, echo(pattern))
				if got, want := result(r, "GET "+pattern), fmt.Sprintf("200 %s %s", pattern, pattern); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	all.Wait()
}

// Requests through a real server have fields that those of httptest lack.
func TestRouterServesRealConnections(t *testing.T) {
	server := httptest.NewServer(newRouter("/{a...}/datalist", "/tree/{b...}"))
	defer server.Close()
	for path, want := range map[string]string{
		"/x/y%2Fz/datalist": "200 /{a...}/datalist /{a...}/datalist a=x/y/z",
		"/tree":             "200 /tree/{b...} /tree/{b...}", // after a redirect
		"/x//datalist":      "200 /{a...}/datalist /{a...}/datalist a=x",
		"/other":            "404 404 page not found\n",
	} {
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		if err := resp.Write(&body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		_, text, _ := strings.Cut(body.String(), "\r\n\r\n")
		if got := fmt.Sprint(resp.StatusCode, " ", text); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
