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

// A dispatch is the compiled form of the routes. It does not change.
type dispatch struct {
	table     *Table[destination]
	endpoints []*endpoint // all of the table's
	named     map[string]*route
	allows    map[methodSet]string // as Allow headers, with OPTIONS
	folded    func() *folded       // made when first asked for
}

// compile makes the dispatch; g.mu is held.
func (g *registry) compile() *dispatch {
	entries := make([]Entry[destination], len(g.endpoints))
	for i, e := range g.endpoints {
		entries[i] = Entry[destination]{e.pattern(), destination{endpoint: e}}
	}
	d := &dispatch{
		table:     newTable(g.checked, entries),
		endpoints: slices.Clip(g.endpoints),
		named:     maps.Clone(g.named),
		allows:    map[methodSet]string{},
	}
	for i, names := range d.table.program.names {
		d.table.entries[i].Value.values = g.values.of(names)
	}
	for set, header := range d.table.program.allows {
		d.allows[set] = withOptions(header)
	}
	constraints := maps.Clone(g.constraints)
	d.folded = sync.OnceValue(func() *folded { return newFolded(constraints, d.endpoints) })
	return d
}

// A destination is an endpoint and what gives its values to requests.
type destination struct {
	*endpoint
	values *pathValues
}

// An answer is what a dispatch knows about a request.
type answer struct {
	found    *Entry[destination] // nil: none
	allow    methodSet           // of the patterns that match the path, but not the method
	hasRest  bool                // the pattern ends in a wildcard that took more than nothing
	slashFit bool                // another slash at the end of the path may find a pattern
}

// fitsWithSlash reports whether another slash at the end of the path may find
// a pattern that comes before this answer: one of the path's very length.
func (f *answer) fitsWithSlash() bool {
	return f.slashFit && (f.found == nil || f.hasRest)
}

// lookup finds the endpoint for a path and a rawPath as url.URL has them.
func (d *dispatch) lookup(method, host, path, rawPath string, p *Params) answer {
	p.names = nil
	s := search{params: p, host: host, methods: d.table.program.methods.only(method)}
	entry := d.table.program.find(&s, path, rawPath)
	a := answer{allow: s.allow, hasRest: s.hasRest, slashFit: s.slashFit}
	if entry >= 0 {
		a.found = &d.table.entries[entry]
	}
	return a
}

// allow returns the methods as the value of an Allow header, with OPTIONS,
// which a Router answers itself.
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

// everyMethod returns the methods of all routes as the value of an Allow
// header. A route for every method takes all that are known.
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
