package router_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// A chooser makes patterns and paths from the bytes of a fuzzer.
type chooser struct{ bytes []byte }

func (c *chooser) below(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := int(c.bytes[0])
	c.bytes = c.bytes[1:]
	return b % n
}

func (c *chooser) of(words ...string) string { return words[c.below(len(words))] }

func (c *chooser) pattern() string {
	var b strings.Builder
	b.WriteString(c.of("", "", "", "GET ", "POST ", "HEAD ", "GET,POST ", "PUT,OPTIONS ", "HEAD,PUT ", "PUT,GET "))
	b.WriteString(c.of("", "", "", "h.com", "a.h.com", "*.h.com", "{h}.h.com", "{h:int}.h.com", "{h:hex}.h.com",
		"{h:date}.h.com", "{h...}.h.com", "{h}.a.h.com", "{h...}.a.h.com", "{h:hex}.com", "*.com"))
	afterMany := false
	for i := range 1 + c.below(5) {
		s := c.of("a", "b", "1", "a%2fb", "{p}", "{p}", "{p:int}", "{p:hex}", "{p:slug}", "{p:date}",
			"{p...}", "{p...}",
			"a{p}", "{p}b", "a{p}b", "a-{p}", "a{p:int}", "a{p:hex}", "{p:int}b", "{p:hex}b", "%61{p:slug}%2F",
			"{p}-29", "{p:slug}-29", "{p}%02", "%00{p}")
		if afterMany = strings.HasSuffix(s, "...}") && !afterMany; !afterMany {
			s = strings.Replace(s, "...", "", 1)
		}
		b.WriteString("/" + strings.Replace(s, "p", fmt.Sprint("p", i), 1))
	}
	if end := c.of("", "", "/{$}", "/"); end != "/" || !afterMany {
		b.WriteString(end)
	}
	return b.String()
}

func (c *chooser) host() string {
	return c.of("", "a.", "1.", "ff.", "x.", "1.1.", "b.a.", "1.a.", "2024-02-29.", ".", "a..", ".a.", "a/b.", "xn--9ca.",
		strings.Repeat("a", 63)+".", strings.Repeat("a", 64)+".", "192.0.2.") + c.of("h.com", "com", "h.org")
}

func (c *chooser) path() string {
	var b strings.Builder
	for range 1 + c.below(7) {
		b.WriteString("/" + c.of("a", "b", "1", "c", "ff", "x-y", "2024-02-29", "%61", "a%2Fb", "%2f", "%zz", "",
			"a1", "ab", "1b", "a1b", "aab", "abb", "a-b", "a-1", "a-%31b", "ac", "a-29", "2023-01-29", "a1%2f",
			"%61%zz", "a%2f%02", "%00%02", "%00%2f", "b%00b"))
	}
	return b.String()
}

// randomSeeds yields a fixed set of random bytes, enough for the fuzz tests to find
// most mistakes even in a normal test run.
func randomSeeds(yield func([]byte) bool) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		seed := make([]byte, 40+random.IntN(160))
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		if !yield(seed) {
			return
		}
	}
}

// FuzzTable compares Table with the oracle for random patterns and requests.
func FuzzTable(f *testing.F) {
	for seed := range randomSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		c := &chooser{bytes}
		var entries []router.Entry[int]
		for i := range 1 + c.below(10) {
			entries = append(entries, router.Entry[int]{Pattern: c.pattern(), Value: i})
		}
		table, patterns := tableWithoutConflicts(t, entries)
		for range 8 {
			path := c.path()
			for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
				for _, host := range []string{"", "h.com", c.host()} {
					compareWithOracle(t, table, patterns, method, host, path)
				}
			}
		}
	})
}

// tableWithoutConflicts returns the table of the entries without a conflict with an
// earlier one, and checks each reported conflict.
func tableWithoutConflicts(t *testing.T, entries []router.Entry[int]) (*router.Table[int], []oraclePattern) {
	t.Helper()
	_, err := router.NewTable(nil, entries)
	bad := map[int]bool{}
	for _, m := range mistakesIn(err) {
		bad[m.Entry] = true
		checkConflict(t, m)
	}
	var good []router.Entry[int]
	var patterns []oraclePattern
	for i, e := range entries {
		if !bad[i] {
			good = append(good, e)
			patterns = append(patterns, newOraclePattern(e.Pattern))
		}
	}
	table, err := router.NewTable(nil, good)
	if err != nil {
		t.Fatalf("without the conflicting patterns: %v", err)
	}
	return table, patterns
}

// checkConflict checks the example of a conflict: each pattern by itself takes the
// request, and nothing orders them.
func checkConflict(t *testing.T, m *router.Mistake) {
	t.Helper()
	if m.Other < 0 {
		t.Fatalf("unexpected: %v", m)
	}
	method, target, _ := strings.Cut(m.Example, " ")
	slash := strings.IndexByte(target, '/')
	host, path := target[:slash], target[slash:]
	for _, pattern := range []string{m.Pattern, m.OtherPattern} {
		if !lookup(newTable(t, pattern), method, host, path, nil).Found {
			t.Fatalf("%v\nbut %q alone does not take it", m, pattern)
		}
	}
	a, okA := newOraclePattern(m.Pattern).match(method, host, oracleTokens(path))
	b, okB := newOraclePattern(m.OtherPattern).match(method, host, oracleTokens(path))
	switch {
	case !okA || !okB || a.method < 0 || b.method < 0:
		t.Fatalf("%v\nbut not both match", m)
	case !a.unordered(&b):
		t.Fatalf("%v\nbut %v and %v have an order", m, a, b)
	}
}

// FuzzConflict makes pairs of patterns that begin equally and then differ in a
// constraint. The rest of the patterns decides whether they conflict. The fuzzer also
// chooses the text around parameters.
func FuzzConflict(f *testing.F) {
	for seed := range randomSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		c := &chooser{bytes}
		start, around := c.of("", "/{s...}", "/a"), c.text()
		a, b := c.tail(), c.tail()
		patterns := []string{
			start + "/" + around + "{p:int}" + a,
			start + "/" + around + "{p:hex}" + b,
			start + "/" + around + "{p:slug}" + b,
		}
		for i, p := range patterns {
			for _, q := range patterns[:i] {
				checkPair(t, c, p, q)
			}
		}
	})
}

// text returns text before or after a parameter.
func (c *chooser) text() string {
	var b strings.Builder
	for range c.below(4) {
		b.WriteString(c.of("a", "b", "1", "-", ".", "%2f", "%61", "é", "%00", "%02"))
	}
	return b.String()
}

// tail returns up to three segments of a pattern.
func (c *chooser) tail() string {
	var b strings.Builder
	for i := range c.below(4) {
		p := c.of("", "{p}", "{p}", "{p:int}", "{p:hex}", "{p:slug}", "{p:date}")
		if p == "" {
			b.WriteString("/x" + c.text())
			continue
		}
		b.WriteString("/" + c.text() + strings.Replace(p, "p", fmt.Sprint("t", i), 1) + c.text())
	}
	return b.String() + c.of("", "", "/", "/{$}", "/{r...}")
}

// checkPair checks the conflict of two patterns, or with suggested requests that there
// is none.
func checkPair(t *testing.T, c *chooser, p, q string) {
	t.Helper()
	table, err := router.NewTable(nil, []router.Entry[int]{{Pattern: p}, {Pattern: q}})
	var m *router.Mistake
	if errors.As(err, &m) {
		checkConflict(t, m)
		return
	}
	patterns := []oraclePattern{newOraclePattern(p), newOraclePattern(q)}
	for _, like := range patterns {
		compareWithOracle(t, table, patterns, "GET", "", c.pathLike(like))
	}
}

// pathLike returns a path that resembles the pattern.
func (c *chooser) pathLike(p oraclePattern) string {
	var b strings.Builder
	for _, s := range p.segments {
		before, others, has := strings.Cut(s, "{")
		_, after, _ := strings.Cut(others, "}")
		b.WriteString("/" + before)
		if has {
			b.WriteString(c.of("1", "a", "ff", "a-b", "2024-02-29", "a1", "", "%2f", "%00") + after)
		}
	}
	return b.String()
}

// lazily makes the text of a failure only if it is needed.
type lazily func() string

func (text lazily) String() string { return text() }

func compareWithOracle(t *testing.T, table *router.Table[int], patterns []oraclePattern, method, host, path string) {
	t.Helper()
	request := lazily(func() string { return fmt.Sprintf("%s %s%s in\n%v", method, host, path, table) })
	taken, allow := oracleLookup(patterns, method, host, path)
	var params router.Params
	got := lookup(table, method, host, path, &params)
	if got.Found != (len(taken) > 0) || got.Allow != allow {
		t.Fatalf("%s\ngot %+v, want %v, Allow %q", request, got, taken, allow)
	}
	if steps, nodes := table.Steps(method, host, path); steps > nodes*strings.Count(path, "/") {
		t.Errorf("%s\n%d steps in %d nodes", request, steps, nodes)
	}
	if len(taken) == 0 {
		if params.Len() != 0 {
			t.Errorf("%s\n%d parameters of a request that nothing matched", request, params.Len())
		}
		return
	}
	best := taken[0]
	if len(taken) > 1 && best.unordered(&taken[1]) {
		t.Fatalf("%s\nis matched by %q and %q alike, which is no conflict", request, best.pattern.text,
			taken[1].pattern.text)
	}
	var values []string
	for i := range params.Len() {
		_, value := params.At(i)
		values = append(values, value)
	}
	if got.Pattern != best.pattern.text || !slices.Equal(values, best.values) {
		t.Fatalf("%s\ngot %q %q, want %q %q", request, got.Pattern, values, best.pattern.text, best.values)
	}
	compareWithParsed(t, table, method, host, path, got, values)
	compareNext(t, table, method, host, path, patterns, taken)
}

// compareNext calls Next until there is no pattern left.
func compareNext(t *testing.T, table *router.Table[int], method, host, path string, patterns []oraclePattern,
	taken []oracleMatch) {
	t.Helper()
	var params router.Params
	e, allow := table.Lookup(method, host, "", path, &params)
	for i, want := range taken {
		var values []string
		for k := range params.Len() {
			_, value := params.At(k)
			values = append(values, value)
		}
		if e == nil || e.Pattern != want.pattern.text || !slices.Equal(values, want.values) {
			t.Fatalf("%s %s%s, pattern %d: got %+v %q, want %q %q in\n%v", method, host, path, i, e, values,
				want.pattern.text, want.values, table)
		}
		e, allow = table.Next(method, host, "", path, &params)
	}
	var others []oraclePattern
	for _, p := range patterns {
		passed := slices.ContainsFunc(taken, func(m oracleMatch) bool { return m.pattern.text == p.text })
		if p.methods != nil && !passed {
			others = append(others, p)
		}
	}
	_, want := oracleLookup(others, "NONE", host, path)
	if e != nil || allow != want {
		t.Fatalf("%s %s%s after %d patterns: got %+v, Allow %q, want %q in\n%v", method, host, path, len(taken), e, allow,
			want, table)
	}
}

// compareWithParsed looks up the path as parsed by net/http, which must give the same
// result.
func compareWithParsed(t *testing.T, table *router.Table[int], method, host, path string, want match[int],
	values []string) {
	t.Helper()
	u, err := url.ParseRequestURI(path)
	if err != nil || u.EscapedPath() != path { // no request has this path
		return
	}
	var params router.Params
	e, _ := table.Lookup(method, host, u.Path, u.RawPath, &params)
	if e == nil || e.Pattern != want.Pattern {
		t.Fatalf("%s %s%s finds %q; parsed, as %q and %q, %v in\n%v", method, host, path, want.Pattern, u.Path,
			u.RawPath, e, table)
	}
	for i := range params.Len() {
		if _, value := params.At(i); value != values[i] {
			t.Errorf("%s: value %d is %q, parsed %q", path, i, values[i], value)
		}
	}
}

// FuzzTableOrder checks that the order of the entries does not matter.
func FuzzTableOrder(f *testing.F) {
	for seed := range randomSeeds {
		f.Add(seed, uint64(len(seed)))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, seed uint64) {
		c := &chooser{bytes}
		var entries []router.Entry[int]
		for i := range 2 + c.below(8) {
			entries = append(entries, router.Entry[int]{Pattern: c.pattern(), Value: i})
		}
		shuffled := slices.Clone(entries)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, k int) {
			shuffled[i], shuffled[k] = shuffled[k], shuffled[i]
		})
		a, errA := router.NewTable(nil, entries)
		b, errB := router.NewTable(nil, shuffled)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("one order has mistakes, another has not: %v, %v", errA, errB)
		}
		if errA == nil && a.String() != b.String() {
			t.Fatalf("the trees differ:\n%v\n%v", a, b)
		}
	})
}

// FuzzPattern parses any text: an accepted pattern must give a table that draws and an
// example that it matches, and a rejected one an offset within the pattern.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"/", "GET,HEAD h.com/a/{b:int}/{c...}", "*.h.com/", "{a}.h.com/{a}", "{É}.h.com/{b}",
		"{a:int}.é/", "{a...}.h.com:80/", "{a}.{b}.c/", "*.1/", "/{a...}/b/{$}", "/%zz", "é/{é}", "[::1]/",
		"/{a...:int}", "/a%2F{b:int}.c/{d}", "/{a}{b}", "/a}{b}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		table, err := router.NewTable(nil, []router.Entry[int]{{Pattern: pattern}})
		if err != nil {
			if m := mistakesIn(err)[0]; m.Offset < 0 || m.Offset > len(pattern) || m.Other >= 0 || m.Problem == "" {
				t.Errorf("%+v", m)
			}
			return
		}
		if !strings.Contains(table.String(), pattern) {
			t.Errorf("the tree of %q does not name it:\n%v", pattern, table)
		}
		_, err = router.NewTable(nil, []router.Entry[int]{{Pattern: pattern}, {Pattern: pattern}})
		var conflict *router.Mistake
		if !errors.As(err, &conflict) || conflict.Other != 0 {
			t.Fatalf("%q twice: got %v, want a conflict", pattern, err)
		}
		method, target, _ := strings.Cut(conflict.Example, " ")
		slash := strings.IndexByte(target, '/')
		if !lookup(table, method, target[:slash], target[slash:], nil).Found {
			t.Errorf("%q does not take the example %s", pattern, conflict.Example)
		}
	})
}
