package front

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/sharing"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/filebudget"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/router"
)

// A tableBuilder builds tables from a configuration. It has the parts of a Door that
// outlive a reload.
type tableBuilder struct {
	metrics  *metrics
	features *features
	hook     func(*proxying.Exchange, proxying.Event)
	stores   *sharing.Stores
	shared   upstream.Parts // of the upstreams of all configurations

	// Of the configuration:
	files   filebudget.Budget
	fitting int // connections and requests that the memory allows; 0 for no limit
	events  requestEvents
	tracer  *tracer
	gates   map[string]*gate // of the tables that are replaced, or nil
	before  upstream.Set     // of the tables that are replaced, or nil
}

// build returns tables for a configuration.
func (b *tableBuilder) build(cfg *config.Config) (_ *tables, err error) {
	t := &tables{
		config: cfg, files: b.files, fitting: b.fitting, events: b.events, tracer: b.tracer, defaultEvents: b.events.set(cfg.Log.Events),
		trust:  proxying.Trust(cfg.TrustedProxies),
		limits: inherit(config.RequestLimits{}, cfg.Limits.RequestLimits),
		gates:  make(map[string]*gate),
		pages:  errorpages.New(cfg.ErrorPages),
	}
	if t.upstreams, err = upstream.NewSet(cfg, b.shared, b.before); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.upstreams.Close()
		}
	}()
	if cfg.TLS != nil {
		t.subjectField, t.httpsRedirect = cfg.TLS.SubjectHeader, httpsredirect.New(cfg.TLS.HTTPS)
	}
	if cfg.Access != nil {
		t.access = access.New([]*access.Config{cfg.Access}, &b.features.door, allRoutes)
	}
	if t.responses, err = edits.Responses(cfg.ResponseHeaders, template.ParsePattern("/")); err != nil {
		return nil, err
	}
	// Each request in flight needs a connection to an upstream.
	gates := gateBuilder{stores: b.stores, namespace: cfg.Namespace, gates: b.gates, most: b.mostInFlight(cfg)}
	if err = t.addGates(&gates); err != nil {
		return nil, err
	}
	upstreams := b.upstreams(t)
	constraints, err := compile(cfg.Constraints)
	if err != nil {
		return nil, err
	}
	routes := newRouteList(len(cfg.Routes) + len(cfg.Redirects))
	for _, r := range cfg.Routes {
		label := routes.label(&r)
		value, err := b.route(t, &r, label, upstreams)
		if err != nil {
			return nil, err
		}
		if value.gate, err = gates.newGate(label, r.Limits); err != nil {
			return nil, err
		}
		value.gate.total = r.TotalTimeout
		t.gates[label] = value.gate
		if value.groups, err = t.groupsOf(&r); err != nil {
			return nil, err
		}
		routes.add(r.Match, value)
	}
	if err := b.addRedirects(routes, t); err != nil {
		return nil, err
	}
	t.routes, err = router.NewTable(constraints, routes.entries)
	return t, err
}

// addGates adds the gates of all requests and of the groups.
func (t *tables) addGates(gates *gateBuilder) (err error) {
	if t.gate, err = gates.newGate(allRoutes, t.config.Limits.RequestLimits); err != nil {
		return err
	}
	t.gates[allRoutes] = t.gate
	for _, group := range t.config.Groups {
		g, err := gates.newGate(group.Name, group.Limits)
		if err != nil {
			return err
		}
		if !group.OneRoute {
			g.group = group.Name
		}
		t.gates[group.Name] = g
	}
	return nil
}

// groupsOf returns the gates of the groups in which a route is.
func (t *tables) groupsOf(r *config.Route) (gates []*gate, err error) {
	for _, name := range r.Groups {
		g := t.gates[name]
		if g == nil {
			return nil, fmt.Errorf("route %s: there is no group %s", r.Match, name)
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// upstreams returns the upstreams of the tables by name, as features see them.
func (b *tableBuilder) upstreams(t *tables) map[string]*stage.Upstream {
	all := make(map[string]*stage.Upstream, len(t.config.Upstreams))
	for i, up := range t.upstreams {
		all[up.Name()] = &stage.Upstream{
			Name: up.Name(), HTTP2: t.config.Upstreams[i].HTTP2, About: up.About, Counts: up.Counts,
			Proxy: &proxying.Proxy{Upstream: up.Upstream, Trust: t.trust, Fail: respondToFailure, Hook: b.hook},
		}
	}
	return all
}

// compile compiles the constraints of patterns.
func compile(exprs map[string]string) (router.Constraints, error) {
	constraints := make(router.Constraints, len(exprs))
	for name, expr := range exprs {
		c, err := router.CompileRegexp(expr)
		if err != nil {
			return nil, fmt.Errorf("constraint %s: %w", name, err)
		}
		constraints[name] = c
	}
	return constraints, nil
}

// route returns a route without its limits, and notes its properties in the tables.
func (b *tableBuilder) route(t *tables, c *config.Route, label string, upstreams map[string]*stage.Upstream) (*route, error) {
	all := t.config
	r := &route{
		label: label, when: c.When.OrNil(), counts: b.metrics.requests.Route(label),
		events:   b.events.set(cmp.Or(c.Events, all.Log.Events)),
		limits:   inherit(c.Limits, all.Limits.RequestLimits),
		position: c.Position, settings: c.Settings,
		restricts: restricts(c), plainHTTP: c.PlainHTTP, logHeaders: b.events.headers.ofRoute(c),
	}
	f := forwarding{timeout: c.Timeout, try: c.TryTimeout, upgrade: c.Upgrade}
	of := &stage.Route{Door: &b.features.door, Label: label, Match: c.Match, Upstreams: upstreams, Forward: f.forward}
	from := newConfigured(c, of)
	r.cors, r.pages, r.maintenance = from.cors, from.pages, from.maintenance
	err := b.features.apply(r, from)
	if err != nil {
		return nil, err
	}
	if r.logFields, err = newLogFields(c.LogFields, from.pattern); err != nil {
		return nil, fmt.Errorf("route %s: %w", c.Match, err)
	}
	t.restricted = t.restricted || r.restricts
	t.conditions = t.conditions || r.when != nil
	t.cors = t.cors || r.cors != nil
	return r, nil
}

// mostInFlight returns how many requests may be in flight at most, so that each has a
// connection to an upstream and, if the configuration has no limit, enough memory.
func (b *tableBuilder) mostInFlight(cfg *config.Config) int {
	most := b.files.Upstreams
	if slices.ContainsFunc(cfg.Routes, func(r config.Route) bool { return r.Mirror != nil }) {
		most = max(1, most-b.features.mirror.Max())
	}
	if b.fitting > 0 && cfg.Limits.InFlight <= 0 {
		most = min(most, b.fitting)
	}
	return most
}

// redirectRoute is the route label in the metrics of all redirects of a single
// path, and of the prefixes after the first namedRedirects. A redirects file has
// thousands of lines, and each route label takes several time series.
const (
	redirectRoute  = "redirects"
	namedRedirects = 100
)

// addRedirects adds the redirects of the tables' configuration to the routes.
func (b *tableBuilder) addRedirects(routes *routeList, t *tables) error {
	named := 0
	for _, line := range t.config.Redirects {
		from, refused := redirect.ParseSource(line.From)
		if refused != nil {
			return fmt.Errorf("redirect %q: %s", line.From, refused.What)
		}
		target, refused := redirect.ParseTarget(line.To, line.Status, from)
		if refused != nil {
			return fmt.Errorf("redirect %q: %s", line.From, refused.What)
		}
		label := redirectRoute
		if from.Prefix && named < namedRedirects {
			label = line.From
			named++
		}
		routes.add(from.Pattern, &route{
			label: line.From, action: redirects.To(target), counts: b.metrics.requests.Route(label),
			events: t.defaultEvents, pages: t.pages, responses: t.responses,
			position: config.Position{File: line.File, Line: line.Line},
		})
	}
	return nil
}
