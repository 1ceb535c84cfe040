package router

import (
	"fmt"
	"runtime"
	"testing"
)

func TestRefusedPatternLeavesTheTreeAsItWas(t *testing.T) {
	b := newBuilder(nil)
	for i, p := range []string{"/a/{x:int}/b", "GET /{s...}/v{y:hex}.c/", "h.com/{$}"} {
		if m := b.add(p, i); m != nil {
			t.Fatal(m)
		}
	}
	before := b.tree.draw()
	for _, p := range []string{"/a/{x:hex}/{y}", "/{s...}/v{y:slug}.c/d", "/a/{x:int}/b", "i.com/{x}{y}", "/new/{x:it}",
		"ONE,GET,TWO /{s...}/v{y:slug}.c/"} {
		if m := b.add(p, 3); m == nil {
			t.Errorf("%s is accepted", p)
		}
		if after := b.tree.draw(); after != before {
			t.Errorf("%s changed the tree to\n%s", p, after)
		}
		if n := len(b.tree.methods); n != len(knownMethods) {
			t.Errorf("%s left methods: %s", p, b.tree.methods[len(knownMethods):])
		}
	}
}

// BenchmarkBuilder registers 10,000 patterns without compiling them. The retained bytes
// are those of the tree; the texts of the patterns belong to the caller.
func BenchmarkBuilder(b *testing.B) {
	for _, c := range []struct {
		name    string
		pattern func(i int) string
	}{
		{"parameter", func(i int) string { return fmt.Sprintf("/api/resource-%d/{id}/part-%d", i%100, i/100) }},
		{"methods", func(i int) string {
			return fmt.Sprintf("%s /api/resource-%d/{id}", [...]string{"GET", "PUT", "DELETE", "POST"}[i%4], i/4)
		}},
		{"constrained", func(i int) string { return fmt.Sprintf("/api/resource-%d/{id:int}/part-%d", i%100, i/100) }},
		{"text around", func(i int) string { return fmt.Sprintf("/api/part-%d-{id:int}.json", i) }},
		{"rivals", func(i int) string {
			return fmt.Sprintf("/api/{a:%s}/part-%d", [...]string{"int", "hex"}[i%2], i)
		}},
	} {
		patterns := make([]string, 10_000)
		for i := range patterns {
			patterns[i] = c.pattern(i)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				build(b, patterns)
			}
			b.ReportMetric(float64(retained(b, patterns))/1e6, "MB-retained")
		})
	}
}

func build(b *testing.B, patterns []string) *builder {
	built := newBuilder(nil)
	for i, p := range patterns {
		if m := built.add(p, i); m != nil {
			b.Fatal(m)
		}
	}
	return built
}

// retained returns the number of bytes that a tree of the patterns keeps.
func retained(b *testing.B, patterns []string) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	built := build(b, patterns)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(built)
	return after.HeapAlloc - before.HeapAlloc
}
