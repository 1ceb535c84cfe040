package router

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// BenchmarkPathValue compares several ways to pass the values of a lookup to a handler
// that reads all of them. docs/decisions/path-values.md has the results. A pass runs
// all ways once, and passes follow each other, so that changes in the machine's speed
// affect all ways equally.
func BenchmarkPathValue(b *testing.B) {
	for _, n := range []int{1, 2, 5, 20} {
		l := lookedUp(b, n)
		for _, way := range waysToPass(l) {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) {
				b.ReportAllocs()
				req := new(http.Request)
				for b.Loop() {
					*req = *l.request
					way.pass(req)
				}
			})
		}
	}
}

// BenchmarkNewPathValues measures the cost of each new list of names.
func BenchmarkNewPathValues(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newPathValues([]string{"owner", "repo"})
	}
}

// A lookup is a request with its result.
type lookup struct {
	names   []string
	request *http.Request
	params  *Params
}

// lookedUp returns the lookup of a path with n parameters.
func lookedUp(tb testing.TB, n int) lookup {
	var names, values []string
	for i := range n {
		names = append(names, fmt.Sprintf("name%d", i))
		values = append(values, fmt.Sprintf("value%d", i))
	}
	path := pathFor(values)
	return lookup{names, &http.Request{Method: "GET", URL: &url.URL{Path: path}, RequestURI: path},
		found(tb, patternFor(names), path)}
}

// A way passes a lookup's values to a handler.
type valuesKey struct{}

type way struct {
	name string
	pass func(*http.Request)
}

var bytesRead int

func waysToPass(l lookup) []way {
	standard := func(req *http.Request) {
		for _, name := range l.names {
			bytesRead += len(req.PathValue(name))
		}
	}
	type scratch struct {
		values []string
		chunk  valueChunk
	}
	pool := sync.Pool{New: func() any { return new(scratch) }}
	v, plain := newPathValues(l.names), muxPathValues(l.names)
	shared := new(valueChunk)
	return []way{
		{"SetPathValue", func(req *http.Request) {
			for i := range l.params.Len() {
				req.SetPathValue(l.params.At(i))
			}
			called(standard)(req)
		}},
		{"typed handler", func(req *http.Request) {
			called(func(*http.Request) {
				for _, name := range l.names {
					bytesRead += len(l.params.Get(name))
				}
			})(req)
		}},
		{"context", func(req *http.Request) {
			ctx := context.WithValue(req.Context(), valuesKey{}, copied(l.params, make([]string, l.params.Len())))
			called(func(req *http.Request) {
				for i := range l.names {
					bytesRead += len(req.Context().Value(valuesKey{}).([]string)[i])
				}
			})(req.WithContext(ctx))
		}},
		{"copy of the request", func(req *http.Request) {
			r2 := new(http.Request)
			*r2 = *req
			v.fields.write(r2, v.pattern, copied(l.params, make([]string, l.params.Len())))
			called(standard)(r2)
		}},
		{"pooled values", func(req *http.Request) { // wrong: a late reader gets values of the next request
			s := pool.Get().(*scratch)
			s.values = copied(l.params, append(s.values[:0], make([]string, l.params.Len())...))
			v.fields.write(req, v.pattern, s.values)
			called(standard)(req)
			v.fields.write(req, v.pattern, nil)
			clear(s.values)
			pool.Put(s)
		}},
		{"ServeMux of the route", func(req *http.Request) {
			plain.set(req, l.params.captures(), nil)
			called(standard)(req)
		}},
		{"fields, own slice", func(req *http.Request) {
			v.fields.write(req, v.pattern, copied(l.params, make([]string, l.params.Len())))
			called(standard)(req)
		}},
		{"fields, chunk of its own pool", func(req *http.Request) {
			s := pool.Get().(*scratch)
			v.set(req, l.params.captures(), &s.chunk)
			pool.Put(s)
			called(standard)(req)
		}},
		{"fields, chunk beside the Params", func(req *http.Request) {
			v.set(req, l.params.captures(), shared)
			called(standard)(req)
		}},
	}
}

// called returns f in a form that the compiler cannot inline, like an http.Handler.
//
//go:noinline
func called(f func(*http.Request)) func(*http.Request) { return f }

func copied(p *Params, values []string) []string {
	for i := range values {
		_, values[i] = p.At(i)
	}
	return values
}
