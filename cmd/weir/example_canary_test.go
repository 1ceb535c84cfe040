package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

// TestCanaryExampleRuns runs examples/canary with a substitute for each of its services.
func TestCanaryExampleRuns(t *testing.T) {
	t.Parallel()
	p := prepare(t, "serve", "--config", "../../examples/canary/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	var copies atomic.Int64
	for _, name := range []string{"shop", "shop-next", "search", "search-next"} {
		service := backend.Handler(backend.Options{Header: http.Header{"X-Answered-By": {name}}})
		s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Mirrored") != "" && name == "search-next" {
				copies.Add(1)
			}
			service.ServeHTTP(w, r)
		}))
		variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_URL"
		p.cmd.Env = append(p.cmd.Env, variable+"="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	get := func(path, field, value string) (by, cookie string) {
		req, err := http.NewRequest("GET", p.url()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if field != "" {
			req.Header.Set(field, value)
		}
		a := do(t, c, req)
		cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
		return a.Header.Get("X-Answered-By"), cookie
	}
	got, cookies := map[string]int{}, map[string]string{}
	for range 200 {
		by, cookie := get("/basket", "", "")
		got[by]++
		cookies[by] = cookie
	}
	if got["shop"] < 185 || got["shop-next"] < 5 || len(got) != 2 {
		t.Errorf("200 clients: %v, want 190 and 10", got)
	}
	for by, cookie := range cookies {
		for range 10 {
			again, set := get("/basket", "Cookie", cookie)
			if again != by || set != "" || !strings.HasPrefix(cookie, "shop-version=") {
				t.Errorf("a client of %s with %q is at %s and gets %q", by, cookie, again, set)
			}
		}
	}
	for value, want := range map[string]string{"1": "shop-next", "0": "shop"} {
		if by, _ := get("/basket", "X-Canary", value); by != want {
			t.Errorf("X-Canary %s: %s, want %s", value, by, want)
		}
	}
	for range 100 {
		if by, _ := get("/search", "", ""); by != "search" {
			t.Errorf("a search is answered by %s", by)
		}
	}
	testkit.Await(t, "copies", func() bool { return copies.Load() >= 5 })
	if n := copies.Load(); n > 15 {
		t.Errorf("%d of 100 searches were copied, want 10", n)
	}
}
