package router_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/weirhq/weir/router"
)

// A quiet is a ResponseWriter that does not allocate.
type quiet struct{ header http.Header }

func (q quiet) Header() http.Header                  { return q.header }
func (q quiet) Write(text []byte) (int, error)       { return len(text), nil }
func (q quiet) WriteString(text string) (int, error) { return len(text), nil }
func (q quiet) WriteHeader(int)                      {}

func TestServeAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	r := &router.Router{Panic: func(http.ResponseWriter, *http.Request, any) {}, RedirectCase: true}
	for _, p := range []string{"GET /", "/static/path", "h.com/x", "GET,POST /api/%2F/a"} {
		r.Handle(p, nothing)
	}
	for _, m := range []string{"a/b", "c/d"} {
		r.Accept(m).Handle("/versions", nothing)
	}
	net := http.NewServeMux()
	net.Handle("GET /only", nothing)
	strict := new(router.Router)
	strict.Handle("GET /only", nothing)
	for _, c := range []struct {
		name    string
		h       http.Handler
		method  string
		host    string
		url     url.URL
		accept  string
		atMost  float64
		atWorst http.Handler // allocates at least as much
	}{
		{"root", r, "GET", "", url.URL{Path: "/"}, "", 0, nil},
		{"static", r, "GET", "", url.URL{Path: "/static/path"}, "", 0, nil},
		{"host with port", r, "GET", "h.com:80", url.URL{Path: "/x"}, "", 0, nil},
		{"Vary alone", r, "GET", "", url.URL{Path: "/versions"}, "", 1, nil},
		{"Vary alone, a media type", r, "GET", "", url.URL{Path: "/versions"}, "c/d", 1, nil},
		{"Vary alone, a list", r, "GET", "", url.URL{Path: "/versions"}, "x/y;q=0.3, c/*;q=0.5, */*;q=0.1", 1, nil},
		{"404", strict, "GET", "", url.URL{Path: "/none"}, "", 0, net},
		{"405", strict, "PUT", "", url.URL{Path: "/only"}, "", 0, net},
	} {
		req := &http.Request{Method: c.method, Host: c.host, URL: &c.url, Header: http.Header{}}
		if c.accept != "" {
			req.Header["Accept"] = []string{c.accept}
		}
		w := quiet{http.Header{"Vary": nil}}
		measure := func(h http.Handler) float64 {
			return testing.AllocsPerRun(100, func() {
				clear(w.header)
				h.ServeHTTP(w, req)
			})
		}
		most := c.atMost
		if c.atWorst != nil {
			most = measure(c.atWorst)
		}
		if got := measure(c.h); got > most {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, most)
		}
	}
}

func BenchmarkServe(b *testing.B) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	patterns := []string{"GET /", "GET /static/path/{$}", "GET /repos/{owner}/{repo}/issues/{number}",
		"GET /repos/{owner}/{repo}/issues"}
	r, mux := new(router.Router), http.NewServeMux()
	for _, p := range patterns {
		r.Handle(p, nothing)
		mux.Handle(p, nothing)
	}
	for name, path := range map[string]string{"static": "/static/path/", "parameters": "/repos/weirhq/weir/issues/42"} {
		for who, h := range map[string]http.Handler{"Router": r, "ServeMux": mux} {
			b.Run(name+"/"+who, func(b *testing.B) {
				b.ReportAllocs()
				u := &url.URL{Path: path}
				header := http.Header{}
				for b.Loop() {
					h.ServeHTTP(quiet{}, &http.Request{Method: "GET", URL: u, Header: header})
				}
			})
		}
	}
}

func BenchmarkRegister(b *testing.B) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	patterns := make([]string, 10_000)
	for i := range patterns {
		patterns[i] = fmt.Sprintf("/api/resource-%d/{id}/part-%d", i, i%7)
	}
	req := &http.Request{Method: "GET", URL: &url.URL{Path: "/none"}}
	b.ReportAllocs()
	for b.Loop() {
		var r router.Router
		for _, p := range patterns {
			r.Handle(p, nothing)
		}
		r.ServeHTTP(quiet{http.Header{}}, req)
	}
}

// rivals returns n patterns. Each one of one half has to be compared with each of the
// other, because both may match a segment that begins with a number.
func rivals(n int) (entries []router.Entry[int]) {
	for i := range n / 2 {
		for _, pattern := range []string{"/{a:int}/{b}/x%d", "/{a:hex}/x%d/y{b}"} {
			entries = append(entries, router.Entry[int]{Pattern: fmt.Sprintf(pattern, i)})
		}
	}
	return entries
}

// TestRegisteringRivalsAllocatesForEachOnce checks that comparisons of patterns without
// a conflict allocate nothing.
func TestRegisteringRivalsAllocatesForEachOnce(t *testing.T) {
	measure := func(n int) float64 {
		entries := rivals(n)
		return testing.AllocsPerRun(1, func() {
			if _, err := router.NewTable(nil, entries); err != nil {
				t.Error(err)
			}
		})
	}
	if few, many := measure(200), measure(400); many > 3*few {
		t.Errorf("%v allocations for 400 patterns, %v for 200", many, few)
	}
}

func BenchmarkRegisterRivals(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			entries := rivals(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := router.NewTable(nil, entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
