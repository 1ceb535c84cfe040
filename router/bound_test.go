package router_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestLookupStepsAreBounded counts the steps of lookups that are designed to be slow. They are at most
// segments × nodes, where plain backtracking would take segments^5.
func TestLookupStepsAreBounded(t *testing.T) {
	wildcards := "/{a...}/x/{b...}/x/{c...}/x/{d...}/x/{e...}"
	ladders := []string{"/{path...}"}
	for _, tail := range []string{"/y", "/z/{f}", "/{f:int}/{g:int}/z", "/{f}/{g}/w/{$}"} {
		ladders = append(ladders, wildcards+tail, "/{a...}/x"+tail, "/{a}/{b...}/x/{c...}"+tail)
	}
	for _, c := range []struct {
		name     string
		patterns []string
		path     string
		found    bool
	}{
		{"five wildcards, no end", []string{wildcards + "/y"}, strings.Repeat("/x", 10_000), false},
		{"five wildcards, end", []string{wildcards + "/y"}, strings.Repeat("/x", 10_000) + "/y", true},
		{"many shapes", ladders, strings.Repeat("/x/1", 5_000), true},
		{"empty segments", ladders, strings.Repeat("/", 10_000), true},
		{"escapes", ladders, strings.Repeat("/%78/%2F", 5_000), true},
		{"one method of another", []string{"PUT " + wildcards + "/x"}, strings.Repeat("/x", 10_000), false},
	} {
		table := newTable(t, c.patterns...)
		if m := lookup(table, "GET", "", c.path, nil); m.Found != c.found {
			t.Errorf("%s: got %+v, want found %v", c.name, m, c.found)
		}
		segments := strings.Count(c.path, "/")
		if steps, nodes := table.Steps("GET", "", c.path); steps > segments*nodes {
			t.Errorf("%s: %d steps for %d segments in %d nodes", c.name, steps, segments, nodes)
		}
		longest := 0
		for _, p := range c.patterns {
			longest = max(longest, strings.Count(p, "/"))
		}
		if !table.FramesWithin(longest, "GET", "", c.path) {
			t.Errorf("%s: more places to go back to than the %d segments of the longest pattern", c.name, longest)
		}
	}
}

// TestRegistrationStepsAreBounded counts the comparisons of two patterns with many wildcards in
// the middle. They are at most segments × segments.
func TestRegistrationStepsAreBounded(t *testing.T) {
	const wildcards = 40
	long := func(first, between, end string) string {
		var b strings.Builder
		b.WriteString("/" + first)
		for i := range wildcards {
			fmt.Fprintf(&b, "/{w%d...}"+between, i)
		}
		return b.String() + end
	}
	for _, c := range []struct{ between, other, end, otherEnd string }{
		{"/x", "/x", "/y", "/z"},
		{"/x", "/y", "/y", "/z"},
		{"/{p%[1]d}", "/x", "/y", "/z"},
		{"/{p%[1]d:int}", "/{p%[1]d:hex}", "/y", "/z"},
		{"/x", "/x", "/{r...}", "/{$}"},
		{"/x", "/x", "/", "/z"},
	} {
		first, second := long("{a:int}", c.between, c.end), long("{b:hex}", c.other, c.otherEnd)
		for _, pair := range [][2]string{{first, second}, {second, first}} {
			if got, segments := router.Comparisons(pair[0], pair[1]); got > segments*segments {
				t.Errorf("%d comparisons for %d segments: %.40s… and %.40s…", got, segments, pair[0], pair[1])
			}
		}
	}
}

// A wildcard at the end takes the rest of the path, however long.
func TestRestIsIndependentOfLength(t *testing.T) {
	table := newTable(t, "/{path...}", "/a/{b}", "/{c}/d")
	for _, n := range []int{3, 30_000} {
		if steps, _ := table.Steps("GET", "", strings.Repeat("/x", n)); steps > 3 {
			t.Errorf("%d steps for %d segments", steps, n)
		}
	}
}

// Without wildcards a node is visited at most once, even if every branch fails.
func TestBacktrackingWithoutWildcardsVisitsNodesOnce(t *testing.T) {
	table := newTable(t, "/{a}/{b}/{c}/z", "/a/{b}/{c}/y", "/a/b/{c}/x", "/a/b/c/w", "/{a:slug}/b/{c:hex}/v")
	if steps, nodes := table.Steps("GET", "", "/a/b/c/d"); steps > nodes {
		t.Errorf("%d steps in %d nodes", steps, nodes)
	}
}

// A constraint checks a segment once if nothing else follows, and an expression checks
// it once for all patterns that have it at one place. A result of one lookup is not
// used in the next.
func TestConstraintsAreAskedOnce(t *testing.T) {
	asked := map[string]int{}
	tell := func(segment string) { asked[segment]++ }
	constraints := router.Constraints{"int": router.Int.Told(tell), "re": router.Regexp("[a-z]").Told(tell)}
	var p router.Params
	for _, c := range []struct {
		pattern, others string
		path, want      string
	}{
		{"/{a:int}", "", "/x", "x"},
		{"/{a:int}/b", "", "/x/b", "x"},
		{"/{a:int}/b", "/x/c", "/x/b", "x"},
		{"/{a:int}/b", "", "/1/c", ""}, // the following literal is compared first
		{"/a/{x:re}/b", "/{y}/{x:re}/b /{y}/{x:re}/c/{z}", "/a/q/c", "q"},
		{"/a/{x:re}/b", "/{y...}/{x:re}/b", "/a/1/b", "1 b"},
		{"/a/{x:re}/b", "/{y...}/{x:re}/b", "/a/q/b", "q"},
		{"/{y...}/{x:re}/b", "/{y...}/{x:re}/{z}/c", "/a/b/c/d/b", "b c d"},
	} {
		var entries []router.Entry[int]
		for _, pattern := range append(strings.Fields(c.others), c.pattern) {
			entries = append(entries, router.Entry[int]{Pattern: pattern})
		}
		table, err := router.NewTable(constraints, entries)
		if err != nil {
			t.Fatal(err)
		}
		clear(asked)
		lookup(table, "GET", "", c.path, &p)
		want := map[string]int{}
		for _, segment := range strings.Fields(c.want) {
			want[segment] = 1
		}
		if !maps.Equal(asked, want) {
			t.Errorf("%s in %s and %s: asked %v, want %v", c.path, c.pattern, c.others, asked, want)
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	table := newTable(t,
		"/{$}", "/census", "GET,HEAD /static/{id:uuid}/{addr:ipv4}", "/v6/{addr:ipv6}/{day:date}",
		"GET /users/{id:int}", "PUT example.com/{slug:slug}",
		"/{topic...}/datasets/{rest...}", "/{uri...}/a/{more...}/b", "/{path...}")
	var p router.Params
	for _, c := range []struct{ method, host, path, want string }{
		{"GET", "", "/", "/{$}"},
		{"GET", "", "/census", "/census"},
		{"GET", "www.example.org:8080", "/static/123e4567-e89b-12d3-a456-426614174000/192.0.2.1",
			"GET,HEAD /static/{id:uuid}/{addr:ipv4}"},
		{"GET", "", "/v6/2001:db8::192.0.2.1/2024-02-29", "/v6/{addr:ipv6}/{day:date}"},
		{"HEAD", "", "/users/42", "GET /users/{id:int}"},
		{"PUT", "example.com:80", "/a-b", "PUT example.com/{slug:slug}"},
		{"GET", "", "/economy/prices/datasets/cpi", "/{topic...}/datasets/{rest...}"},
		{"GET", "", "/x/a/y/z/b", "/{uri...}/a/{more...}/b"},
		{"GET", "", "/economy/prices", "/{path...}"},
	} {
		var m match[string]
		if n := testing.AllocsPerRun(100, func() { m = lookup(table, c.method, c.host, c.path, &p) }); n != 0 {
			t.Errorf("%s %s%s: %v allocations", c.method, c.host, c.path, n)
		}
		if m.Pattern != c.want {
			t.Errorf("%s %s%s: got %q, want %q", c.method, c.host, c.path, m.Pattern, c.want)
		}
	}
	refusing := newTable(t, "GET,PUT /a/{b}")
	if n := testing.AllocsPerRun(100, func() { lookup(refusing, "POST", "", "/a/b", &p) }); n != 0 {
		t.Errorf("a method that is not allowed: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { lookup(refusing, "POST", "", "/b", &p) }); n != 0 {
		t.Errorf("not found: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { lookup(table, "GET", "", "/economy%20x/prices", &p) }); n > 2 {
		t.Errorf("an escaped path: %v allocations", n)
	}
	many := []string{"/{x}"}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		many = append(many, "/{x}."+string(c))
	}
	table = newTable(t, many...)
	if n := testing.AllocsPerRun(100, func() { lookup(table, "GET", "", "/a%2Fb", &p) }); int(n) > len(many)/2 {
		t.Errorf("an escaped slash that %d parameters look at: %v allocations", len(many), n)
	}
}

// FuzzDecode compares the segments of a path with a plain implementation.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"/", "/a%2Fb/c", "//%2f%2F/", "/%zz/%4", "/%25/%2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		path = "/" + path
		var want []string
		for s := range strings.SplitSeq(path[1:], "/") {
			want = append(want, unescaped(s))
		}
		got := router.Decode(path)
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	table := newTable(b,
		"/{$}", "/census", "/datasets/{uri...}", "/{topic}/datasets/{uri...}", "/{uri...}/alladhocs",
		"/{uri...}/datalist",
		"GET,HEAD /static/{id:uuid}/{addr:ipv4}", "/{path...}")
	for _, c := range []struct{ name, path string }{
		{"static", "/census"},
		{"constrained", "/static/123e4567-e89b-12d3-a456-426614174000/192.0.2.1"},
		{"middle", "/economy/inflationandpriceindices/datalist"},
		{"rest", "/economy/inflationandpriceindices/bulletins/latest"},
		{"escaped", "/datasets/a%20b/c"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var p router.Params
			for b.Loop() {
				lookup(table, "GET", "", c.path, &p)
			}
		})
	}
}
