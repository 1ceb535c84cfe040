package router

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A registry is shared by a Router and all its Routes: the routes so far, and the
// dispatch that serves them.
type registry struct {
	serving atomic.Pointer[dispatch] // nil: out of date
	router  atomic.Pointer[Router]   // the registry's Router, set when it serves with guards

	mu          sync.Mutex // guards the following fields
	constraints Constraints
	constrained map[string]callSite // call sites of Constrain
	checked     *builder            // has all endpoints, to find conflicts immediately
	endpoints   []*endpoint         // by entry of the builder
	routes      []*route            // in the order of registration
	named       map[string]*route
	guards      []guard // in the order of registration
	values      sharedPathValues
}

func newRegistry() *registry {
	c := Constraints{}
	return &registry{constraints: c, constrained: map[string]callSite{}, checked: newBuilder(c),
		named: map[string]*route{}, values: sharedPathValues{}}
}

func (g *registry) constrain(name string, c Constraint, at callSite) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, given := g.constraints[name]
	problem := ""
	switch {
	case name == "" || strings.ContainsAny(name, " \t/{}") || strings.HasSuffix(name, "..."):
		problem = "patterns cannot contain this name; use letters, digits, - and _"
	case given:
		problem = fmt.Sprintf("the name is taken (given at %s)", g.constrained[name])
	case g.checked.used[name]:
		problem = "a pattern already uses the built-in constraint of that name; call Constrain before"
	}
	if problem != "" {
		panic(registerErrorf("constraint %q (given at %s): %s", name, at, problem))
	}
	g.constraints[name], g.constrained[name] = c, at
}

// checkPrefix returns the problem with the prefix of a group, or "".
func (g *registry) checkPrefix(prefix string) (problem string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, m := parsePattern(prefix+"/x", g.constraints); m != nil {
		m.Pattern = prefix
		return m.Error()
	}
	return ""
}

// add registers all of the routes. If one of them has a problem, it panics with all
// problems and registers none.
func (g *registry) add(routes []*route) {
	g.mu.Lock()
	defer g.mu.Unlock()
	endpoints, all := g.endpoints, g.routes
	var refusals []error
	for _, r := range routes {
		if err := g.addOne(r); err != nil {
			refusals = append(refusals, err)
		}
	}
	if refusals != nil {
		g.restore(endpoints, all)
		panic(errors.Join(refusals...))
	}
	g.serving.Store(nil)
}

// restore removes the endpoints and routes added since the given ones.
func (g *registry) restore(endpoints []*endpoint, routes []*route) {
	for _, r := range g.routes[len(routes):] {
		delete(g.named, r.Name)
	}
	if len(g.endpoints) > len(endpoints) { // a builder cannot remove patterns
		g.checked = newBuilder(g.constraints)
		for i, e := range endpoints {
			g.checked.add(e.pattern(), i)
		}
	}
	g.endpoints, g.routes = endpoints, routes
}

// addOne registers a route, or returns its problem.
func (g *registry) addOne(r *route) error {
	if other := g.named[r.Name]; r.Name != "" && other != nil {
		return registerErrorf("pattern %q (registered at %s) has the name %q of pattern %q (registered at %s)",
			r.Pattern, r.site, r.Name, other.Pattern, other.site)
	}
	m := g.checked.add(r.Pattern, len(g.endpoints))
	switch {
	case m == nil:
		g.endpoints = append(g.endpoints, &endpoint{[]*route{r}})
	case m.Other >= 0 && g.endpoints[m.Other].pattern() == r.Pattern:
		if err := g.addVersion(r, m); err != nil {
			return err
		}
	default:
		return g.describe(m, r)
	}
	if r.Name != "" {
		r.pattern, _ = parsePattern(r.Pattern, g.constraints) // the builder has just parsed it
		g.named[r.Name] = r
	}
	g.routes = append(g.routes, r)
	return nil
}

// addVersion adds a route to the endpoint with the same pattern, or returns its
// problem.
func (g *registry) addVersion(r *route, m *Mistake) error {
	versions := g.endpoints[m.Other].routes
	for _, other := range versions {
		switch {
		case other.Accept != r.Accept:
		case r.Accept == "":
			return g.describe(m, r)
		default:
			return registerErrorf("pattern %q (registered at %s) is already registered for %s (at %s)",
				r.Pattern, r.site, r.Accept, other.site)
		}
	}
	g.endpoints = slices.Clone(g.endpoints) // restore may need the old slice
	g.endpoints[m.Other] = &endpoint{append(slices.Clip(versions), r)}
	return nil
}

// describe returns the error for a mistake, with the call sites of the registrations.
func (g *registry) describe(m *Mistake, r *route) error {
	if m.Other < 0 {
		return &registerError{fmt.Sprintf("%s (registered at %s)", m.Error(), r.site), m}
	}
	other := g.endpoints[m.Other].routes[0]
	text := fmt.Sprintf("pattern %q (registered at %s) conflicts with pattern %q (registered at %s): both match "+
		"%q and neither is more specific",
		m.Pattern, r.site, m.OtherPattern, other.site, m.Example)
	if r.media != nil && r.Accept != other.Accept {
		text += "; the pattern has to be identical for several media types"
	}
	return &registerError{text, m}
}

// all returns the routes in the order of registration.
func (g *registry) all() []*route {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.routes)
}

// current returns the dispatch of all routes.
func (g *registry) current() *dispatch {
	if d := g.serving.Load(); d != nil {
		return d
	}
	return g.compiled()
}

// compiled returns the dispatch and makes it if it is out of date.
func (g *registry) compiled() *dispatch {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d := g.serving.Load(); d != nil {
		return d
	}
	d := g.compile()
	g.serving.Store(d)
	return d
}

// compile makes the dispatch; g.mu is held.
func (g *registry) compile() *dispatch {
	entries := make([]Entry[destination], len(g.endpoints))
	for i, e := range g.endpoints {
		entries[i] = Entry[destination]{e.pattern(), newDestination(e)}
	}
	d := &dispatch{
		table:     newTable(g.checked, entries),
		endpoints: slices.Clip(g.endpoints),
		guards:    slices.Clip(g.guards),
		named:     maps.Clone(g.named),
		allows:    map[methodSet]string{},
	}
	program := d.table.program
	for i, names := range program.names {
		to := &d.table.entries[i].Value
		if program.wildcards != nil && program.wildcards.names[i] != "" {
			names = slices.Insert(slices.Clone(names), 0, program.wildcards.names[i])
			to.labels = 1
		}
		to.values = g.values.of(names)
	}
	for set, header := range program.allows {
		d.allows[set] = withOptions(header)
	}
	constraints := maps.Clone(g.constraints)
	d.folded = sync.OnceValue(func() *folded { return newFolded(constraints, d.endpoints) })
	return d
}
