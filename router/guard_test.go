package router_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/weirhq/weir/router"
)

// locked rejects all requests without the key in the query.
func locked(key string, made *int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		*made++
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Query().Get(key) == "" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, req)
		})
	}
}

// A guard sees requests without a handler: 404, 405, OPTIONS, 406 and redirects.
func TestGuardSeesRequestsWithoutHandler(t *testing.T) {
	r := newRouter("/administrators", "/{a}/outside", "GET /public")
	r.RedirectSlash = true
	made := 0
	admin := r.Group("/admin")
	admin.Guard(locked("k", &made))
	admin.Handle("GET /users/{a}", echo("users"))
	admin.Handle("/tree/", echo("tree"))
	admin.Accept("text/html").Handle("GET /page", echo("page"))
	admin.Group("/root").Guard(locked("root", &made), tag("1"))
	admin.Handle("GET /root/{$}", echo("root"))
	team := r.Group("h.com/teams/{t:int}")
	team.Guard(locked("t", &made))
	team.Handle("GET ", echo("team"))
	for request, want := range map[string]string{
		"GET /admin/users/7?k=1":      "200 users GET /admin/users/{a} a=7",
		"GET /admin/users/7":          "403",
		"PUT /admin/users/7":          "403",
		"PUT /admin/users/7?k=1":      "405 Allow: GET, HEAD, OPTIONS",
		"OPTIONS /admin/users/7":      "403",
		"OPTIONS /admin/users/7?k=1":  "204 Allow: GET, HEAD, OPTIONS",
		"GET /admin":                  "403",
		"GET /admin?k=1":              "404",
		"GET /admin/":                 "403",
		"GET /admin/none":             "403",
		"GET /admin/none?k=1":         "404",
		"GET /admin/tree":             "403",
		"GET /admin/tree?k=1":         "307 Location: /admin/tree/?k=1",
		"GET /x/../admin/users/7":     "403",
		"GET /%61dmin/users/7":        "403",
		"GET /admin%2Fusers":          "404", // one segment
		"GET /admin/outside":          "403", // registered elsewhere
		"GET /admin/outside?k=1":      "200 /{a}/outside /{a}/outside a=admin",
		"GET h.com:80/admin/users/7":  "403",
		"GET /administrators":         "200 /administrators /administrators",
		"PUT /public":                 "405 Allow: GET, HEAD, OPTIONS",
		"GET /admin/root/?k=1":        "403",
		"GET /admin/root/?root=1":     "403",
		"GET /admin/root/?k=1&root=1": "200 1 root GET /admin/root/{$}",
		"GET h.com/teams/7":           "403",
		"GET h.com/teams/7?t=1":       "200 team GET h.com/teams/{t:int}",
		"POST h.com/teams/7":          "403",
		"GET h.com/teams/x":           "404",
		"GET /teams/7":                "404",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
	req := newRequest("GET /admin/page?k=1")
	req.Header.Set("Accept", "text/plain")
	if got := answerTo(r, req); got != "406" {
		t.Errorf("a media type that is not there: got %s", got)
	}
	if made != 3 {
		t.Errorf("3 guards were built %d times", made)
	}
}

// The middleware of With is built for each route.
func TestMiddlewareIsBuiltPerRoute(t *testing.T) {
	made := 0
	v := new(router.Router).With(locked("k", &made))
	v.Handle("/a", echo("a"))
	v.Handle("/b", echo("b"))
	if made != 2 {
		t.Errorf("the middleware of 2 routes was built %d times", made)
	}
}

func TestGuardRefusesMistakes(t *testing.T) {
	nothing := func(http.Handler) http.Handler { return nil }
	for _, c := range []struct {
		name  string
		guard func(r *router.Router)
		want  string // a regular expression
	}{
		{"root", func(r *router.Router) { r.Guard(tag("a")) }, `given at [^ ]*guard_test\.go:\d+ has no prefix`},
		{"nil", func(r *router.Router) { r.Group("/a").Guard(nil) },
			`guard of "/a" \(given at [^ ]*guard_test\.go:\d+\): a middleware is nil`},
		{"no handler", func(r *router.Router) { r.Group("/a").Guard(nothing) }, "returned no handler"},
		{"wildcard", func(r *router.Router) { r.Group("/{a...}").Guard(tag("a")) }, "directly after another one"},
	} {
		r := newRouter("/a")
		if got := panicOf(func() { c.guard(r) }); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: got %q, want %s", c.name, got, c.want)
		}
		if got := result(r, "GET /a"); got != "200 /a /a" {
			t.Errorf("%s: then got %s", c.name, got)
		}
	}
}
