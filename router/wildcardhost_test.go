package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

func TestLookupFindsWildcardHosts(t *testing.T) {
	checkLookups(t, newTable(t,
		"shop.example.com/cart", "*.example.com/cart", "{tenant}.example.com/{page}", "{id:int}.example.com/{page}",
		"{sub...}.example.com/{page}", "{tenant}.EU.example.com/{page}", "GET {t}.eu.example.com/only", "*.com/{x...}",
		"{who}.bücher.example/", "/{any...}",
	), []lookupCase{
		{"GET shop.example.com/cart", "shop.example.com/cart", nil},
		{"GET shop.example.com/page", "{tenant}.example.com/{page}", is{"tenant": "shop", "page": "page"}},
		{"GET blog.example.com/cart", "*.example.com/cart", nil},
		{"GET Blog.Example.COM:8080/about", "{tenant}.example.com/{page}", is{"tenant": "blog", "page": "about"}},
		{"GET blog.example.com./about", "{tenant}.example.com/{page}", is{"tenant": "blog", "page": "about"}},
		{"GET blog.example.com/a%2Fb", "{tenant}.example.com/{page}", is{"tenant": "blog", "page": "a/b"}},
		{"GET 7.example.com/about", "{id:int}.example.com/{page}", is{"id": "7", "page": "about"}},
		{"GET a.b.example.com/x", "{sub...}.example.com/{page}", is{"sub": "a.b", "page": "x"}},
		{"GET a.eu.example.com/x", "{tenant}.EU.example.com/{page}", is{"tenant": "a", "page": "x"}},
		{"GET a.eu.example.com/only", "GET {t}.eu.example.com/only", is{"t": "a"}},
		{"PUT a.eu.example.com/only", "{tenant}.EU.example.com/{page}", is{"tenant": "a", "page": "only"}},
		{"GET example.com/x", "*.com/{x...}", is{"x": "x"}},
		{"GET blog.example.com/x/y", "/{any...}", is{"any": "x/y"}}, // *.com is one label
		{"GET com/x", "/{any...}", is{"any": "x"}},
		{"GET ü.bücher.example/y", "{who}.bücher.example/", is{"who": "xn--tda"}},
	})
}

// A wildcard matches only labels that can be part of a name.
func TestWildcardHostsMatchLabels(t *testing.T) {
	table := newTable(t, "{sub...}.example.com/")
	long := strings.Repeat("a", 63)
	for host, want := range map[string]string{
		"a.example.com": "a", "a.b.example.com": "a.b", "a_b-1.example.com": "a_b-1", "A.b.Example.com.:80": "a.b",
		long + ".example.com": long,

		".example.com": "", "a..example.com": "", ".a.example.com": "", "..example.com": "", long + "a.example.com": "",
		"a/b.example.com": "", "a b.example.com": "", "a%2e.example.com": "", "\x00.example.com": "",
		"xexample.com": "", "a.example.com.evil": "", "a.example.com..": "", "[a.example.com]": "", "a.example.com@b": "",
	} {
		var p router.Params
		m := lookup(table, "GET", host, "/", &p)
		if m.Found != (want != "") || p.Get("sub") != want {
			t.Errorf("%.80q: got %+v with %q, want %q", host, m, p.Get("sub"), want)
		}
	}
}

// Params that have been used with a host parameter keep nothing of it.
func TestParamsForgetTheHost(t *testing.T) {
	var p router.Params
	lookup(newTable(t, "{tenant}.example.com/{x}"), "GET", "a.example.com", "/1", &p)
	if name, value := p.At(0); p.Len() != 2 || name != "tenant" || value != "a" || p.Get("tenant") != "a" {
		t.Errorf("got %q", values(&p))
	}
	lookup(newTable(t, "/{x}"), "GET", "a.example.com", "/2", &p)
	if p.Len() != 1 || p.Get("tenant") != "" || p.Get("") != "" || p.Get("x") != "2" {
		t.Errorf("got %q", values(&p))
	}
}

func TestStringShowsHosts(t *testing.T) {
	got := newTable(t, "/a", "h.com/b", "*.h.com/c", "{x:int}.h.com/d", "{x...}.h.com/e", "{t}.longer.h.com/f",
		"GET {t}.h.com/c").String()
	want := `h.com
  b -> h.com/b
{}.longer.h.com
  f -> {t}.longer.h.com/f
{:int}.h.com
  d -> {x:int}.h.com/d
{}.h.com
  c -> GET {t}.h.com/c, *.h.com/c
{...}.h.com
  e -> {x...}.h.com/e
(any host)
  a -> /a
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRouterServesWildcardHosts(t *testing.T) {
	r := new(router.Router)
	write := func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprint(w, req.Pattern, " ", req.PathValue("tenant"), " ", req.PathValue("page"))
	}
	tenants := r.Group("{tenant}.example.com")
	tenants.Name("page").HandleFunc("GET /pages/{page}", write)
	tenants.HandleFunc("/tree/", write)
	r.Name("star").HandleFunc("*.example.com/star", write)
	r.RedirectCase = true
	for _, c := range []struct{ host, path, want string }{
		{"shop.example.com", "/pages/a%2Fb", "200 GET {tenant}.example.com/pages/{page} shop a/b"},
		{"Shop.example.com:80", "/pages/1", "200 GET {tenant}.example.com/pages/{page} shop 1"},
		{"shop.example.com", "/pages//1", "307 /pages/1"},
		{"shop.example.com", "/tree", "307 /tree/"},
		{"shop.example.com", "/PAGES/X", "308 /pages/X"},
		{"shop.example.com", "/star", "200 *.example.com/star  "},
		{"example.com", "/star", "404"},
		{"a.b.example.com", "/star", "404"},
	} {
		w := httptest.NewRecorder()
		req := httptest.NewRequest("GET", c.path, nil)
		req.Host = c.host
		r.ServeHTTP(w, req)
		got := fmt.Sprint(w.Code, " ", w.Header().Get("Location"))
		if w.Code == 200 {
			got += w.Body.String()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s%s: got %s, want %s", c.host, c.path, got, c.want)
		}
	}
	for want, pairs := range map[string][]string{
		"//shop.example.com/pages/1": {"page", "tenant", "shop", "page", "1"},
		`cannot be part of a host`:   {"page", "tenant", "a/b", "page", "1"},
		`reaches no route`:           {"page", "tenant", "a.b", "page", "1"},
		`"tenant" has no value`:      {"page", "page", "1"},
		`there are tenant, page`:     {"page", "x", "1"},
		`write {name}.example.com`:   {"star"},
	} {
		got, err := r.URL(pairs[0], pairs[1:]...)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", pairs, got, want)
		}
	}
}

// manyHosts returns a table of a site with many tenants: n of them have a host and routes
// of their own, and a wildcard matches the others.
func manyHosts(t testing.TB, n int, others ...string) *router.Table[string] {
	patterns := others
	for i := range n {
		patterns = append(patterns, fmt.Sprintf("t%d.example.com/{page}", i))
	}
	return newTable(t, patterns...)
}

var hostWildcards = []string{"{tenant}.example.com/{page}", "{tenant:int}.example.com/{page}",
	"{sub...}.eu.example.com/{page}", "/{path...}"}

func TestLookupByHostAllocatesNothing(t *testing.T) {
	table := manyHosts(t, 10_000, hostWildcards...)
	var p router.Params
	for host, want := range map[string]string{
		"t77.example.com": "t77.example.com/{page}", "other.example.com:80": hostWildcards[0],
		"7.example.com": hostWildcards[1], "a.b.eu.example.com": hostWildcards[2], "other.org": hostWildcards[3],
	} {
		var m match[string]
		if n := testing.AllocsPerRun(100, func() { m = lookup(table, "GET", host, "/a", &p) }); n != 0 {
			t.Errorf("%s: %v allocations", host, n)
		}
		if m.Pattern != want {
			t.Errorf("%s: got %q, want %q", host, m.Pattern, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		e, _ := table.Lookup("GET", "7.example.com", "/a", "", &p)
		for e != nil {
			e, _ = table.Next("GET", "7.example.com", "/a", "", &p)
		}
	}); n != 0 {
		t.Errorf("Next: %v allocations", n)
	}
}

func BenchmarkLookupByWildcardHost(b *testing.B) {
	table := manyHosts(b, 10_000, hostWildcards...)
	for _, host := range []string{"t77.example.com", "other.example.com", "7.example.com", "a.b.eu.example.com",
		"other.org", strings.Repeat("a.", 30_000) + "eu.example.com"} {
		b.Run(host[:min(len(host), 20)], func(b *testing.B) {
			b.ReportAllocs()
			var p router.Params
			for b.Loop() {
				lookup(table, "GET", host, "/a", &p)
			}
		})
	}
}

func BenchmarkLookupByHost(b *testing.B) {
	table := manyHosts(b, 10_000, "/{path...}")
	for _, host := range []string{"t77.example.com", "other.example.com"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			var p router.Params
			for b.Loop() {
				lookup(table, "GET", host, "/a", &p)
			}
		})
	}
}
