package config

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/routetable"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// readConstraint reads one entry of the mapping constraints. It keeps an invalid
// constraint as one that matches nothing, so that patterns with it are not
// reported too.
func readConstraint(r *fileReader, p place, n *yamlfile.Node) {
	f, name := p.To, p.Key.Text
	if !scalar.IsName(name) || strings.Contains(name, ".") {
		r.Mistakef(p.Key.Pos, "a name has letters, digits, '_' and '-'", "%s cannot name a constraint", yamlfile.Quote(name))
	}
	if f.constraints == nil {
		f.constraints = router.Constraints{}
	}
	if !defineName(r, p) {
		return
	}
	f.constraints[name] = router.Constraint{}
	expr, ok := yamlfile.ReadOne(r, p, n, parseExpression)
	if !ok {
		return
	}
	compiled, err := router.CompileRegexp(expr)
	if err != nil {
		r.Mistakef(n.Pos, "see https://pkg.go.dev/regexp/syntax", "%s", err)
		return
	}
	if search := asSearch(expr); search != "" {
		r.Warnf(n.Pos, "write "+yamlfile.Quote(search)+" to find it in a part of the segment, or leave out ^ and $",
			"constraint %s: it has to match the whole segment, with and without ^ and $", yamlfile.Quote(expr))
	}
	f.constraints[name] = compiled
	f.config.Constraints[name] = expr
}

// parseExpression reads a text, which is then compiled.
func parseExpression(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "regular expression"})
	return yamlfile.Text(s)
}

// readRoute reads a route in the scope p.To.outer.
func readRoute(r *fileReader, p place, n *yamlfile.Node) {
	s, d := p.To.outer, &routeDraft{Route: DefaultRoute("", "")}
	p.To.route = d
	merged := withoutIdle(r, s.merge(r, n))
	r.Fields(p, merged)
	d.Limits.restoreDefaults(&p.To.config.Limits.RequestLimits)
	d.To, d.parts = d.to.Text, s.parts
	d.Position = Position{File: r.Name(), Line: max(n.Pos.Line, 1)}
	d.Settings = ownFirst(append(settings(merged), s.settings...))
	d.Access, d.Groups = s.access, s.groups
	if d.access != nil {
		d.Access = append(slices.Clip(s.access), d.access)
	}
	d.checkAction(r, p, merged)
	d.checkForwarded(r, merged)
	d.checkMirror(r)
	d.addTo(p.To.reader, r, s)
}

// addTo adds a route of a scope with each of its patterns.
func (d *routeDraft) addTo(all *reader, r *fileReader, s *scope) {
	patterns, name := s.patterns(r, d.match)
	if len(patterns) > 1 && d.Limits.count() {
		d.shareLimits(all, name)
	}
	before := r.Reports()
	for i, pattern := range patterns {
		one := *d
		one.Match, one.match.Text, one.pattern = pattern, pattern, template.ParsePattern(pattern)
		if one.again = i > 0; one.again {
			one.match.Pos, one.redirectTo.Pos = d.match.Pos.Again(), d.redirectTo.Pos.Again()
		}
		if i == 0 || r.Reports() == before {
			one.checkPattern(r)
		}
		all.routes = append(all.routes, &one)
		all.config.Routes = append(all.config.Routes, one.Route)
	}
}

// shareLimits makes a group of a route with several patterns, so that its limits count the requests of all of them.
func (d *routeDraft) shareLimits(all *reader, name string) {
	if !d.When.None() {
		name += " when " + d.When.Names()
	}
	unique := name
	taken := func(g Group) bool { return g.Name == unique }
	for n := 2; slices.ContainsFunc(all.config.Groups, taken); n++ {
		unique = name + " #" + strconv.Itoa(n)
	}
	all.config.Groups = append(all.config.Groups, Group{Name: unique, Limits: d.Limits.counting(), OneRoute: true})
	d.Groups = append(slices.Clip(d.Groups), unique)
	d.Limits.InFlight, d.Limits.InFlightShared, d.Limits.Queue, d.Limits.Rate = 0, "", Queue{}, Rate{}
}

// checkRoutes checks that the upstreams of the routes exist, and that the patterns
// of routes and redirects form a valid table.
func (r *reader) checkRoutes() {
	var entries []routetable.Entry
	for _, part := range r.parts {
		part.check(r)
	}
	for _, d := range r.scopes {
		r.checkUpstreams(d)
	}
	for _, d := range r.routes {
		if !d.again {
			r.checkCookies(d)
			r.checkUpgrade(d)
			r.checkUpstreams(d)
		}
		if slices.ContainsFunc(d.parts, func(part *patternPart) bool { return part.bad }) {
			continue
		}
		if refused := routetable.RefuseForeign(d.Match, r.constraints); refused != nil {
			r.Refuse(d.match, refused)
		} else if d.Match != "" && !d.badWhen {
			entries = append(entries, routetable.Entry{File: r.File, Text: d.match, Pattern: d.Match, When: d.When,
				Redirect: d.leadsTo(r)})
		}
	}
	if r.redirects != nil {
		for _, line := range r.redirects.Lines {
			entries = append(entries, routetable.Entry{File: r.redirects.File, Text: line.Source, Pattern: line.Pattern,
				FromFile: true, Redirect: &routetable.Redirect{To: line.Address, Target: line.Target}})
		}
	}
	routetable.Check(r.constraints, entries)
	r.warnOfUnused()
	r.warnOfUninterested()
	r.warnOfLoops()
}

// checkUpstreams checks that the upstreams of a route exist.
func (r *reader) checkUpstreams(d *routeDraft) {
	for _, name := range append(d.others, d.to) {
		if _, ok := r.upstreams[name.Text]; !ok && name.Text != "" && !r.badUpstreams {
			r.Mistakef(name.Pos, r.rightUpstream(name.Text), "there is no upstream %s", yamlfile.Quote(name.Text))
			r.badUpstreams = len(r.upstreams) == 0 // one mistake for all routes
		}
	}
}

// checkUpgrade reports an upgrade by an upstream that speaks HTTP/2, which has none. The default of
// upgrade is no mistake.
func (r *reader) checkUpgrade(d *routeDraft) {
	i := slices.IndexFunc(d.forwarded, func(k yamlfile.Scalar) bool { return k.Text == "upgrade" && k.Pos.Outer() == nil })
	j := slices.IndexFunc(r.config.Upstreams, func(u upstreams.Upstream) bool { return u.Name == d.To && u.HTTP2 })
	if i >= 0 && j >= 0 && len(d.Upgrade) > 0 {
		r.Mistakef(d.forwarded[i].Pos, "remove it, or forward to an upstream without protocol: http2",
			"a connection of HTTP/2 to the upstream %s cannot be upgraded", yamlfile.Quote(d.To))
	}
}

// checkAddresses reports listeners that have the same port.
func (r *reader) checkAddresses(c *Config) {
	type listener struct {
		kind, addr string
		at         []yamlfile.Pos // empty for a default
	}
	list := func(kind, path string, addrs []string) (all []listener) {
		for i, addr := range addrs {
			l := listener{kind: kind, addr: addr}
			if given := r.Positions[path]; i < len(given) {
				l.at = given[i : i+1]
			}
			all = append(all, l)
		}
		return all
	}
	all := list("the listener", "listen", c.Listen)
	if c.TLS != nil {
		all = append(all, list("the listener of tls", "tls.listen", c.TLS.Listen)...)
	}
	if c.Admin != AdminOff {
		all = append(all, list("the admin listener", "admin.address", []string{c.Admin})...)
	}
	for i, l := range all {
		for _, other := range all[i+1:] {
			if l.kind == other.kind && l.addr == other.addr || !samePort(l.addr, other.addr) {
				continue // a list contains no address twice
			}
			// At least one of the two is in the file, because the defaults differ.
			at, hint := append(slices.Clone(l.at), other.at...)[0], "give one of them another port"
			if l.kind == other.kind {
				at = other.at[0]
				hint = "remove one of them: without a host, with 0.0.0.0 and with [::] it has all addresses, of IPv4 and IPv6"
			}
			r.Mistakef(at, hint, "%s %s and %s %s have the same port", l.kind,
				yamlfile.Quote(l.addr), other.kind, yamlfile.Quote(other.addr))
		}
	}
}

// samePort reports whether two listeners cannot both be bound.
func samePort(a, b string) bool {
	if strings.HasPrefix(a, SystemdPrefix) || strings.HasPrefix(b, SystemdPrefix) {
		return a == b
	}
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	everywhere := func(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }
	return portA == portB && portA != "0" && (hostA == hostB || everywhere(hostA) || everywhere(hostB))
}

// timeoutKeys are the timeouts of a route.
var timeoutKeys = []key{
	{Path: "routes.*.timeout", Short: "silence", Off: noTimeouts, Read: readTimeouts, With: forwards},
	{Path: "routes.*.timeout.silence", Doc: "how long the upstream may be silent",
		Off:  func(f filling) { f.route.Timeout = NoTimeout },
		Read: yamlfile.One(scalar.Timeout, func(f filling) *time.Duration { return &f.route.Timeout })},
	{Path: "routes.*.timeout.try", Doc: "how long one server may take",
		Read: yamlfile.One(scalar.Timeout, func(f filling) *time.Duration { return &f.route.TryTimeout })},
	{Path: "routes.*.timeout.total", Doc: "how long a request may take, with waits and retries",
		Read: yamlfile.One(scalar.Timeout, func(f filling) *time.Duration { return &f.route.TotalTimeout })},
}

func noTimeouts(f filling) {
	f.route.Timeout, f.route.TryTimeout, f.route.TotalTimeout = NoTimeout, 0, 0
}

func readTimeouts(r *fileReader, p place, n *yamlfile.Node) {
	r.Fields(p, n)
	if d := p.To.route; d.TotalTimeout > 0 && d.TryTimeout >= d.TotalTimeout {
		r.Mistakef(n.Pos, "make try shorter than total", "a try of %v never ends before the total of %v", d.TryTimeout,
			d.TotalTimeout)
	}
}
