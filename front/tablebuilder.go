package front

import (
	"cmp"
	"fmt"
	"github.com/weirhq/weir/front/stage"
	"slices"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/coding"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/sharing"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/filebudget"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// A tableBuilder builds tables from a configuration. It has the parts of a Door that
// outlive a reload.
type tableBuilder struct {
	metrics   *metrics
	conns     *proxy.Conns // shared by all upstreams
	mirrors   *mirrors
	passwords *limit.InFlight // that are verified now
	hook      func(*proxy.Exchange, proxy.Event)
	encoders  *coding.Encoders
	logger    func() *log.Logger
	engines   *Engines
	stores    *sharing.Stores

	// Of the configuration:
	files   filebudget.Budget
	fitting int // connections and requests that the memory allows; 0 for no limit
	events  requestEvents
	gates   map[string]*gate // of the tables that are replaced, or nil, like upkeeps

	upkeeps map[string]*upkeep
}

// build returns tables for a configuration.
func (b *tableBuilder) build(cfg *config.Config) (_ *tables, err error) {
	t := &tables{
		config: cfg, files: b.files, fitting: b.fitting, events: b.events, defaultEvents: b.events.set(cfg.Log.Events),
		trust:  proxy.Trust(cfg.TrustedProxies),
		limits: inherit(config.RequestLimits{}, cfg.Limits.RequestLimits),
		gates:  make(map[string]*gate), upkeeps: make(map[string]*upkeep),
		pages: newErrorPages(cfg.ErrorPages),
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if cfg.TLS != nil {
		t.subjectField = cfg.TLS.SubjectHeader
	}
	t.secure = newSecurePolicy(cfg.TLS)
	if cfg.Access != nil {
		t.access = newAccessRule(cfg.Access, b.metrics, allRoutes)
	}
	// Each request in flight needs a connection to an upstream.
	gates := gateBuilder{stores: b.stores, namespace: cfg.Namespace, gates: b.gates, most: b.mostInFlight(cfg)}
	if t.gate, err = gates.newGate(allRoutes, cfg.Limits.RequestLimits); err != nil {
		return nil, err
	}
	t.gates[allRoutes] = t.gate
	upstreams := make(map[string]*stage.Upstream, len(cfg.Upstreams))
	parts := upkeepParts{&cfg.DNS, b.engines, b.metrics, b.logger}
	for _, u := range cfg.Upstreams {
		up, err := newUpstream(&u)
		if err != nil {
			return nil, err
		}
		up.Share(b.conns)
		b.metrics.prepare(up)
		if t.upkeeps[u.Name], err = newUpkeep(up, &u, parts, b.upkeeps[u.Name]); err != nil {
			return nil, err
		}
		t.upstreams = append(t.upstreams, up)
		upstreams[u.Name] = &stage.Upstream{
			Name: u.Name, HTTP2: u.HTTP2, About: describe(&u, up),
			Proxy: &proxy.Proxy{Upstream: up, Trust: t.trust, Fail: respondToFailure, Hook: b.hook},
		}
	}
	constraints := make(router.Constraints, len(cfg.Constraints))
	for name, expr := range cfg.Constraints {
		c, err := router.CompileRegexp(expr)
		if err != nil {
			return nil, fmt.Errorf("constraint %s: %w", name, err)
		}
		constraints[name] = c
	}
	routes := newRouteList(len(cfg.Routes) + len(cfg.Redirects))
	for _, r := range cfg.Routes {
		pattern := template.ParsePattern(r.Match)
		act, err := newAction(r, pattern, upstreams, b.metrics)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Match, err)
		}
		label := routes.label(&r)
		value := &route{
			label: label, when: conditionsOf(r.When), action: act, counts: b.metrics.route(label),
			events:   b.events.set(cmp.Or(r.Events, cfg.Log.Events)),
			limits:   inherit(r.Limits, cfg.Limits.RequestLimits),
			position: r.Position, settings: r.Settings,
			restricts: restricts(&r), plainHTTP: r.PlainHTTP,
		}
		if value.gate, err = gates.newGate(label, r.Limits); err != nil {
			return nil, err
		}
		t.restricted = t.restricted || value.restricts
		t.conditions = t.conditions || value.when != nil
		if r.CORS != nil {
			value.cors, t.cors = newCrossOrigin(r.CORS), true
		}
		value.setErrors(&r, cfg)
		if value.stages, err = b.stages(value, r, cfg, upstreams); err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Match, err)
		}
		if err := value.addEdits(r, pattern); err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Match, err)
		}
		value.logHeaders = b.events.headers.ofRoute(&r)
		if value.logFields, err = newLogFields(r.LogFields, pattern); err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Match, err)
		}
		value.gate.total = r.TotalTimeout
		t.gates[label] = value.gate
		routes.add(r.Match, value)
	}
	if err := b.addRedirects(routes, cfg.Redirects, t.defaultEvents); err != nil {
		return nil, err
	}
	t.routes, err = router.NewTable(constraints, routes.entries)
	return t, err
}

// mostInFlight returns how many requests may be in flight at most, so that each has a
// connection to an upstream and, if the configuration has no limit, enough memory.
func (b *tableBuilder) mostInFlight(cfg *config.Config) int {
	most := b.files.Upstreams
	if slices.ContainsFunc(cfg.Routes, func(r config.Route) bool { return r.Mirror != nil }) {
		most = max(1, most-int(b.mirrors.slots.max))
	}
	if b.fitting > 0 && cfg.Limits.InFlight <= 0 {
		most = min(most, b.fitting)
	}
	return most
}

// stages returns the stages of a route, in the order in which requests pass them.
func (b *tableBuilder) stages(
	of *route, r config.Route, cfg *config.Config, upstreams map[string]*stage.Upstream,
) (stages []stage.Stage, err error) {
	if c := newCompression(&r, cfg.Compress, b.encoders, b.metrics.notCompressed); c != nil {
		stages = append(stages, c) // next to the client, so that it gets the response of any other stage
	}
	if r.Access != nil {
		stages = append(stages, newAccessRule(r.Access, b.metrics, of.label))
	}
	if of.cors != nil {
		stages = append(stages, of.cors)
	}
	if m := cmp.Or(r.Maintenance, cfg.Maintenance); m != nil && m.Active {
		stages = append(stages, newMaintenance(m))
	}
	if r.BasicAuth != nil {
		auth, err := newBasicAuth(r.BasicAuth, b.metrics, b.passwords, of.label)
		if err != nil {
			return nil, err
		}
		stages = append(stages, auth)
	}
	if r.ForwardAuth != nil {
		auth, err := newForwardAuth(r.ForwardAuth, b.metrics, upstreams, of.label)
		if err != nil {
			return nil, err
		}
		stages = append(stages, auth)
	}
	if r.Mirror != nil {
		m, err := newMirror(of.label, r, upstreams, b.mirrors, b.metrics)
		if err != nil {
			return nil, err
		}
		stages = append(stages, m)
	}
	if e := cmp.Or(r.ErrorPages, cfg.ErrorPages); e != nil && e.Intercept {
		stages = append(stages, interception{of.pages})
	}
	return stages, nil
}

// redirectRoute is the route label in the metrics of all redirects of a single
// path, and of the prefixes after the first namedRedirects. A redirects file has
// thousands of lines, and each route label takes several time series.
const (
	redirectRoute  = "redirects"
	namedRedirects = 100
)

// addRedirects adds the redirects to the routes.
func (b *tableBuilder) addRedirects(routes *routeList, lines []config.Redirect, events eventSet) error {
	named := 0
	for _, line := range lines {
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
			label: line.From, action: redirectTo{target}, counts: b.metrics.route(label), events: events,
			position: line.Position,
		})
	}
	return nil
}
