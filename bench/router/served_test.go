package router

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestServedRoutersReachTheHandler(t *testing.T) {
	for _, name := range ServedNames() {
		t.Run(name, func(t *testing.T) {
			served, err := Serve(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				path string
				want bool
			}{
				{FilesPath(1), true}, {FilesPath(10_000), true},
				{"/repos/weirhq/weir/issues/7", true}, {"/nowhere", false},
			} {
				took, found := served.Route(httptest.NewRequest("GET", c.path, nil))
				if found != c.want || took < 0 {
					t.Errorf("%.40s: found is %v after %v, want %v", c.path, found, took, c.want)
				}
			}
		})
	}
}

// TestServedRouterIsShared uses a router from several goroutines, like a server.
func TestServedRouterIsShared(t *testing.T) {
	for _, name := range ServedNames() {
		served, err := Serve(name)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for _, path := range []string{"/nowhere", FilesPath(3), "/gists/7"} {
					_, found := served.Route(httptest.NewRequest("GET", path, nil))
					if want := path != "/nowhere"; found != want {
						t.Errorf("%s: %s: found is %v, want %v", name, path, found, want)
					}
				}
			})
		}
		all.Wait()
	}
}

// TestServedRequestStaysAsItIs checks that a request keeps its body: only the copy for the router has another.
func TestServedRequestStaysAsItIs(t *testing.T) {
	served, err := Serve(WeirRouter)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("GET", FilesPath(2), strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	body := r.Body
	if _, found := served.Route(r); !found || r.Body != body || r.PathValue("path") != "" {
		t.Errorf("found is %v, the body %v, path %q; want a request as it was", found, r.Body, r.PathValue("path"))
	}
}

func TestUnknownRouterIsRefused(t *testing.T) {
	if _, err := Serve("river"); err == nil || !strings.Contains(err.Error(), `"river"`) ||
		!strings.Contains(err.Error(), "chi") {
		t.Errorf("got %v, want the name and those that there are", err)
	}
}
