package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

// TestBalanceExampleRuns runs examples/balance with a substitute for each of its servers, and drains
// one of them.
func TestBalanceExampleRuns(t *testing.T) {
	t.Parallel()
	p := prepare(t, "serve", "--config", "../../examples/balance/weir.yaml", "--listen", "127.0.0.1:0",
		"--admin", "127.0.0.1:0")
	p.cmd.Env = append(p.cmd.Env, "STICKY_SECRET=0123456789abcdef0123456789abcdef")
	urls := map[string]string{}
	for _, name := range []string{"shop-a", "shop-b", "shop-spare", "search-a", "search-b", "images-a", "images-b"} {
		s := testkit.Serve(t, backend.Handler(backend.Options{Header: http.Header{"X-Answered-By": {name}}}))
		urls[name] = s.URL
		p.cmd.Env = append(p.cmd.Env, strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"_URL="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	get := func(path, cookie string) (by, set string) {
		t.Helper()
		r, err := http.NewRequest("GET", p.url()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", cookie)
		a := do(t, c, r)
		set, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
		return a.Header.Get("X-Answered-By"), set
	}
	count := func(path string) map[string]int {
		got := map[string]int{}
		for range 40 {
			by, _ := get(path, "")
			got[by]++
		}
		return got
	}
	if got := count("/"); got["shop-a"] != 30 || got["shop-b"] != 10 {
		t.Errorf("40 clients of the shop: %v, want 30 and 10", got)
	}
	if got := count("/search"); got["search-a"]+got["search-b"] != 40 || len(got) != 2 {
		t.Errorf("40 searches: %v", got)
	}
	if got := count("/images/1.png"); len(got) != 1 {
		t.Errorf("40 requests for one image: %v", got)
	}
	by, cookie := get("/", "")
	if by != "shop-a" || !strings.HasPrefix(cookie, "shop-server=") {
		t.Fatalf("a client is at %s with %q", by, cookie)
	}
	r, err := http.NewRequest("POST", p.admin()+"/upstreams/shop/drain?server="+urls["shop-a"], nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := do(t, c, r); a.StatusCode != 200 {
		t.Errorf("drain: %d", a.StatusCode)
	}
	if again, set := get("/", cookie); again != "shop-a" || set != "" {
		t.Errorf("while its server drains, the client is at %s and gets %q", again, set)
	}
	if got := count("/"); got["shop-b"] != 40 {
		t.Errorf("while shop-a drains, 40 clients: %v", got)
	}
}
