package front

import (
	"cmp"
	"context"
	"io"
	stdlog "log"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/dashboard"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/panicked"
	"github.com/weirhq/weir/front/internal/recent"
	"github.com/weirhq/weir/front/internal/sharing"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/traceto"
	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/front/internal/wire"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/filebudget"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/log"
)

// A Door is a front door: listeners, and tables with the destination of each
// request. Make it with [New], then call [Door.Listen] and [Door.Serve]. Its
// methods may be called concurrently.
type Door struct {
	out       logto.Output
	spans     *logto.Log
	cost      *logcost.Cost
	metrics   *metrics
	dashboard *dashboard.Dashboard
	failures  recent.Failures
	tap       recent.Tap
	files     filebudget.Budget // with the connections of the first configuration
	memory    int64             // that the process may use; 0 for no limit
	conns     *proxying.Conns   // all connections to upstreams
	features  *features
	stores    *sharing.Stores // of shared limits
	builder   tableBuilder
	certs     *certificates
	tables    atomic.Pointer[tables]
	errorLog  *stdlog.Logger // of the admin listener's net/http
	server    *wire.Server
	rules     atomic.Pointer[handshake.Policy] // for clients' certificates; nil if no host has one
	draining  atomic.Bool
	cutting   atomic.Bool // drain.timeout is over

	preparing sync.Mutex // held during a reload or an upgrade, which a disk can hold up; locked before reloading
	reloading sync.Mutex // held while the configuration or the set of listeners changes; never while a disk is used
}

// InFlight returns the number of requests in flight.
func (d *Door) InFlight() int { return int(d.metrics.inFlight.Load()) }

// New makes a front door without engines. See [Engines.New].
func New(cfg *config.Config, out logto.Output) (*Door, error) { return Engines{}.New(cfg, out) }

// New makes a front door from a configuration that [config.Parse] has accepted.
// It writes its events to out, which the caller closes after Serve has returned.
// It raises the process's limit of open files as far as possible.
func (e Engines) New(cfg *config.Config, out logto.Output) (*Door, error) {
	d := &Door{out: out, cost: logto.CostOf(out), memory: memoryOfProcess()}
	d.files = filebudget.Raise(cmp.Or(cfg.Limits.MaxConnections, FittingConnections(cfg, d.memory)))
	d.metrics = newMetrics(logto.Collector{Out: out, Cost: d.cost})
	d.dashboard = dashboard.New(dashboard.Sources{
		Metrics: d.metrics.registry, Draining: d.draining.Load, Failures: &d.failures, LogFile: d.logFile, Tap: &d.tap, Untailable: d.untailable,
		LogError: d.logError,
		Writable: func() bool { return d.adminToken() != "" },
	})
	d.conns = proxying.NewConns(d.files.Upstreams)
	d.stores = &sharing.Stores{Open: e.Limits, Changed: func(store string, c lease.Condition) {
		logStore(d.logger(), store, c)
	}}
	d.features = newFeatures(stage.Door{
		Metrics: d.metrics.registry, Log: d.logger, Refused: d.metrics.accessRefusal, Limited: d.metrics.refusal,
	}, d.files.Upstreams)
	d.builder = tableBuilder{
		metrics: d.metrics, features: d.features, hook: d.observe,
		stores: d.stores,
		shared: upstream.Parts{Conns: d.conns, Metrics: d.metrics.upstreams, Logger: d.logger, Lists: e.Servers},
	}
	events, err := newRequestEvents(cfg, out, d.eventParts())
	if err != nil {
		return nil, err
	}
	if d.spans, err = traceto.Open(cfg.Traces.To, e.Traces, d.logger); err != nil {
		return nil, err
	}
	t, err := d.build(cfg, events, newTracer(cfg, d.spans))
	if err != nil {
		d.spans.Close(context.Background()) // nothing was written
		return nil, err
	}
	d.tables.Store(t)
	for _, g := range t.gates {
		g.apply()
	}
	d.certs = newCertificates(d.logger)
	d.errorLog = stdlog.New(io.Discard, "", 0)
	d.server = wire.New(d.wireSettings())
	d.useLimits(t)
	d.useTLS(cfg)
	d.metrics.registry.MustRegister(traceto.Collector{Out: d.spans}, d.certs, upstream.Collector{InUse: d.upstreams}, sharedCollector{d.stores}, engineCollector{d.server}, limitCollector{
		metrics: d.metrics, clients: d.server.Connections, upstreams: d.conns, tables: d.tables.Load,
	})
	return d, nil
}

func (d *Door) eventParts() eventParts {
	return eventParts{d.cost, &d.metrics.held, &d.failures, &d.tap}
}

// build returns the tables of a configuration with the given events and tracer.
func (d *Door) build(cfg *config.Config, events requestEvents, tracer *tracer) (*tables, error) {
	b := d.builder
	b.tracer = tracer
	b.fitting, b.events = FittingConnections(cfg, d.memory), events
	b.files = d.files.Share(cmp.Or(cfg.Limits.MaxConnections, b.fitting))
	if now := d.tables.Load(); now != nil {
		b.gates, b.before = now.gates, now.upstreams
	}
	return b.build(cfg)
}

// logger returns the logger of the configuration in use.
func (d *Door) logger() *log.Logger { return d.tables.Load().events.log }

// upstreams returns the upstreams of the configuration in use.
func (d *Door) upstreams() upstream.Set { return d.tables.Load().upstreams }

// serve handles one request.
func (d *Door) serve(x *exchange) {
	x.Arrived = time.Now()
	d.metrics.inFlight.Add(1)
	defer d.finish(x)
	t := d.tables.Load()
	x.wire.Pacer.Bind(&x.Exchange.Exchange)
	x.wire.Pacer.SetLimits(paceOf(&t.limits))
	x.Pages = t.pages
	x.Header, x.ID = x.trace.read(x.Header), x.trace.id
	x.ClientAddr = t.trust.Client(x.Peer, x.Header)
	if t.tracer != nil {
		t.tracer.begin(x)
	}
	x.Send = append(x.Send, proxying.Field{Name: requestIDField, Value: x.trace.id},
		proxying.Field{Name: traceParentField, Value: x.trace.parent})
	x.Response = append(x.Response, proxying.Field{Name: requestIDField, Value: x.trace.id})
	if x.wire.AltSvc != "" {
		x.Response = append(x.Response, proxying.Field{Name: "Alt-Svc", Value: x.wire.AltSvc})
	}
	d.examine(x, t)
	t.events.received(x)
	for _, respond := range steps {
		if respond(d, x, t) {
			return
		}
	}
	d.handle(x, t)
}

// validate checks the parts of a request that must be unambiguous before it is
// routed. It returns the status and the reason of a refusal, or 0.
func validate(x *exchange) (status int, why string) {
	x.Path, x.Query, _ = strings.Cut(x.Target, "?")
	name, port, ok := target.SplitHost(x.Host)
	x.describe(name, port)
	switch {
	case x.wire.Ambiguity != "":
		return 400, x.wire.Ambiguity
	case !ok:
		return 400, "the Host is missing, ambiguous or invalid"
	case x.Method == "CONNECT":
		return 501, "this is not a forward proxy"
	case x.Target == "*" && x.Method == "OPTIONS":
		return 0, ""
	case x.Path == "" || x.Path[0] != '/':
		return 400, "the target is not a path"
	}
	if why := target.CheckPath(x.Path); why != "" {
		return 400, why
	}
	if strings.IndexByte(x.Query, '#') >= 0 {
		return 400, "the target has a fragment"
	}
	return 0, ""
}

// handle applies the limits of all requests and of the route, which then handles the request. Without a route it
// responds itself.
func (d *Door) handle(x *exchange, t *tables) {
	x.setCORS()
	if t.access != nil && t.access.Apply(x.Exchange) {
		return
	}
	if fields := t.gate.allow(x.Arrived, x.ClientAddr, x.Header); fields != nil {
		d.refuseFor(x, 429, limitRate, allRoutes, "more requests than the rate allows", fields...)
		return
	}
	if x.found != nil {
		x.route, x.Pages = x.found, x.found.pages
	}
	if t.editResponse(x) {
		return
	}
	switch {
	case x.found != nil:
		if x.route.gate == nil || d.admit(x, t) {
			x.route.handle(x.Exchange)
		}
	case x.allow == "":
		x.Refuse(404, "no route")
	case x.Method == "OPTIONS":
		x.Respond(204, "", proxying.Field{Name: "Allow", Value: withOptions(x.allow)})
	default:
		x.Refuse(405, "no route for the method", proxying.Field{Name: "Allow", Value: withOptions(x.allow)})
	}
}

// setCORS sets the fields of CORS of the route, if it has some.
func (x *exchange) setCORS() {
	if x.found != nil && x.found.cors != nil {
		x.found.cors.SetFields(x.Exchange)
	}
}

// editResponse applies response_headers of the route of a request, or those of requests without a route. It reports
// whether it has refused the request, because a field would be too long.
func (t *tables) editResponse(x *exchange) (responded bool) {
	edits := t.responses
	if x.found != nil {
		edits = x.found.responses
	}
	return edits != nil && edits.Apply(x.Exchange)
}

// withOptions adds OPTIONS, to which the front door itself responds, to a list of
// methods.
func withOptions(allow string) string {
	if slices.Contains(strings.Split(allow, ", "), "OPTIONS") {
		return allow
	}
	return allow + ", OPTIONS"
}

// observe is the hook of all proxies.
func (d *Door) observe(px *proxying.Exchange, e proxying.Event) {
	x := of(px)
	if x.spans.traced {
		d.observeTry(x, e)
	}
	switch e {
	case proxying.Sending:
		d.tables.Load().events.proxying(x)
		if x.Mirror != nil {
			x.Mirror.Offer(x.Exchange)
		}
	default:
		x.To.Counts.Observe(px, e)
	}
}

// observeTry begins and ends the spans of a traced request's tries.
func (d *Door) observeTry(x *exchange, e proxying.Event) {
	switch e {
	case proxying.Sending:
	case proxying.Trying:
		x.beginTry()
	default:
		d.tables.Load().tracer.endTry(x)
	}
}

// finish logs and counts a request that has ended. It also recovers a panic, which
// ends only that request.
func (d *Door) finish(x *exchange) {
	if value := recover(); value != nil {
		d.failPanicked(x, panicked.New(value))
	}
	x.leaveGates()
	if d.cutting.Load() {
		x.markDrained()
	}
	d.noteLimit(x)
	ended := time.Now()
	t := d.tables.Load()
	t.events.completed(x, ended)
	if x.spans.traced {
		t.tracer.end(x, ended)
	}
	d.count(x, ended.Sub(x.Arrived))
	d.metrics.inFlight.Add(-1)
	x.reset()
}

// count counts a request that has ended.
func (d *Door) count(x *exchange, took time.Duration) {
	of := d.metrics.requests.Unmatched
	if x.route != nil {
		of = x.route.counts
	}
	exemplar := ""
	if x.spans.traced {
		exemplar = x.trace.w3c()
	}
	of.Count(x.Method, x.Status, took, exemplar)
	if x.To == nil {
		return
	}
	x.To.Counts.Ended(&x.Exchange.Exchange)
	x.To.Counts.Waited(&x.Exchange.Exchange)
	x.To.Counts.Retried(&x.Exchange.Exchange)
	if x.FailedByUpstream() {
		x.To.Counts.Failed(x.Failure().Kind)
	}
}

// flushTimeout is how long a panic waits until its event is written.
const flushTimeout = 250 * time.Millisecond

// flushLog flushes the log after a panic, because the process may end soon.
func (d *Door) flushLog() {
	if l, ok := d.out.(interface{ Flush(context.Context) error }); ok {
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		l.Flush(ctx) // other events remain in the queue
	}
}

// failPanicked ends a request whose handling has panicked: with status 500, or by
// cutting the response.
func (d *Door) failPanicked(x *exchange, failure *panicked.Error) {
	x.Err = failure
	d.logger().Error("panic while serving a request").TraceID(x.trace.id).Err(failure).Send()
	x.Block(d.flushLog)
	began := x.Began || x.Upgraded
	x.Cut = true
	x.EndFilters()
	x.Cut = began || x.RespondError(500, "", nil) != nil
}
