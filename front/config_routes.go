package front

import (
	"errors"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/router"
)

// constraint reads one name of the mapping constraints. One that is wrong is
// kept all the same, accepting nothing, so that the patterns that use it are
// not reported too.
func (r *reader) constraint(p place, n ast.Node) {
	name := p.key.text
	if !isName(name) || strings.Contains(name, ".") {
		r.mistakef(p.key.pos, "a name has letters, digits, '_' and '-'", "%s cannot name a constraint", quote(name))
	}
	if r.constraints == nil {
		r.constraints = router.Constraints{}
	}
	r.constraints[name] = router.Constraint{}
	expr, ok := readOne(r, p, n, text)
	if !ok {
		return
	}
	compiled, err := router.CompileRegexp(expr)
	if err != nil {
		r.mistakef(startOf(n), "see https://pkg.go.dev/regexp/syntax", "%s", err)
		return
	}
	r.constraints[name] = compiled
	p.config.Constraints[name] = expr
}

// upstream reads one name of the mapping upstreams.
func (r *reader) upstream(p place, n ast.Node) {
	name := p.key.text
	if !isName(name) {
		r.mistakef(p.key.pos, "a name has letters, digits, '.', '_' and '-'", "%s cannot name an upstream", quote(name))
	}
	if r.upstreams == nil {
		r.upstreams = map[string]pos{}
	}
	r.upstreams[name] = p.key.pos
	u := UpstreamConfig{Name: name}
	p.upstream = &u
	r.fields(p, n)
	p.config.Upstreams = append(p.config.Upstreams, u)
}

// routeDraft is a route and where its parts stand, as far as it has them.
type routeDraft struct {
	RouteConfig
	match, to scalar
}

func (r *reader) routeList(p place, n ast.Node) {
	r.refuseEmpty(p, n)
	for _, element := range r.elements(p, n) {
		r.route(p.below("*", scalar{pos: startOf(element)}), element)
	}
}

func (r *reader) route(p place, n ast.Node) {
	d := &routeDraft{RouteConfig: DefaultRoute("", "")}
	p.route = d
	r.fields(p, n)
	d.Match, d.To = d.match.text, d.to.text
	r.routes = append(r.routes, d)
	p.config.Routes = append(p.config.Routes, d.RouteConfig)
}

// checkRoutes checks what a route cannot know alone: that its upstream is
// there, and that the patterns together make a table.
func (r *reader) checkRoutes() {
	for _, d := range r.routes {
		if _, ok := r.upstreams[d.To]; !ok && d.To != "" && r.upstreams != nil {
			r.mistakef(d.to.pos, r.rightUpstream(d.To), "there is no upstream %s", quote(d.To))
		}
	}
	entries := make([]router.Entry[*routeDraft], 0, len(r.routes))
	for _, d := range r.routes {
		if d.Match != "" {
			entries = append(entries, router.Entry[*routeDraft]{Pattern: d.Match, Value: d})
		}
	}
	_, err := router.NewTable(r.constraints, entries)
	var wrong router.Mistakes
	errors.As(err, &wrong)
	for _, m := range wrong {
		r.wrongPattern(m, entries)
	}
}

func (r *reader) rightUpstream(name string) string {
	names := slices.Sorted(maps.Keys(r.upstreams))
	if near := nearest.Word(name, names); near != "" {
		return didYouMean(near)
	}
	return "the upstreams are " + strings.Join(names, ", ")
}

// wrongPattern reports what the router says of a pattern, at the place where
// the pattern stands.
func (r *reader) wrongPattern(m *router.Mistake, entries []router.Entry[*routeDraft]) {
	match := entries[m.Entry].Value.match
	if m.Other < 0 {
		r.mistakef(r.within(match, m.Offset), m.Hint, "pattern %s: %s", quote(m.Pattern), m.Problem)
		return
	}
	other := entries[m.Other].Value.match
	r.mistakef(match.pos, "make one of them more specific",
		"pattern %s conflicts with %s on line %d: both match %s", quote(m.Pattern), quote(m.OtherPattern), other.pos.line, m.Example)
}

// checkAddresses finds listeners that would take each other's port.
func (r *reader) checkAddresses(c *Config) {
	if c.Admin == AdminOff {
		return
	}
	for i, listen := range c.Listen {
		if !samePort(listen, c.Admin) {
			continue
		}
		// One of the two stands in the file: the default ones differ.
		at := slices.Concat(r.stood["admin"], r.stood["listen"])[0]
		if stood := r.stood["listen"]; i < len(stood) {
			at = stood[i]
		}
		r.mistakef(at, "give one of them another port", "the listener %s and the admin listener %s want the same port", quote(listen), quote(c.Admin))
	}
}

// samePort reports whether two listeners cannot both have their address.
func samePort(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	everywhere := func(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }
	return portA == portB && portA != "0" && (hostA == hostB || everywhere(hostA) || everywhere(hostB))
}
