package upstream

import (
	"cmp"
	"context"
	"sync"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/health"
	"github.com/weirhq/weir/front/internal/names"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/resolve"
	"github.com/weirhq/weir/log"
)

// An Upstream is an upstream of a configuration. Between [Set.Start] and [Set.Stop], its servers are kept up to date.
type Upstream struct {
	*proxying.Upstream
	About  string  // its name, its servers and its settings, for people
	Counts *Counts // of exchanges with it

	metrics *Metrics
	logger  func() *log.Logger
	names   names.Watcher
	events  map[string]*namePace // by the URL of the server
	listed  []proxying.Endpoint  // the servers as configured, or in the list at the start
	list    *list                // nil if the servers are in the configuration
	health  health.Monitor
	state   stateEvents // of the upstream

	running sync.WaitGroup
	ctx     context.Context // until the end
	cancel  context.CancelFunc
}

// newUpstream returns an upstream, which follows that of another configuration unless before is nil. It has the servers
// that are known.
func newUpstream(c *upstreams.Upstream, dns *config.DNS, parts Parts, before *Upstream) (*Upstream, error) {
	options := optionsOf(c)
	options.Conns, options.Prepare = parts.Conns, parts.Metrics.prepare(c.Name)
	up, err := proxying.NewUpstream(c.Name, options)
	if err != nil {
		return nil, err
	}
	u := &Upstream{
		Upstream: up, About: describe(c, &options), Counts: newCounts(parts.Metrics, c.Name), metrics: parts.Metrics, logger: parts.Logger,
		events: make(map[string]*namePace),
	}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.names = names.Watcher{
		Resolver: &resolve.Resolver{Servers: dns.Servers}, MaxTTL: cmp.Or(dns.MaxTTL, names.DefaultMaxTTL),
		Apply: u.setServers, Report: u.resolved,
	}
	u.health = health.Monitor{
		Upstream: up, Check: checkOf(c.Health), Outliers: outliersOf(c.Outliers), StateOf: healthOf,
		Changed:  u.stateChanged,
		Checked:  func(result string) { u.metrics.checks.WithLabelValues(up.Name(), result).Inc() },
		Detected: func(by, result string) { u.metrics.outliers.WithLabelValues(up.Name(), by, result).Inc() },
	}
	if err := u.firstServers(c, parts, before); err != nil {
		return nil, err
	}
	return u, nil
}

// firstServers sets the servers that are known: as configured, in the list, or of before.
func (u *Upstream) firstServers(c *upstreams.Upstream, parts Parts, before *Upstream) (err error) {
	u.listed = endpointsOf(c.Servers)
	if c.List != (upstreams.List{}) {
		if u.list, err = newList(c, parts); err != nil {
			return err
		}
		if before != nil {
			u.list.inherit(before.listed, before.list)
		}
		u.list.Apply = u.names.SetSources
		u.listed, _ = u.list.Servers()
	}
	u.names.SetSources(u.listed)
	if before != nil {
		u.names.Inherit(&before.names)
	}
	if u.list != nil && len(u.listed) == 0 {
		return nil // its list is not known yet
	}
	return u.SetServers(u.names.Endpoints())
}

// start starts the work in goroutines.
func (u *Upstream) start() {
	u.running.Go(func() { u.names.Run(u.ctx) })
	u.running.Go(func() { u.health.Run(u.ctx) })
	if u.list != nil {
		u.running.Go(func() { u.list.Follow(u.ctx) })
	}
	if u.health.Check != nil || u.health.Outliers != nil {
		u.running.Go(u.repeatEvents)
	}
}

// setServers replaces the servers after a name was resolved.
func (u *Upstream) setServers(endpoints []proxying.Endpoint) {
	before := u.Servers()
	if err := u.SetServers(endpoints); err != nil {
		u.logger().Error(eventNotResolved).Str("upstream", u.Name()).Err(err).Send()
		return
	}
	u.health.Sync(u.ctx)
	u.metrics.forgetServers(u.Name(), before, u.Servers())
}

// List returns the state of the list of the upstream's servers, or nil if they are in the configuration.
func (u *Upstream) List() *ListState {
	if u.list == nil {
		return nil
	}
	return u.list.state()
}
