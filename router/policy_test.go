package router_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

func TestRedirectSlashFindsOtherForm(t *testing.T) {
	r := newRouter("/a", "m.com/{a...}/{$}", "m.com/x/{a...}/y/", "GET /b/{a}", "/tree/", "/both", "/both/{$}",
		"h.com/host", "/c/{a...}", "POST /d", "GET /d/{$}")
	requests := map[string][2]string{ // strict, redirecting
		"GET /a/":          {"404", "308 Location: /a"},
		"GET /a/?x=/":      {"404", "308 Location: /a?x=/"},
		"POST /a/":         {"404", "308 Location: /a"},
		"GET /b/%2F/":      {"404", "308 Location: /b/%2F"},
		"GET /b/é%20/":     {"404", "308 Location: /b/%C3%A9%20"},
		"POST /b/1/":       {"404", "404"},
		"GET /b/":          {"404", "404"},
		"GET /tree":        {"307 Location: /tree/", "307 Location: /tree/"},
		"GET /both":        {"200 /both /both", "200 /both /both"},
		"GET /both/":       {"200 /both/{$} /both/{$}", "200 /both/{$} /both/{$}"},
		"GET h.com/host/":  {"404", "308 Location: /host"},
		"GET /host/":       {"404", "404"},
		"GET /c":           {"307 Location: /c/", "307 Location: /c/"},
		"GET /c/x/":        {"200 /c/{a...} /c/{a...} a=x/", "200 /c/{a...} /c/{a...} a=x/"},
		"POST /d/":         {"405 Allow: GET, HEAD, OPTIONS", "405 Allow: GET, HEAD, OPTIONS"},
		"GET /":            {"404", "404"},
		"GET //a//":        {"307 Location: /a/", "307 Location: /a/"},
		"CONNECT h.com/a/": {"404", "404"},
		"GET /A/":          {"404", "404"},
		"GET m.com/p/q":    {"307 Location: /p/q/", "307 Location: /p/q/"},
		"GET m.com/p/q/": {"200 m.com/{a...}/{$} m.com/{a...}/{$} a=p/q",
			"200 m.com/{a...}/{$} m.com/{a...}/{$} a=p/q"},
		"GET m.com/x/p/y": {"307 Location: /x/p/y/", "307 Location: /x/p/y/"},
	}
	for i, redirecting := range []bool{false, true} {
		r.RedirectSlash = redirecting
		for request, want := range requests {
			if got := result(r, request); got != want[i] {
				t.Errorf("RedirectSlash %t: %s: got %s, want %s", redirecting, request, got, want[i])
			}
		}
	}
}

func TestRedirectCaseFindsOtherSpelling(t *testing.T) {
	r := new(router.Router)
	r.Constrain("code", router.Regexp(`[A-Z]{3}`))
	r.Constrain("odd", router.Regexp(`[A-Z][a-z]`))
	for _, p := range []string{
		"/Users/{a}", "/users/{a}/New", "GET /items/{a:int}", "/areas/{a:code}/Map", "/slugs/{a:slug}",
		"/odd/{a:odd}", "/Tree/",
		"/Docs/{a...}", "/{a...}/Mid/{b...}", "/Report-{a}.PDF", "/M%C3%89/X%2fY", "h.com/Host/x", "/UPPER",
		"/upper", "/Upper",
		"/Slash/{$}",
	} {
		r.Handle(p, echo(p))
	}
	for request, want := range map[string]string{
		"GET /Users/Me":                  "200 /Users/{a} /Users/{a} a=Me",
		"GET /users/Me":                  "308 Location: /Users/Me",
		"GET /USERS/Me%2fYou%20?Q=A":     "308 Location: /Users/Me%2fYou%20?Q=A",
		"GET /%75SERS/x":                 "308 Location: /Users/x",
		"GET /users/Me/new":              "308 Location: /users/Me/New",
		"GET /Items/7":                   "308 Location: /items/7",
		"GET /Items/x":                   "404",
		"POST /Items/7":                  "404",
		"GET /Areas/ABC/map":             "308 Location: /areas/ABC/Map",
		"GET /Areas/abc/map":             "404", // a value keeps its case
		"GET /Slugs/abc":                 "308 Location: /slugs/abc",
		"GET /Slugs/ABC":                 "404",
		"GET /tree":                      "308 Location: /Tree/",
		"GET /tree/x":                    "308 Location: /Tree/x",
		"GET /docs/A/B//C":               "307 Location: /docs/A/B/C",
		"GET /docs/A/B/C/":               "308 Location: /Docs/A/B/C/",
		"GET /X/Y%2FZ/mid/A/B":           "308 Location: /X/Y%2FZ/Mid/A/B",
		"GET /report-A.pdf":              "308 Location: /Report-A.PDF",
		"GET /REPORT-%41%2F.pdf":         "308 Location: /Report-A%2F.PDF",
		"GET /m%c3%89/x%2Fy":             "308 Location: /m%C3%89/x%2Fy",
		"GET h.com/HOST/X":               "308 Location: /Host/x",
		"GET /HOST/X":                    "404",
		"GET /uPPER":                     "308 Location: /UPPER",
		"GET /upper":                     "200 /upper /upper",
		"GET /slash":                     "308 Location: /Slash/",
		"GET /SLASH/":                    "308 Location: /Slash/",
		"GET /nothing":                   "404",
		"CONNECT h.com/HOST/X":           "404",
		"GET /\\evil.example/../users/x": "307 Location: /users/x",
	} {
		r.RedirectCase = false
		strict := result(r, request)
		r.RedirectCase = true
		got := result(r, request)
		want = strings.Replace(want, "/m%C3%89/x%2Fy", "/M%C3%89/X%2FY", 1)
		if got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
		if strings.HasPrefix(want, "308") && strict != "404" {
			t.Errorf("%s: strict got %s, want 404", request, strict)
		}
	}
	if got := result(r, "GET /UPPER/"); got != "404" {
		t.Errorf("without RedirectSlash: got %s", got)
	}
	r.RedirectSlash = true
	for request, want := range map[string]string{
		"GET /uPPER/": "308 Location: /UPPER", "GET /Users/x/": "308 Location: /Users/x",
		"GET /slash": "308 Location: /Slash/",
	} {
		if got := result(r, request); got != want {
			t.Errorf("both: %s: got %s, want %s", request, got, want)
		}
	}
}

// Bytes that are not UTF-8 have no case and equal only themselves.
func TestBytesBesideUTF8HaveNoCase(t *testing.T) {
	r := newRouter("/b%FF-{a}", "/%EF%BF%BD-long-{a}", "/{a...}/x")
	r.RedirectCase = true
	for request, want := range map[string]string{
		"GET /B%FF-A":      "308 Location: /b%FF-A",
		"GET /b%FE-a":      "404",
		"GET /%FF-LONG-a":  "404", // in a string of runes, %FF becomes %EF%BF%BD
		"GET /%FF/%FF%FEY": "404",
		"GET /%FF/X":       "308 Location: /%FF/x",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

// A Router redirects a request at most twice, and never to another host.
func FuzzRedirects(f *testing.F) {
	for _, s := range []string{"/USERS/x/", "//evil.example/..", "/\\evil.example", "/%2f/evil.example",
		"/a/%2e%2E/..%2f", "/tree", "/é%2F//x/"} {
		f.Add(s)
	}
	r := newRouter("/Users/{a}", "/Tree/", "/{a...}/Mid/{b}", "/x/{a:int}/{$}", "/Report-{a:hex}.PDF",
		"/{a}/{$}", "/two/{a}/{b}")
	r.RedirectSlash, r.RedirectCase = true, true
	f.Fuzz(func(t *testing.T, path string) {
		for redirects := 0; ; redirects++ {
			req, err := http.NewRequest("GET", "http://h.com/"+strings.TrimPrefix(path, "/"), nil)
			if err != nil {
				return
			}
			w := httptest.NewRecorder()
			r.ServeHTTP(w, req)
			if w.Code != http.StatusTemporaryRedirect && w.Code != http.StatusPermanentRedirect {
				return
			}
			to := w.Header().Get("Location")
			if redirects == 3 {
				t.Fatalf("redirects to %q at last", to)
			}
			if !strings.HasPrefix(to, "/") || len(to) > 1 && (to[1] == '/' || to[1] == '\\') {
				t.Fatalf("%q is redirected to %q", path, to)
			}
			if w.Code == http.StatusPermanentRedirect && !alikeButForCase(req.URL.Path, to) {
				t.Fatalf("%q is corrected to %q", path, to)
			}
			path = to
		}
	})
}

// alikeButForCase reports whether two escaped paths differ only in the case of letters
// and the final slash.
func alikeButForCase(path, escaped string) bool {
	escaped, _, _ = strings.Cut(escaped, "?")
	return strings.EqualFold(strings.TrimSuffix(path, "/"), strings.TrimSuffix(unescaped(escaped), "/"))
}

func TestOwnHandlersRespondWithoutMatch(t *testing.T) {
	r := newRouter("GET /a", "/tree/")
	r.NotFound = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})
	r.MethodNotAllowed = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(499 + len(w.Header().Get("Allow")) - len("GET, HEAD, OPTIONS"))
	})
	for request, want := range map[string]string{
		"GET /b":     "418",
		"POST /a":    "499 Allow: GET, HEAD, OPTIONS",
		"OPTIONS /a": "204 Allow: GET, HEAD, OPTIONS",
		"GET /tree":  "307 Location: /tree/",
		"GET //b":    "307 Location: /b",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestPanicHandlerResponds(t *testing.T) {
	r := new(router.Router)
	boom := errors.New("boom")
	r.HandleFunc("/{a}", func(_ http.ResponseWriter, req *http.Request) {
		if req.PathValue("a") == "abort" {
			panic(http.ErrAbortHandler)
		}
		panic(boom)
	})
	r.NotFound = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic([]int{1}) })
	if got := panicOf(func() { result(r, "GET /x") }); got != "boom" {
		t.Errorf("without Panic: got %q", got)
	}
	r.Panic = func(w http.ResponseWriter, req *http.Request, value any) {
		w.Header().Set("Location", fmt.Sprint(value, " in ", req.Pattern))
		w.WriteHeader(http.StatusInternalServerError)
	}
	for request, want := range map[string]string{
		"GET /x":   "500 Location: boom in /{a}",
		"GET /x/y": "500 Location: [1] in ",
	} {
		if got := result(r, request); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
	if got := panicOf(func() { result(r, "GET /abort") }); got != http.ErrAbortHandler.Error() {
		t.Errorf("http.ErrAbortHandler: got %q", got)
	}
}

func TestAsteriskListsAllMethods(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		method   string
		want     string
	}{
		{[]string{"GET /a", "PUT,PATCH h.com/b"}, "OPTIONS", "204 Allow: GET, HEAD, OPTIONS, PATCH, PUT"},
		{[]string{"POST /a"}, "OPTIONS", "204 Allow: OPTIONS, POST"},
		{nil, "OPTIONS", "204 Allow: OPTIONS"},
		{[]string{"BREW /pot", "/a"}, "OPTIONS",
			"204 Allow: BREW, CONNECT, DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, TRACE"},
		{[]string{"/"}, "GET", "400"},
	} {
		req := httptest.NewRequest(c.method, "/", nil)
		req.RequestURI, req.URL.Path = "*", "*"
		if got := answerTo(newRouter(c.patterns...), req); got != c.want {
			t.Errorf("%s * with %q: got %s, want %s", c.method, c.patterns, got, c.want)
		}
	}
}

// The authority form of CONNECT has no path.
func TestConnectMatchesByAuthority(t *testing.T) {
	r := newRouter("CONNECT /{$}", "CONNECT h.com/{$}", "GET /")
	for target, want := range map[string]string{
		"h.com:443":     "200 CONNECT h.com/{$} CONNECT h.com/{$}",
		"other.com:443": "200 CONNECT /{$} CONNECT /{$}",
	} {
		if got := answerTo(r, httptest.NewRequest("CONNECT", target, nil)); got != want {
			t.Errorf("CONNECT %s: got %s, want %s", target, got, want)
		}
	}
}
