package front

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// A Door is a front door: listeners, and tables that say where requests go.
// [New] makes it, [Door.Listen] binds it, [Door.Serve] runs it. Its methods
// may be called by several goroutines.
type Door struct {
	cfg      *config.Config // as New was given; Reload changes tables alone
	log      *log.Logger
	out      Output
	cost     *logCost
	events   eventSet // of requests that have no route
	tables   atomic.Pointer[tables]
	metrics  *metrics
	server   *server
	files    fileBudget
	shared   *proxy.Conns // all connections to upstreams
	draining atomic.Bool
	cutting  atomic.Bool // the drain's time is up
}

// tables are what a reload replaces, as one.
type tables struct {
	routes    *router.Table[*route]
	upstreams []*proxy.Upstream
	trust     proxy.Trust
	gate      *gate                // of all requests
	gates     map[string]*gate     // by route, and that of all requests
	limits    config.RequestLimits // of requests that have no route
}

// A route is where the requests that match a pattern go: to an upstream, or
// back to the client with a redirect.
type route struct {
	pattern  string
	redirect *redirect.Target // nil for a route to an upstream, which the other fields are about
	counts   *routeCounts
	upstream string
	timeout  time.Duration
	upgrade  []string
	events   eventSet
	proxy    *proxy.Proxy
	servers  map[*proxy.Server]prometheus.Observer // of the upstream: how long they take
	gate     *gate
	limits   config.RequestLimits // of each of its requests
}

// An Output is where a door's events go: a [Log], or one of the sinks of package
// sink.
type Output interface {
	io.Writer
	Stats() sink.Stats
}

// New makes a door of a configuration that config.Parse has accepted. Its events
// go to out, which the caller closes after Serve has returned. It raises the
// process's limit of open files as far as that goes.
func New(cfg *config.Config, out Output) (*Door, error) {
	level, err := log.ParseLevel(cfg.Log.Level)
	if err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	format, err := log.ParseFormat(cfg.Log.Format)
	if err != nil {
		return nil, fmt.Errorf("log.format: %w", err)
	}
	d := &Door{
		cfg:   cfg,
		log:   log.New(out, log.Options{Namespace: cfg.Namespace, Level: level, Format: format, Redact: cfg.Log.Secrets()}),
		out:   out,
		cost:  costOf(out),
		files: newFileBudget(cfg.Limits.MaxConnections),
	}
	d.events = d.eventSet(cfg.Log.Events)
	d.metrics = newMetrics(logCollector{out: out, cost: d.cost})
	d.shared = proxy.NewConns(d.files.upstreams)
	d.server = newServer(d)
	t, err := d.build(cfg, nil)
	if err != nil {
		return nil, err
	}
	d.tables.Store(t)
	d.metrics.registry.MustRegister(limitCollector{d}, upstreamCollector{d})
	return d, nil
}

// build makes tables of a configuration, in the place of others that have the
// given gates.
func (d *Door) build(cfg *config.Config, before map[string]*gate) (_ *tables, err error) {
	t := &tables{
		trust:  proxy.Trust(cfg.TrustedProxies),
		limits: inherit(config.RequestLimits{}, cfg.Limits.RequestLimits),
		gates:  make(map[string]*gate),
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	all := cfg.Limits.RequestLimits
	if all.InFlight == 0 || all.InFlight > d.files.upstreams {
		all.InFlight = d.files.upstreams // each needs a connection
	}
	t.gate = d.newGate(allRoutes, all, before)
	t.gates[allRoutes] = t.gate
	proxies := make(map[string]*proxy.Proxy, len(cfg.Upstreams))
	servers := make(map[string]map[*proxy.Server]prometheus.Observer, len(cfg.Upstreams))
	for _, u := range cfg.Upstreams {
		up, err := proxy.NewUpstream(u.Name, u.Servers...)
		if err != nil {
			return nil, err
		}
		up.ConnectRetry, up.MaxFields = u.ConnectRetry, u.ResponseFields
		up.Share(d.shared)
		t.upstreams = append(t.upstreams, up)
		proxies[u.Name] = &proxy.Proxy{Upstream: up, Trust: t.trust, Hook: d.observe}
		servers[u.Name] = d.metrics.servers(up)
	}
	constraints := make(router.Constraints, len(cfg.Constraints))
	for name, expr := range cfg.Constraints {
		c, err := router.CompileRegexp(expr)
		if err != nil {
			return nil, fmt.Errorf("constraint %s: %w", name, err)
		}
		constraints[name] = c
	}
	entries := make([]router.Entry[*route], len(cfg.Routes))
	for i, r := range cfg.Routes {
		if proxies[r.To] == nil {
			return nil, fmt.Errorf("route %s: there is no upstream %q", r.Match, r.To)
		}
		value := &route{
			pattern: r.Match, upstream: r.To, timeout: r.Timeout, upgrade: r.Upgrade,
			proxy: proxies[r.To], counts: d.metrics.route(r.Match),
			servers: servers[r.To],
			events:  d.eventSet(cmp.Or(r.Events, d.cfg.Log.Events)),
			gate:    d.newGate(r.Match, r.Limits, before),
			limits:  inherit(r.Limits, cfg.Limits.RequestLimits),
		}
		t.gates[r.Match] = value.gate
		entries[i] = router.Entry[*route]{Pattern: r.Match, Value: value}
	}
	redirects, err := d.redirects(cfg.Redirects)
	if err != nil {
		return nil, err
	}
	entries = append(entries, redirects...)
	t.routes, err = router.NewTable(constraints, entries)
	return t, err
}

// redirectRoute is the route in the metrics of all redirects of a single path,
// and of the prefixes beyond the first namedRedirects. A file has thousands of
// lines, and each route takes several time series.
const (
	redirectRoute  = "redirects"
	namedRedirects = 100
)

// redirects returns the entries of the routing table for redirects.
func (d *Door) redirects(lines []config.Redirect) ([]router.Entry[*route], error) {
	entries := make([]router.Entry[*route], len(lines))
	named := 0
	for i, line := range lines {
		from, refused := redirect.ParseSource(line.From)
		if refused != nil {
			return nil, fmt.Errorf("redirect %q: %s", line.From, refused.What)
		}
		target, refused := redirect.ParseTarget(line.To, line.Status, from)
		if refused != nil {
			return nil, fmt.Errorf("redirect %q: %s", line.From, refused.What)
		}
		label := redirectRoute
		if from.Prefix && named < namedRedirects {
			label = line.From
			named++
		}
		entries[i] = router.Entry[*route]{
			Pattern: from.Pattern,
			Value:   &route{pattern: line.From, redirect: target, counts: d.metrics.route(label), events: d.events},
		}
	}
	return entries, nil
}

// close closes the connections to upstreams that are not in use, and keeps no
// more.
func (t *tables) close() {
	for _, up := range t.upstreams {
		up.Close()
	}
}

// serve lets one request through the door.
func (d *Door) serve(x *exchange) {
	x.began = time.Now()
	d.metrics.inFlight.Add(1)
	defer d.finish(x)
	t := d.tables.Load()
	x.pacer.bind(&x.Exchange, &d.draining)
	x.pacer.keep(&t.limits)
	x.Header = x.trace.read(x.Header)
	x.client = t.trust.Client(x.Peer, x.Header)
	x.Send = append(x.Send, proxy.Field{Name: requestIDField, Value: x.trace.id},
		proxy.Field{Name: traceParentField, Value: x.trace.parent})
	x.Answer = append(x.Answer, proxy.Field{Name: requestIDField, Value: x.trace.id})
	status, why := d.admit(x)
	if x.events = d.events; status == 0 {
		d.find(x, t)
	}
	d.logReceived(x)
	switch {
	case status != 0:
		d.refuse(x, status, why)
	case x.Method == "TRACE":
		d.refuse(x, 405, "TRACE would show what proxies add", proxy.Field{Name: "Allow", Value: passing})
	case x.Target == "*":
		d.refuse(x, 204, "", proxy.Field{Name: "Allow", Value: passing})
	default:
		d.pass(x, t)
	}
}

// passing are the methods that pass the door where no route is concerned.
const passing = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// admit checks what of a request must be beyond doubt before it is routed. It
// returns the status to refuse it with and why, or 0.
func (d *Door) admit(x *exchange) (status int, why string) {
	x.path, x.query, _ = strings.Cut(x.Target, "?")
	name, port, ok := target.SplitHost(x.Host)
	x.describe(name, port)
	switch {
	case x.ambiguity != "":
		return 400, x.ambiguity
	case !ok:
		return 400, "the Host is missing, ambiguous or no host"
	case x.Method == "CONNECT":
		return 501, "this is no forward proxy"
	case x.Target == "*" && x.Method == "OPTIONS":
		return 0, ""
	case x.path == "" || x.path[0] != '/':
		return 400, "the target is not a path"
	}
	if why := target.CheckPath(x.path); why != "" {
		return 400, why
	}
	if strings.IndexByte(x.query, '#') >= 0 {
		return 400, "the target has a fragment"
	}
	return 0, ""
}

// find looks the route up. The request has it as x.found until the rate of all
// requests lets it reach its route.
func (d *Door) find(x *exchange, t *tables) {
	var e *router.Entry[*route]
	if e, x.allow = t.routes.Lookup(x.Method, x.http.Host, "", x.path, &x.params); e != nil {
		x.found, x.events = e.Value, e.Value.events
	}
}

// pass hands the request to the upstream of its route.
func (d *Door) pass(x *exchange, t *tables) {
	if fields := t.gate.allow(x); fields != nil {
		d.refuseFor(x, 429, limitRate, allRoutes, "more requests than the rate allows", fields...)
		return
	}
	switch {
	case x.found != nil:
		x.route = x.found
		if x.route.redirect != nil {
			d.redirect(x)
			return
		}
		x.Timeout, x.Upgrade = x.route.timeout, x.route.upgrade
		if d.admitted(x, t) {
			x.route.proxy.Serve(&x.Exchange)
		}
	case x.allow == "":
		d.refuse(x, 404, "no route")
	case x.Method == "OPTIONS":
		d.refuse(x, 204, "", proxy.Field{Name: "Allow", Value: withOptions(x.allow)})
	default:
		d.refuse(x, 405, "no route for the method", proxy.Field{Name: "Allow", Value: withOptions(x.allow)})
	}
}

// redirect responds with the redirect that a request has reached.
func (d *Door) redirect(x *exchange) {
	r := x.route.redirect
	d.respond(x, r.Status, "", proxy.Field{Name: "Location", Value: r.Location(x.path, x.query)})
}

// withOptions adds OPTIONS, which the door answers itself, to a list of
// methods.
func withOptions(allow string) string {
	if slices.Contains(strings.Split(allow, ", "), "OPTIONS") {
		return allow
	}
	return allow + ", OPTIONS"
}

// waitedFor is the longest body that is read before its request is refused, so
// that the connection can carry another one.
const waitedFor = 16 << 10

// refuse answers instead of an upstream. why is for the log.
func (d *Door) refuse(x *exchange, status int, why string, fields ...proxy.Field) {
	x.refusal = why
	text := ""
	if status == 400 {
		text = "400 Bad Request: " + why
	}
	d.respond(x, status, text, fields...)
}

// respond answers with a status, and a text or its standard one.
func (d *Door) respond(x *exchange, status int, text string, fields ...proxy.Field) {
	if x.Length < 0 || x.Length > waitedFor {
		x.Client.Duplex() // the answer does not wait for the body
	}
	if x.Respond(status, text, fields...) != nil {
		x.Cut = true
	}
}

// observe is told by a proxy what happens to an exchange.
func (d *Door) observe(px *proxy.Exchange, e proxy.Event) {
	x := px.Context.(*exchange)
	switch e {
	case proxy.Sending:
		d.logProxying(x)
	case proxy.PassedOver:
		d.metrics.countFailure(x)
	case proxy.Waiting:
		d.metrics.waits.WithLabelValues(x.route.upstream).Inc()
	}
}

// finish closes the books of a request, whichever way it ended: after a panic,
// too, which ends that request alone.
func (d *Door) finish(x *exchange) {
	if value := recover(); value != nil {
		d.rescue(x, newPanicError(value))
	}
	x.leaveGates()
	if d.cutting.Load() {
		x.blameDrain()
	}
	d.blameLimit(x)
	ended := time.Now()
	d.logCompleted(x, ended)
	d.metrics.count(x, ended.Sub(x.began))
	d.metrics.inFlight.Add(-1)
}

// flushWait is how long a panic may wait for its event to be written.
const flushWait = 250 * time.Millisecond

// flushLog has the events of before written: what follows a panic may end the
// process.
func (d *Door) flushLog() {
	if l, ok := d.out.(interface{ Flush(context.Context) error }); ok {
		ctx, cancel := context.WithTimeout(context.Background(), flushWait)
		defer cancel()
		l.Flush(ctx) // what is left still waits
	}
}

// rescue answers for code that panicked.
func (d *Door) rescue(x *exchange, failure *panicError) {
	x.Err = failure
	d.log.Error("panic while serving a request").TraceID(x.trace.id).Err(failure).Send()
	d.flushLog()
	if x.Began || x.Upgraded || x.Respond(500, "") != nil {
		x.Cut = true
	}
}
