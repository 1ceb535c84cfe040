package router

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/weirhq/weir/router/internal/nearest"
)

// A dispatch is the compiled form of the routes. It is immutable.
type dispatch struct {
	table     *Table[destination]
	endpoints []*endpoint // of the table, by entry
	guards    []guard
	named     map[string]*route
	allows    map[methodSet]string // as Allow fields, with OPTIONS
	folded    func() *folded       // made on first use
}

// A destination is the value of a table entry: an endpoint, and the path values for
// requests to it.
type destination struct {
	plain    http.Handler // of the only route, if that has no media type
	endpoint *endpoint
	values   *pathValues
	labels   int // number of values from the host: 0 or 1
}

func newDestination(e *endpoint) destination {
	d := destination{endpoint: e}
	if len(e.routes) == 1 && e.routes[0].media == nil {
		d.plain = e.routes[0].handler
	}
	return d
}

// A result is a lookup in a dispatch and its entry.
type result struct {
	search
	found *Entry[destination] // nil if there is none
}

// matchesWithSlash reports whether the path with a slash appended may match a pattern
// that precedes this result: one with exactly the path's segments.
func (f *result) matchesWithSlash() bool {
	return f.slashMatches && (f.found == nil || f.hasRest)
}

// setValues sets the path values of the request, which must have found a pattern. It
// reports whether one of the values begins with a dot.
func (f *result) setValues(req *http.Request, from *valueChunk) (dotted bool) {
	to := &f.found.Value
	found := f.values(len(to.values.names) - to.labels)
	dotted = to.values.set(req, found, from)
	if to.labels > 0 {
		req.SetPathValue(to.values.names[0], f.params.label)
	}
	return dotted
}

// lookup finds the endpoint for a path and a rawPath as in url.URL. It fills the result
// in place because copying it would cost more than the lookup.
func (d *dispatch) lookup(f *result, req *http.Request, path, rawPath string, p *Params) {
	g := d.table.program
	*f = result{search: search{params: p, host: req.Host, methods: g.methods.only(req.Method)}}
	if entry := g.find(&f.search, path, rawPath); entry >= 0 {
		f.found = &d.table.entries[entry]
	}
}

// allow returns the value of an Allow field for the methods. It includes OPTIONS, which
// a Router responses itself.
func (d *dispatch) allow(s methodSet) string {
	if header, ok := d.allows[s]; ok {
		return header
	}
	return withOptions(d.table.program.allow(s))
}

func withOptions(allow string) string {
	list := strings.Split(allow, ", ")
	if i, found := slices.BinarySearch(list, http.MethodOptions); !found {
		list = slices.Insert(list, i, http.MethodOptions)
	}
	return strings.Join(list, ", ")
}

// everyMethod returns the value of an Allow field with the methods of all routes. A
// route for all methods counts as all known methods.
func (d *dispatch) everyMethod() string {
	all := []string{http.MethodOptions}
	for _, e := range d.endpoints {
		methods, _, named := cutBlank(e.pattern())
		if !named {
			all = append(all, knownMethods...)
			break
		}
		all = append(all, strings.Split(methods, ",")...)
	}
	if slices.Contains(all, http.MethodGet) {
		all = append(all, http.MethodHead)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

func (d *dispatch) unknownRoute(name string) error {
	names := slices.Sorted(maps.Keys(d.named))
	if near := nearest.Word(name, names); near != "" {
		return fmt.Errorf("there is no route %q; did you mean %s?", name, near)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no route %q: none has a name", name)
	}
	return fmt.Errorf("there is no route %q; there are %s", name, strings.Join(names, ", "))
}

// A guard is middleware around every request at or below a prefix.
type guard struct {
	prefix  *Table[struct{}]
	handler http.Handler // the middleware around the later guards and the Router
}

// guardOf returns the index of the first guard for a request, starting at the given
// index, or the number of guards.
func (d *dispatch) guardOf(req *http.Request, index int) int {
	if index == len(d.guards) {
		return index
	}
	t := targetOf(req)
	s := scratchPool.Get().(*scratch)
	for index < len(d.guards) {
		if e, _ := d.guards[index].prefix.Lookup(req.Method, req.Host, t.path, t.rawPath, &s.params); e != nil {
			break
		}
		index++
	}
	s.params.Release()
	scratchPool.Put(s)
	return index
}

// match returns the endpoint for a request and leaves its values in f. It returns nil
// if no pattern matches or the Router would redirect.
func (d *dispatch) match(f *result, req *http.Request) *endpoint {
	if req.RequestURI == "*" {
		return nil
	}
	t := targetOf(req)
	d.lookup(f, req, t.path, t.rawPath, new(Params))
	if f.found == nil || t.moved || f.matchesWithSlash() && d.findsSlash(new(result), req, t.escaped()) {
		return nil
	}
	return f.found.Value.endpoint
}

// findsSlash looks up an escaped path with a slash appended and reports whether it
// matches a pattern with exactly these segments.
func (d *dispatch) findsSlash(below *result, req *http.Request, escaped string) bool {
	d.lookup(below, req, "", escaped+"/", new(Params))
	return below.found != nil && !below.hasRest
}

// A scratch is the memory that a request needs until its handler is known.
type scratch struct {
	params Params
	values valueChunk
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}
