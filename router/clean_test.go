package router_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// A request reaches the route of its segments without dots and empty segments, or is
// redirected to it. It never reaches a route above.
func TestLookAlikePathsReachTheirOwnRoute(t *testing.T) {
	r := newRouter("/admin/{a...}", "/admin", "/public/{a...}", "/public/{a}/x", "/{$}")
	for request, want := range map[string]string{
		"GET /public/../admin":           "307 Location: /admin",
		"GET /public/%2e%2e/admin":       "307 Location: /admin",
		"GET /public/%2E./admin":         "307 Location: /admin",
		"GET /public/.%2e/admin/%2e/":    "307 Location: /admin/",
		"GET /public/x/%2e%2e":           "307 Location: /public/",
		"GET /%2e%2e/":                   "307 Location: /",
		"GET /%2e%2e/%2e%2e/admin":       "307 Location: /admin",
		"GET /public/%252e%252e/admin":   "200 /public/{a...} /public/{a...} a=%2e%2e/admin",
		"GET /public/..%2fadmin":         "200 /public/{a...} /public/{a...} a=../admin",
		"GET /public/%2e%2e%2fadmin":     "200 /public/{a...} /public/{a...} a=../admin",
		"GET /public/%2e%2e%2fadmin/x":   "200 /public/{a}/x /public/{a}/x a=../admin",
		"GET /public%2f..%2fadmin":       "404",
		"GET /public/%2fadmin":           "200 /public/{a...} /public/{a...} a=/admin",
		"GET /public/..;/admin":          "200 /public/{a...} /public/{a...} a=..;/admin",
		"GET /public/..;x=1/admin":       "200 /public/{a...} /public/{a...} a=..;x=1/admin",
		"GET /public/.../admin":          "200 /public/{a...} /public/{a...} a=.../admin",
		"GET /public/%2e%2e%00/admin":    "200 /public/{a...} /public/{a...} a=..\x00/admin",
		"GET /public/%00":                "200 /public/{a...} /public/{a...} a=\x00",
		"GET /admin%00":                  "404",
		"GET /public/..%5cadmin":         `200 /public/{a...} /public/{a...} a=..\admin`,
		`GET /public/..\admin`:           `200 /public/{a...} /public/{a...} a=..\admin`,
		"GET /public%5c..%5cadmin":       "404",
		"GET //admin":                    "307 Location: /admin",
		"GET //public//x":                "307 Location: /public/x",
		"GET /public/%2F/x":              "200 /public/{a}/x /public/{a}/x a=/",
		"GET //evil.example/%2e%2e":      "307 Location: /",
		"GET //evil.example":             "307 Location: /evil.example",
		"GET ///evil.example/":           "307 Location: /evil.example/",
		`GET /\evil.example/.`:           "307 Location: /%5Cevil.example",
		`GET /x/..\evil.example/../%2F/`: "307 Location: /x/%2F/",
		"GET /é/..%2f/../public/x":       "307 Location: /%C3%A9/public/x", // ServeMux takes the %2F for a slash
		"GET /public/é%2f..%2f|":         "200 /public/{a...} /public/{a...} a=é/../|",
		"GET /%61dmin":                   "200 /admin /admin",
		"GET /.well-known/x":             "404",
		"GET /public/.well-known/..x/x.": "200 /public/{a...} /public/{a...} a=.well-known/..x/x.",
		"GET /public/x?y=/../%2e%2e//":   "200 /public/{a...} /public/{a...} a=x",
		"GET //public/x?y=/../%2e%2e//":  "307 Location: /public/x?y=/../%2e%2e//",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

// A handler that changes only URL.Path leaves an outdated RawPath, which must be
// ignored.
func TestOutdatedRawPathIsIgnored(t *testing.T) {
	r := newRouter("/a/{a}", "/b/{a}")
	for raw, want := range map[string]string{
		"/b/x%2Fy": "200 /a/{a} /a/{a} a=x y", "/a/x%20y": "200 /a/{a} /a/{a} a=x y",
		"/a/x%2": "200 /a/{a} /a/{a} a=x y",
		"/a/x y": "200 /a/{a} /a/{a} a=x y", "/a/x%20y/": "200 /a/{a} /a/{a} a=x y", "/a/x": "200 /a/{a} /a/{a} a=x y",
	} {
		req := httptest.NewRequest("GET", "/", nil)
		req.URL.Path, req.URL.RawPath = "/a/x y", raw
		if got := answerTo(r, req); got != want {
			t.Errorf("RawPath %q: got %s, want %s", raw, got, want)
		}
	}
}

// FuzzClean compares the cleaning of paths with a plain implementation: unescape
// segments of dots, then path.Clean.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"/", "/a/./b", "/abcdefg/../x", "/a%2e/%2E%2e/..", "/%2e%2e", "//a//",
		"/.well-known/x/y/z/..a", "/abcdef//", "/é%2F/|", "/abcdefghijklmno/.", "/a%2"} {
		f.Add(s)
	}
	var r router.Router
	f.Fuzz(func(t *testing.T, sent string) {
		u, err := url.ParseRequestURI(sent)
		if err != nil || u.Path == "" || u.Path[0] != '/' || u.Host != "" {
			return
		}
		u.RawQuery = ""
		w := httptest.NewRecorder()
		r.ServeHTTP(w, &http.Request{Method: "GET", URL: u})
		escaped := u.RawPath
		if escaped == "" {
			escaped = u.EscapedPath()
		}
		want, got := plainlyClean(escaped), escaped
		if w.Code == http.StatusTemporaryRedirect {
			if got = w.Header().Get("Location"); got == escaped {
				t.Fatalf("%q is redirected to itself", sent)
			}
		}
		if a, b := meaning(got), meaning(want); a != b {
			t.Fatalf("%q: got %q, want %q", sent, got, want)
		}
	})
}

// meaning returns an escaped path with its segments quoted, to compare paths with
// different escapes.
func meaning(escaped string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(escaped, "/") {
		b.WriteString(url.PathEscape(unescaped(segment)) + "/")
	}
	return b.String()
}

// plainlyClean cleans a path with path.Clean.
func plainlyClean(escaped string) string {
	segments := strings.Split(escaped, "/")
	for i, s := range segments {
		switch text := unescaped(s); text {
		case ".", "..":
			segments[i] = text
		}
	}
	p := strings.Join(segments, "/")
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}
