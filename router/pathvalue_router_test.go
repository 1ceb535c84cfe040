package router_test

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestPathValuesOutliveTheHandler starts goroutines that outlive their handlers, some of
// which panic. They read and set path values immediately, and again after thousands of
// other requests.
func TestPathValuesOutliveTheHandler(t *testing.T) {
	const clients, requests = 4, 600
	var late sync.WaitGroup
	allServed := make(chan struct{})
	check := func(req *http.Request, want [3]string) {
		got := [3]string{req.PathValue("tenant"), req.PathValue("id"), req.PathValue("rest")}
		if got != want {
			t.Errorf("%s has the values %q, want %q", req.URL.Path, got, want)
		}
	}
	r := new(router.Router)
	handle := func(w http.ResponseWriter, req *http.Request) {
		var want [3]string
		copy(want[:], strings.SplitN(req.URL.Path[1:], "/", 3))
		check(req, want)
		panics := strings.HasSuffix(want[1], "7")
		late.Go(func() {
			check(req, want)
			req.SetPathValue("id", want[1]+" set late")
			want[1] += " set late"
			<-allServed
			check(req, want)
		})
		if panics {
			panic(http.ErrAbortHandler)
		}
	}
	r.HandleFunc("/{tenant}/{id:int}", handle)
	r.HandleFunc("/{tenant}/{id:int}/{rest...}", handle)
	r.HandleFunc("/{tenant}", func(http.ResponseWriter, *http.Request) {})

	serve := func(path string) {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
		}()
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	var served sync.WaitGroup
	for client := range clients {
		served.Go(func() {
			for i := range requests {
				serve(fmt.Sprintf("/t%d/%d", client, i))
				serve(fmt.Sprintf("/t%d/%d/%d", client, i, i))
				serve(fmt.Sprintf("/t%d", client))
			}
		})
	}
	served.Wait()
	overTheWire(t, r, "/wire/%d/x", 200)
	close(allServed)
	late.Wait()
}

// overTheWire sends GET requests to a real server, whose handlers may abort.
func overTheWire(t *testing.T, h http.Handler, path string, requests int) {
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	for i := range requests {
		if response, err := server.Client().Get(server.URL + fmt.Sprintf(path, i)); err == nil {
			response.Body.Close()
		}
	}
}

// A muxOrRouter has the methods of both.
type muxOrRouter interface {
	http.Handler
	HandleFunc(string, func(http.ResponseWriter, *http.Request))
	Handle(string, http.Handler)
}

// TestNestedRoutersSetValuesAsServeMux nests routers and ServeMuxes, with middleware between
// them that sets values. Handlers must read the same values as in nested ServeMuxes.
func TestNestedRoutersSetValuesAsServeMux(t *testing.T) {
	newMux := func() muxOrRouter { return http.NewServeMux() }
	newRouter := func() muxOrRouter { return new(router.Router) }
	random := rand.New(rand.NewPCG(9, 10))
	for range 150 {
		outer, inner := randomPattern(random), randomPattern(random)
		set := readNames[random.IntN(len(readNames))]
		for _, path := range []string{"/", "/x", "/x/y", "/x/y/z"} {
			want := nested(newMux(), newMux(), outer, inner, set, path)
			for name, got := range map[string]string{
				"a Router in a ServeMux": nested(newMux(), newRouter(), outer, inner, set, path),
				"a ServeMux in a Router": nested(newRouter(), newMux(), outer, inner, set, path),
				"a Router in a Router":   nested(newRouter(), newRouter(), outer, inner, set, path),
			} {
				if got != want {
					t.Fatalf("%s with %s in %s and %q set between: %s\ngot  %s\nwant %s", path, inner, outer,
						set, name, got, want)
				}
			}
		}
	}
}

var readNames = []string{"a", "b", "c", "d"}

// randomPattern returns a pattern with up to two of readNames.
func randomPattern(random *rand.Rand) string {
	names := random.Perm(len(readNames))
	pattern := []string{"/x/{first}/{second}", "/{first}/{second...}", "/x/{$}", "/"}[random.IntN(4)]
	return strings.NewReplacer("first", readNames[names[0]], "second", readNames[names[1]]).Replace(pattern)
}

// nested serves a path with inner within outer and returns the values read on the way.
func nested(outer, inner muxOrRouter, outerPattern, innerPattern, set, path string) string {
	var seen strings.Builder
	see := func(where string, req *http.Request) {
		fmt.Fprintf(&seen, "%s %s", where, req.Pattern)
		for _, name := range readNames {
			fmt.Fprintf(&seen, " %s=%s", name, req.PathValue(name))
		}
		seen.WriteString("; ")
	}
	inner.HandleFunc(innerPattern, func(_ http.ResponseWriter, req *http.Request) {
		see("inner", req)
		req.SetPathValue("a", "inner")
		see("inner again", req)
	})
	outer.HandleFunc(outerPattern, func(w http.ResponseWriter, req *http.Request) {
		see("outer", req)
		req.SetPathValue(set, "between")
		inner.ServeHTTP(w, req)
		see("outer again", req)
	})
	req := httptest.NewRequest("GET", path, nil)
	req.SetPathValue("a", "before")
	outer.ServeHTTP(httptest.NewRecorder(), req)
	see("at last", req)
	return seen.String()
}
