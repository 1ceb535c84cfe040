package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// versions returns a router with one pattern for the given media types; "" is no media
// type.
func versions(mediaTypes ...string) *router.Router {
	r := new(router.Router)
	for _, m := range mediaTypes {
		routes := &r.Routes
		if m != "" {
			routes = routes.Accept(m)
		}
		routes.HandleFunc("GET /{a}", func(w http.ResponseWriter, req *http.Request) {
			w.Write([]byte("[" + m + "] " + req.PathValue("a")))
		})
	}
	return r
}

func TestAcceptChoosesTheRoute(t *testing.T) {
	const v1, v2 = "application/vnd.api.v1+json", "application/vnd.api.v2+json"
	for _, c := range []struct {
		registered string   // separated by blanks; - is no media type
		accept     []string // the Accept fields
		want       string   // "" for 406
	}{
		// without Accept, and with an empty one
		{v1 + " " + v2, nil, v1},
		{v1 + " " + v2 + " -", nil, "-"},
		{v1 + " " + v2, []string{""}, v1},
		{v1 + " " + v2, []string{"", " , "}, v1},
		{v1 + " " + v2, []string{"nonsense"}, v1},

		// one plain media type
		{v1 + " " + v2, []string{v2}, v2},
		{v1 + " " + v2, []string{" APPLICATION/vnd.api.V2+json "}, v2},
		{v1 + " " + v2, []string{"text/html"}, ""},
		{v1 + " " + v2 + " -", []string{"text/html"}, "-"},
		{v2 + " -", []string{v2}, v2},
		{"- " + v2, []string{v2}, v2},

		// weights
		{v1 + " " + v2, []string{v1 + ";q=0.8, " + v2}, v2},
		{v1 + " " + v2, []string{v1 + ";q=0.8, " + v2 + ";q=0.801"}, v2},
		{v1 + " " + v2, []string{v1 + "; Q=0.8 ," + v2 + " ; q=0.3"}, v1},
		{v1 + " " + v2, []string{v2 + ", " + v1}, v2},
		{v1 + " " + v2, []string{v1 + ", " + v2}, v1},
		{v1 + " " + v2, []string{v1 + ";q=0.5", v2}, v2},
		{v1 + " " + v2, []string{"text/html", v2}, v2},

		// q=0
		{v1 + " " + v2, []string{v1 + ";q=0"}, ""},
		{v1 + " " + v2, []string{v1 + ";q=0, */*"}, v2},
		{v1 + " " + v2, []string{"*/*, " + v1 + ";q=0.000"}, v2},
		{v1 + " -", []string{v1 + ";q=0"}, "-"},
		{v1 + " -", []string{"*/*;q=0"}, ""},
		{v1 + " -", []string{"*/*;q=0, " + v1 + ";q=0.1"}, v1},
		{v1 + " " + v2, []string{"application/*;q=0, " + v2}, v2},

		// wildcards
		{v1 + " " + v2, []string{"*/*"}, v1},
		{v1 + " " + v2 + " -", []string{"*/*"}, "-"},
		{v1 + " - " + v2, []string{"text/html, */*;q=0.1"}, "-"},
		{"text/html " + v1 + " " + v2, []string{"application/*"}, v1},
		{v1 + " text/html -", []string{"text/*"}, "text/html"},
		{v1 + " " + v2, []string{"*/*;q=0.5, " + v2}, v2},
		{v1 + " " + v2, []string{v1 + ";q=0.2, application/*;q=0.4"}, v2},
		{v1 + " -", []string{v1 + ", */*"}, v1},
		{v1 + " -", []string{"*/*, " + v1}, "-"},

		// parameters
		{"a/b a/b;v=2", []string{"a/b;v=2"}, "a/b;v=2"},
		{"a/b a/b;v=2", []string{"a/b; V=2; q=0.5"}, "a/b;v=2"},
		{"a/b a/b;v=2", []string{`a/b;v="2"`}, "a/b;v=2"},
		{"a/b a/b;v=2", []string{`a/b;v="\2"`}, "a/b;v=2"},
		{"a/b a/b;v=2", []string{"a/b"}, "a/b"},
		{"a/b;v=2", []string{"a/b"}, "a/b;v=2"},
		{"a/b a/b;v=2", []string{"a/b;q=0.1, a/b;v=2"}, "a/b;v=2"},
		{"a/b a/b;v=2", []string{"a/b, a/b;v=2;q=0.1"}, "a/b"},
		{"a/b", []string{"a/b;v=3"}, ""},
		{"a/b", []string{"a/b;charset=utf-8"}, "a/b"},
		{"a/b", []string{"a/b;"}, "a/b"},
		{"a/b", []string{"a/b;q=1;ext=5"}, "a/b"},
		{"a/b c/d", []string{`x/y;t="a/b,c/d;", c/d`}, "c/d"},
		{"a/b c/d", []string{`x/y;t="\",a/b", c/d`}, "c/d"},

		// invalid elements are ignored
		{v1 + " " + v2, []string{"x, */html, a b/c, */*;q=2, " + v1 + ";q=.5, " + v1 + ";q=0.0001, " + v2}, v2},
		{v1 + " " + v2, []string{v1 + ";q=1.001, " + v1 + ";q=, " + v2 + ";q=0.1"}, v2},
		{v1 + " " + v2, []string{v1 + ";q=0.1, " + v1 + ";q=1.0"}, v1},

		// more media types than choose handles without an allocation
		{"a/1 a/2 a/3 a/4 a/5 a/6 a/7 a/8 a/9 a/10", []string{"a/10, a/2;q=0.9"}, "a/10"},
	} {
		names := strings.Fields(c.registered)
		for i := range names {
			names[i] = strings.TrimPrefix(names[i], "-")
		}
		req := httptest.NewRequest("GET", "/x", nil)
		if c.accept != nil {
			req.Header["Accept"] = c.accept
		}
		w := httptest.NewRecorder()
		versions(names...).ServeHTTP(w, req)
		status, body := http.StatusOK, "["+strings.TrimPrefix(c.want, "-")+"] x"
		if c.want == "" {
			status, body = http.StatusNotAcceptable, "Not Acceptable\n"
		}
		if w.Code != status || w.Body.String() != body || w.Header().Get("Vary") != "Accept" {
			t.Errorf("%s for %q: got %d %q %v, want %d %q", c.registered, c.accept, w.Code, w.Body,
				w.Header(), status, body)
		}
	}
}

func TestNotAcceptableHandlerResponds(t *testing.T) {
	r := versions("a/b")
	r.NotAcceptable = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusNotAcceptable)
		fmt.Fprintf(w, "%s has no %s", req.Pattern, req.Header.Get("Accept"))
	})
	req := httptest.NewRequest("GET", "/x", nil)
	req.Header.Set("Accept", "c/d")
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if want := "GET /{a} has no c/d"; w.Code != http.StatusNotAcceptable || w.Body.String() != want ||
		w.Header().Get("Vary") != "Accept" {
		t.Errorf("got %d %q %v, want 406 %q", w.Code, w.Body, w.Header(), want)
	}
}

// TestRoutesWithoutMediaTypesDoNotVary checks that routes without media types do not vary by Accept.
func TestRoutesWithoutMediaTypesDoNotVary(t *testing.T) {
	r := versions("")
	r.Accept("a/b").Handle("/other/x", echo("other"))
	req := httptest.NewRequest("GET", "/x", nil)
	req.Header.Set("Accept", "c/d")
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if w.Code != http.StatusOK || w.Header()["Vary"] != nil {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	if got, want := result(r, "POST /other/x"), "200 other /other/x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A media type registered during serving does not affect requests in progress.
func TestMediaTypesMayBeAddedWhileServing(t *testing.T) {
	r := versions("a/b")
	for _, m := range []string{"c/d", "e/f"} {
		if got := result(r, "GET /x"); got != "200 [a/b] x" {
			t.Errorf("got %s", got)
		}
		r.Accept(m).Handle("GET /{a}", echo(m))
	}
	req := httptest.NewRequest("GET", "/x", nil)
	req.Header.Set("Accept", "e/f")
	if got, want := answerTo(r, req), "200 e/f GET /{a} a=x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzAccept tests any Accept field: the choice never fails, and a plain media type
// selects the same route as a plain comparison.
func FuzzAccept(f *testing.F) {
	for _, s := range []string{"a/b", "A/B;q=0.5, */*;q=0", `a/b;v="x\"y";q=1`, "c/d,,;q=,*/", `"`, `a/b;"\`} {
		f.Add(s)
	}
	plain := versions("a/b", "c/d;v=1")
	open := versions("a/b", "c/d;v=1", "")
	f.Fuzz(func(t *testing.T, accept string) {
		req := httptest.NewRequest("GET", "/x", nil)
		req.Header.Set("Accept", accept)
		strict, lenient := answerTo(plain, req), answerTo(open, req)
		if strict != "406" && strict != "200 [a/b] x" && strict != "200 [c/d; v=1] x" && strict != "200 [c/d;v=1] x" {
			t.Errorf("%q: got %s", accept, strict)
		}
		if lenient == "406" && (!strings.Contains(accept, "*/*") || strict != "406") {
			t.Errorf("%q: got 406 although there is a route for all the rest, %s without it", accept, strict)
		}
		if strings.EqualFold(strings.Trim(accept, " \t"), "a/b") && (strict != "200 [a/b] x" || lenient != strict) {
			t.Errorf("%q: got %s and %s", accept, strict, lenient)
		}
	})
}
