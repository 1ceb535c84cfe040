package front

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/health"
	"github.com/weirhq/weir/front/internal/names"
	"github.com/weirhq/weir/internal/resolve"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
)

// An upkeep keeps the servers of one upstream up to date, from the start of the front door, or
// the reload, until the drain or the next reload.
type upkeep struct {
	up      *proxy.Upstream
	metrics *metrics
	logger  func() *log.Logger
	names   names.Watcher
	events  map[string]*namePace // by the URL of the server
	listed  []proxy.Endpoint     // the servers as configured, or in the list at the start
	list    *listUpkeep          // nil if the servers are in the configuration
	health  health.Monitor
	state   stateEvents // of the upstream

	running sync.WaitGroup
	ctx     context.Context // until the end
	cancel  context.CancelFunc
}

// upkeepParts are the parts that the upkeeps of all upstreams share.
type upkeepParts struct {
	dns     *config.DNS
	engines *Engines
	metrics *metrics
	logger  func() *log.Logger
}

// newUpkeep returns the upkeep of an upstream, which follows that of another configuration unless
// before is nil. It gives the upstream the servers that are known.
func newUpkeep(up *proxy.Upstream, u *config.Upstream, parts upkeepParts, before *upkeep) (*upkeep, error) {
	k := &upkeep{up: up, metrics: parts.metrics, logger: parts.logger, events: make(map[string]*namePace)}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.names = names.Watcher{
		Resolver: &resolve.Resolver{Servers: parts.dns.Servers}, MaxTTL: cmp.Or(parts.dns.MaxTTL, names.DefaultMaxTTL),
		Apply: k.setServers, Report: k.resolved,
	}
	k.health = health.Monitor{
		Upstream: up, Check: checkOf(u.Health), Outliers: outliersOf(u.Outliers), StateOf: healthOf,
		Changed:  k.stateChanged,
		Checked:  func(result string) { k.metrics.checks.WithLabelValues(up.Name(), result).Inc() },
		Detected: func(by, result string) { k.metrics.outliers.WithLabelValues(up.Name(), by, result).Inc() },
	}
	servers := endpointsOf(u.Servers)
	if u.List != (config.ServerList{}) {
		var err error
		if k.list, err = newListUpkeep(u, parts.engines, parts.metrics, parts.logger); err != nil {
			return nil, err
		}
		if before != nil {
			k.list.inherit(before.listed, before.list)
		}
		k.list.Apply = k.names.SetSources
		servers, _ = k.list.Servers()
	}
	k.listed = servers
	k.names.SetSources(servers)
	if before != nil {
		k.names.Inherit(&before.names)
	}
	if k.list != nil && len(servers) == 0 {
		return k, nil // its list is not known yet
	}
	return k, up.SetServers(k.names.Endpoints())
}

// start starts the work in goroutines.
func (k *upkeep) start() {
	k.running.Go(func() { k.names.Run(k.ctx) })
	k.running.Go(func() { k.health.Run(k.ctx) })
	if k.list != nil {
		k.running.Go(func() { k.list.Follow(k.ctx) })
	}
	if k.health.Check != nil || k.health.Outliers != nil {
		k.running.Go(k.repeatEvents)
	}
}

// stop ends the work and waits for the goroutines.
func (k *upkeep) stop() {
	k.cancel()
	k.running.Wait()
}

// setServers replaces the servers after a name was resolved.
func (k *upkeep) setServers(endpoints []proxy.Endpoint) {
	before := k.up.Servers()
	if err := k.up.SetServers(endpoints); err != nil {
		k.logger().Error(eventNotResolved).Str("upstream", k.up.Name()).Err(err).Send()
		return
	}
	k.health.Sync(k.ctx)
	k.metrics.forgetServers(k.up.Name(), before, k.up.Servers())
}

// The events of names.
const (
	eventResolved    = "upstream name resolved"
	eventNotResolved = "upstream name not resolved"
)

// A namePace is the pace of the events of a name, and what the last one has reported.
type namePace struct {
	eventpace.Pace
	failing bool
}

// resolved counts and logs the result of resolving a name. It logs changes and failures.
func (k *upkeep) resolved(r names.Resolution) {
	if r.Gone {
		delete(k.events, r.URL)
		return
	}
	result := resolvedAll
	if r.Err != nil {
		result = resolvedNot
	}
	k.metrics.resolutions.WithLabelValues(k.up.Name(), result).Inc()
	p := k.events[r.URL]
	if p == nil {
		p = new(namePace)
		k.events[r.URL] = p
	}
	news := r.Err != nil || p.failing || len(r.Added)+len(r.Removed) > 0
	unlogged, ok := p.Next(time.Now(), news)
	if !ok {
		return
	}
	p.failing = r.Err != nil
	e := k.logger().Info(eventResolved)
	if r.Err != nil {
		e = k.logger().Warn(eventNotResolved).Err(r.Err)
	}
	e = e.Str("upstream", k.up.Name()).Str("server", r.URL).Int("addresses", r.Addrs)
	if len(r.Added) > 0 {
		e.Strs("added", r.Added)
	}
	if len(r.Removed) > 0 {
		e.Strs("removed", r.Removed)
	}
	if r.LeftOut > 0 {
		e.Int("left_out", r.LeftOut)
	}
	if unlogged > 0 {
		e.Int("unlogged", unlogged)
	}
	e.Send()
}

// The values of the label result of resolutions.
const (
	resolvedAll = "resolved"
	resolvedNot = "failed"
)

// healthOf returns the health of a server.
func healthOf(s *proxy.Server) *health.State { return &s.Context.(*serverContext).health }

// The events of health.
const (
	eventServerState   = "server state changed"
	eventUpstreamState = "upstream state changed"
)

// stateChanged logs a change of the state of a server or of the upstream.
func (k *upkeep) stateChanged(c health.Change) {
	events := &k.state
	if c.Server != nil {
		events = &c.Server.Context.(*serverContext).events
	}
	k.logState(events, &c)
}

func (k *upkeep) logState(events *stateEvents, c *health.Change) {
	logged, unlogged, ok := events.note(c)
	if !ok {
		return
	}
	l := k.logger()
	e := l.Info(eventServerState)
	switch {
	case logged.To == health.Panic:
		e = l.Error(eventUpstreamState)
	case logged.Server == nil:
		e = l.Info(eventUpstreamState)
	case logged.To != proxy.Usable:
		e = l.Warn(eventServerState)
	}
	e = e.Str("upstream", k.up.Name())
	if logged.Server != nil {
		e = e.Str("server", logged.Server.URL())
	}
	e = e.Str("from", string(logged.From)).Str("to", string(logged.To)).Str("reason", logged.Reason)
	if unlogged > 0 {
		e = e.Int("unlogged", unlogged)
	}
	e.Send()
}

// repeatEvents logs, from time to time, the changes that were too frequent to be logged.
func (k *upkeep) repeatEvents() {
	ticker := time.NewTicker(eventpace.Interval / 3)
	defer ticker.Stop()
	for {
		select {
		case <-k.ctx.Done():
			return
		case <-ticker.C:
		}
		k.logState(&k.state, nil)
		for _, s := range k.up.Servers() {
			k.logState(&s.Context.(*serverContext).events, nil)
		}
	}
}
