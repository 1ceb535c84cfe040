package router_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/weirhq/weir/router"
)

// tag returns middleware that writes a name before the response of its handler.
func tag(name string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			fmt.Fprint(w, name, " ")
			next.ServeHTTP(w, req)
		})
	}
}

func TestGroupsAddPrefixAndMiddleware(t *testing.T) {
	r := new(router.Router)
	api := r.Group("/api").With(tag("log"), tag("auth"))
	api.Handle("GET /users/{a:int}", echo("users"))
	api.Handle("", echo("api"))
	api.Handle("POST ", echo("post"))
	api.Handle("GET example.com/x", echo("x"))
	team := api.Group("/teams/{a}").With(tag("team"))
	team.Handle("/members/{b}", echo("members"))
	team.Handle("/{$}", echo("team"))
	host := r.Group("example.com")
	host.Handle("/", echo("root"))
	host.Group("/v1").Handle("/", echo("v1"))
	r.Group("/w").Group("other.com/{a...}").Handle("/end", echo("end"))
	r.Group("").Handle("/plain", echo("plain"))
	for request, want := range map[string]string{
		"GET /api/users/7":           "200 log auth users GET /api/users/{a:int} a=7",
		"GET /users/7":               "404",
		"GET /api":                   "200 log auth api /api",
		"POST /api":                  "200 log auth post POST /api",
		"GET /api/teams/7/":          "200 log auth team team /api/teams/{a}/{$} a=7",
		"GET /api/teams/x/members/y": "200 log auth team members /api/teams/{a}/members/{b} a=x b=y",
		"GET example.com/api/x":      "200 log auth x GET example.com/api/x",
		"GET example.com/y":          "200 root example.com/",
		"GET example.com/v1/":        "200 v1 example.com/v1/",
		"GET other.com/w/1/2/end":    "200 end other.com/w/{a...}/end a=1/2",
		"GET /plain":                 "200 plain /plain",
		"PUT /api/users/7":           "405 Allow: GET, HEAD, OPTIONS", // without middleware
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

// Routes do not change when others are made from them.
func TestRoutesAreImmutable(t *testing.T) {
	r := new(router.Router)
	base := r.With(tag("1"))
	a, b := base.With(tag("a")), base.With(tag("b"))
	_ = base.Group("/x").Name("name").Accept("text/html")
	base.Handle("/base", echo("base"))
	a.Handle("/a", echo("a"))
	b.Handle("/b", echo("b"))
	for request, want := range map[string]string{
		"GET /base": "200 1 base /base", "GET /a": "200 1 a a /a", "GET /b": "200 1 b b /b",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestMountServesAllPathsBelow(t *testing.T) {
	r := new(router.Router)
	inner := new(router.Router)
	inner.Handle("/debug/{a}/{b...}", echo("inner"))
	r.With(tag("mw")).Mount("/debug", inner)
	files := http.StripPrefix("/files", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintf(w, "%s %q", req.Pattern, req.URL.Path)
	}))
	r.Group("/files").Mount("", files)
	r.Mount("", echo("rest"))
	for request, want := range map[string]string{
		"GET /debug/":        "200 mw 404 page not found\n", // the inner one responds
		"GET /debug/x/y/z":   "200 mw inner /debug/{a}/{b...} a=x b=y/z",
		"GET /files":         `200 /files ""`,
		"GET /files/":        `200 /files/ "/"`,
		"GET /files/a/b":     `200 /files/ "/a/b"`,
		"GET /filesystem":    "200 rest /",
		"PUT /anything/else": "200 rest /",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestRoutesRefuseMistakes(t *testing.T) {
	h := http.NotFoundHandler()
	here := `[^ ]*routes_test\.go:\d+`
	for _, c := range []struct {
		name     string
		register func(r *router.Router)
		want     string // a regular expression
	}{
		{"slash at a group's end", func(r *router.Router) { r.Group("/api/") }, `group "/api/" \(at ` + here +
			`\): .*write "/api"`},
		{"group of a slash", func(r *router.Router) { r.Group("/") }, `write ""`},
		{"no slash at a group's start", func(r *router.Router) { r.Group("api") }, `write "/api"`},
		{"method of a group", func(r *router.Router) { r.Group("GET /api") }, "no methods"},
		{"empty segment of a group", func(r *router.Router) { r.Group("/a//b") }, "cleaned"},
		{"parameter of a group", func(r *router.Router) { r.Group("/a/{b") }, `at offset 3: .*}`},
		{"constraint of a group", func(r *router.Router) { r.Group("/a/{b:uid}") }, "did you mean uuid"},
		{"name twice in groups", func(r *router.Router) { r.Group("/{b}").Group("/{b}") }, "duplicate name"},
		{"host in a host's group", func(r *router.Router) { r.Group("a.com/x").Handle("GET b.com/y", h) },
			`pattern "GET b.com/y" \(registered at ` + here +
				`\): it has a host, but its group already has the host a.com`},
		{"host group in a host's group", func(r *router.Router) { r.Group("a.com/x").Group("b.com/y") },
			"the host is already a.com"},
		{"pattern without slash in a group", func(r *router.Router) { r.Group("/x").Handle("users", h) },
			`"users": .*there is no path`},
		{"no pattern", func(r *router.Router) { r.Handle("", h) }, "there is no path"},
		{"slash at a mount's end", func(r *router.Router) { r.Mount("/api/", h) }, `mount "/api/" \(at ` + here +
			`\): .*write "/api"`},
		{"mount of nil", func(r *router.Router) { r.Mount("/api", nil) }, `pattern "/api" \(registered at ` + here +
			`\) has no handler`},
		{"mount twice", func(r *router.Router) { r.Mount("/api", h); r.Mount("/api", h) },
			`pattern "/api" \(registered at ` + here + `\) conflicts with pattern "/api" \(registered at ` + here},
		{"nil function", func(r *router.Router) { r.Handle("/", http.HandlerFunc(nil)) }, "has no handler"},
		{"nil middleware", func(r *router.Router) { r.With(tag("a"), nil) }, `given at ` + here + ` is nil`},
		{"middleware that makes nothing", func(r *router.Router) {
			r.With(func(http.Handler) http.Handler { return nil }).Handle("/", h)
		}, `returned no handler for pattern "/" \(registered at ` + here},
		{"name twice", func(r *router.Router) {
			r.Name("n").Handle("/a", h)
			r.Name("n").HandleFunc("/b", h.ServeHTTP)
		},
			`pattern "/b" \(registered at ` + here + `\) has the name "n" of pattern "/a" \(registered at ` + here},
		{"one name for two", func(r *router.Router) { n := r.Name("n"); n.Handle("/a", h); n.Handle("/b", h) },
			`has the name "n"`},
		{"media type", func(r *router.Router) { r.Accept("html") }, `media type "html" \(at ` + here + `\): `},
		{"media range", func(r *router.Router) { r.Accept("text/*") }, "not a range"},
		{"weight", func(r *router.Router) { r.Accept("text/html;q=0.5") }, `"q"`},
		{"media type twice", func(r *router.Router) {
			r.Accept("text/html").Handle("/a", h)
			r.Handle("/a", h)
			r.Accept("TEXT/html").Handle("/a", h)
		}, `pattern "/a" \(registered at ` + here + `\) is already registered for text/html \(at ` + here},
		{"no media type twice", func(r *router.Router) {
			r.Accept("text/html").Handle("/a", h)
			r.Handle("/a", h)
			r.Handle("/a", h)
		}, `pattern "/a" \(registered at ` + here + `\) conflicts with pattern "/a" \(registered at ` + here},
		{"media types and other names", func(r *router.Router) {
			r.Accept("text/html").Handle("/{a}", h)
			r.Accept("text/plain").Handle("/{b}", h)
		}, `pattern "/{b}" .* conflicts with pattern "/{a}".* identical`},
		{"list of media types", func(r *router.Router) { r.Accept("text/html, text/plain") }, "each media type"},
	} {
		got := panicOf(func() { c.register(new(router.Router)) })
		if !regexp.MustCompile("^router: .*" + c.want).MatchString(got) {
			t.Errorf("%s: got %q, want %s", c.name, got, c.want)
		}
	}
}

// A registration of several patterns fails as a whole.
func TestRefusedMountChangesNothing(t *testing.T) {
	r := newRouter("/a/{a...}", "/b")
	if panicOf(func() { r.Name("m").Mount("/a", echo("mount")) }) == "" {
		t.Error("no panic")
	}
	if got, want := result(r, "GET /a"), "307 Location: /a/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.Name("m").Handle("/a", echo("a"))
	r.Handle("/c", echo("c"))
	for request, want := range map[string]string{
		"GET /a": "200 a /a", "GET /a/x": "200 /a/{a...} /a/{a...} a=x", "GET /b": "200 /b /b", "GET /c": "200 c /c",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
	var all []router.Route
	if err := r.Walk(func(route router.Route) error { all = append(all, route); return nil }); err != nil {
		t.Error(err)
	}
	if want := `[{/a/{a...}  } {/b  } {/a m } {/c  }]`; fmt.Sprint(all) != want {
		t.Errorf("got %v, want %s", all, want)
	}
}

func TestWalkStopsAtAnError(t *testing.T) {
	r := newRouter("/a", "/b", "/c")
	stop, visited := fmt.Errorf("stop"), 0
	err := r.Walk(func(route router.Route) error {
		if visited++; route.Pattern == "/b" {
			return stop
		}
		return nil
	})
	if err != stop || visited != 2 {
		t.Errorf("got %v after %d routes", err, visited)
	}
}

// Middleware sees the pattern and the values, and may set others.
func TestMiddlewareSeesTheRoute(t *testing.T) {
	r := new(router.Router)
	r.With(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			fmt.Fprint(w, req.Pattern, " ", req.PathValue("a"), " ")
			req.SetPathValue("a", "new")
			req.SetPathValue("b", "more")
			next.ServeHTTP(w, req)
		})
	}).Handle("/x/{a}", echo("x"))
	if got, want := result(r, "GET /x/old"), "200 /x/{a} old x /x/{a} a=new b=more"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Goroutines may use a zero Router for the first time at once; run with -race.
func TestZeroRouterIsSharedAtOnce(t *testing.T) {
	var r router.Router
	done := make(chan bool)
	for i := range 8 {
		go func() {
			pattern := fmt.Sprintf("/%d", i)
			r.Group("/g").Handle(pattern, echo(pattern))
			done <- result(&r, "GET /g"+pattern) == "200 "+pattern+" /g"+pattern
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("a route is missing")
		}
	}
}
