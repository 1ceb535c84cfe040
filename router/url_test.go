package router_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestURLReachesItsRoute makes URLs of random values for random patterns. Each URL that
// is not rejected reaches its route with these values.
func TestURLReachesItsRoute(t *testing.T) {
	refused, reached := 0, 0
	for seed := range randomSeeds {
		c := &chooser{seed}
		r, got := new(router.Router), []string(nil)
		patterns := map[string][]string{} // their parameters
		for range 2 + c.below(8) {
			p := c.pattern()
			names := parameterNames.FindAllString(p, -1)
			handler := func(_ http.ResponseWriter, req *http.Request) {
				got = []string{req.Pattern}
				for _, name := range names {
					got = append(got, req.PathValue(name))
				}
			}
			if panicOf(func() { r.Name(p).HandleFunc(p, handler) }) == "" {
				patterns[p] = names
			}
		}
		for range 20 {
			for p, names := range patterns {
				var pairs []string
				want := []string{p}
				for _, name := range names {
					value := c.value()
					pairs, want = append(pairs, name, value), append(want, value)
				}
				path, err := r.URL(p, pairs...)
				if err != nil {
					refused++
					continue
				}
				reached++
				got = nil
				req := newRequest(firstMethod(p) + " " + strings.TrimPrefix(path, "//"))
				w := httptest.NewRecorder()
				r.ServeHTTP(w, req)
				if !slices.Equal(got, want) {
					t.Fatalf("%q makes %s, which reaches %q (%d) in\n%v", want, path, got, w.Code, r)
				}
			}
		}
	}
	if refused < 100 || reached < 1000 {
		t.Errorf("%d URLs were refused and %d reached their routes", refused, reached)
	}
}

var parameterNames = regexp.MustCompile(`p[0-9]`)

// firstMethod returns the method for which URL is checked.
func firstMethod(pattern string) string {
	if methods, _, named := strings.Cut(pattern, " "); named {
		return strings.Split(methods, ",")[0]
	}
	return "GET"
}

// value returns a value that may be invalid in a URL.
func (c *chooser) value() string {
	piece := func() string {
		return c.of("a", "b", "1", "1b", "a1", "x-y", "ff", "2024-02-29", "", ".", "..", "...", "%2e%2e", "%2F", "é",
			"\x00", "\xff", " ", "?", "#", ";")
	}
	value := piece()
	for range c.below(3) {
		value += c.of("/", "/", ".", "") + piece()
	}
	return value
}

// named returns a router with a route for each pattern, named after it.
func named(patterns ...string) *router.Router {
	r := new(router.Router)
	for _, p := range patterns {
		r.Name(p).Handle(p, echo(p))
	}
	return r
}

func TestURLFillsThePattern(t *testing.T) {
	r := named("/", "/plain", "/x/{$}", "/tree/", "GET /users/{a:int}", "/both/{a}/and/{b}", "/files/{a...}",
		"/{a...}/mid/{b}", "h.com/{c}",
		"/report-{a:int}.pdf", "/v{a}", "/sp%20ace%2F/{d}", "::1/{a}", "/{b}")
	r.Group("example.com/v1").Name("grouped").Handle("GET /{a}", echo("grouped"))
	for _, c := range []struct{ call, want string }{
		{"/", "/"},
		{"/plain", "/plain"},
		{"/x/{$}", "/x/"},
		{"/tree/", "/tree/"},
		{"GET /users/{a:int}|a|-7", "/users/-7"},
		{"/both/{a}/and/{b}|b|2|a|1", "/both/1/and/2"},
		{"/both/{a}/and/{b}|a|b|b|a", "/both/b/and/a"},
		{"/both/{a}/and/{b}|b|a|a|b", "/both/b/and/a"},
		{"/both/{a}/and/{b}|a|x/y|b|é?#% ;", "/both/x%2Fy/and/%C3%A9%3F%23%25%20%3B"},
		{"/files/{a...}|a|", "/files/"},
		{"/files/{a...}|a|x/y z/é", "/files/x/y%20z/%C3%A9"},
		{"/files/{a...}|a|x/", "/files/x/"},
		{"/files/{a...}|a|...", "/files/..."},
		{"/{a...}/mid/{b}|a|x/y|b|z", "/x/y/mid/z"},
		{"h.com/{c}|c|1", "//h.com/1"},
		{"::1/{a}|a|1", "//[::1]/1"},
		{"grouped|a|x", "//example.com/v1/x"},
		{"/report-{a:int}.pdf|a|7", "/report-7.pdf"},
		{"/v{a}|a|..", "/v.."},
		{"/sp%20ace%2F/{d}|d|1", "/sp%20ace%2F/1"},

		{"plain", `there is no route "plain"; did you mean /plain?`},
		{"GET /users/{a:int}|a|me",
			`route "GET /users/{a:int}", GET /users/{a:int}: parameter "a": the constraint int does not accept "me"`},
		{"GET /users/{a:int}|a|", "cannot be empty"},
		{"/report-{a:int}.pdf|a|", "cannot be empty"},
		{"/both/{a}/and/{b}|a|1", `parameter "b" has no value`},
		{"/both/{a}/and/{b}|a|1|b|2|c|3", `there is no parameter "c"; there are a, b`},
		{"/both/{a}/and/{b}|a|1|b|2|a|3", `"a" is given twice`},
		{"/both/{a}/and/{b}|a|1|b", "3 names and values are not pairs"},
		{"/plain|a|1", `there are no parameters, and so no "a"`},
		{"/{b}|b|plain", `route "/{b}", /{b}: GET /plain reaches /plain`},
		{"/{b}|b|x", "/x"},
		{"/{a...}/mid/{b}|a|v|b|1", "/v/mid/1"},
		{"/{b}|b|.", `would remove the segment "."`},
		{"/{b}|b|..", `would remove the segment ".."`},
		{"/files/{a...}|a|x/../y", `would remove the segment ".."`},
		{"/files/{a...}|a|/evil.example", "empty"},
		{"/files/{a...}|a|x//y", "empty"},
		{"/files/{a...}|a|/", "empty"},
		{"/{a...}/mid/{b}|a||b|z", "empty"},
		{"/{a...}/mid/{b}|a|x/|b|z", "empty"},
	} {
		parts := strings.Split(c.call, "|")
		got, err := r.URL(parts[0], parts[1:]...)
		if err != nil {
			if got != "" {
				t.Errorf("%s: got %q with an error", c.call, got)
			}
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: got %q, want %q", c.call, got, c.want)
		}
	}
}

func TestURLNeedsNamedRoute(t *testing.T) {
	_, err := new(router.Router).URL("x")
	if want := `there is no route "x": none has a name`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = named("/abcdef", "/ghijkl").URL("completely different")
	if want := `there are /abcdef, /ghijkl`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzURL uses any values: a path that is built leads back to its pattern with these
// values.
func FuzzURL(f *testing.F) {
	f.Add("a", "b/c", "d")
	f.Add("/", "//", "..")
	f.Add("é%2F", "../%2e%2e/", "\x00\\")
	r := new(router.Router)
	var got []string
	for name, pattern := range map[string]string{"one": "/one/{a}/x", "around": "/around/<{a}>/x",
		"rest": "/rest/{a...}", "mid": "/mid/{a...}/{b}/x-{c}"} {
		r.Name(name).HandleFunc(pattern, func(_ http.ResponseWriter, req *http.Request) {
			got = []string{req.Pattern, req.PathValue("a"), req.PathValue("b"), req.PathValue("c")}
		})
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for name, values := range map[string][]string{"one": {a, "", ""}, "around": {a, "", ""}, "rest": {a, "", ""},
			"mid": {a, b, c}} {
			pairs := []string{"a", values[0]}
			if name == "mid" {
				pairs = append(pairs, "b", b, "c", c)
			}
			path, err := r.URL(name, pairs...)
			if err != nil {
				continue
			}
			if !strings.HasPrefix(path, "/"+name+"/") {
				t.Fatalf("%s%q: got %q", name, values, path)
			}
			got = nil
			w := httptest.NewRecorder()
			r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if got == nil || !slices.Equal(got[1:], values) {
				t.Fatalf("%s%q: %q reaches %q (%d)", name, values, path, got, w.Code)
			}
		}
	})
}
