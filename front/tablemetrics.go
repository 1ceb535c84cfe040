package front

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/proxying"
)

// limitCollector collects the value of each limit and, if it can be counted, its
// use.
type limitCollector struct {
	metrics   *metrics
	clients   func() int // open connections of clients
	upstreams *proxying.Conns
	tables    func() *tables
}

var (
	limitValue = prometheus.NewDesc("weir_limit_value",
		"The value of a limit, by limit and route: a number, bytes, seconds, or one of these per second.",
		[]string{"limit", "route"}, nil)
	limitInUse = prometheus.NewDesc("weir_limit_in_use",
		"The part of a limit that is in use, by limit and route.", []string{"limit", "route"}, nil)
)

// Describe implements prometheus.Collector.
func (c limitCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c limitCollector) Collect(ch chan<- prometheus.Metric) {
	s := scrape{c.metrics, ch}
	t := c.tables()
	s.gate(t.gate, &t.limits)
	for _, g := range t.gates {
		if g != t.gate {
			s.gate(g, &g.limits)
		}
	}
	s.connections(c, t)
}

// A scrape is one collection of all limits.
type scrape struct {
	metrics *metrics
	metric.Sink
}

// value adds a limit that is set. It also creates the counter of its refusals.
func (s scrape) value(name, route string, value float64) {
	if value > 0 {
		s.Gauge(limitValue, value, name, route)
		s.metrics.refusal(name, route)
	}
}

func (s scrape) inUse(name, route string, n int) {
	s.Gauge(limitInUse, float64(n), name, route)
}

// gate adds the limits of requests.
func (s scrape) gate(g *gate, l *config.RequestLimits) {
	if g.inFlight != nil {
		stats := g.inFlight.Stats()
		s.value(limitInFlight, g.route, float64(stats.Max))
		s.inUse(limitInFlight, g.route, stats.InFlight)
		if g.limits.Queue.Length > 0 {
			s.value(limitQueue, g.route, float64(g.limits.Queue.Length))
			s.inUse(limitQueue, g.route, stats.Waiting)
		}
	}
	if g.rate != nil {
		s.value(limitRate, g.route, float64(time.Second)/float64(g.limits.Rate.Every))
		s.inUse(limitRate, g.route, g.rate.Stats().Keys)
	}
	s.value(limitTotal, g.route, g.total.Seconds())
	s.value(limitBody, g.route, float64(l.Body))
	s.value(limitUpload, g.route, float64(l.UploadRate))
	s.value(limitDownload, g.route, float64(l.DownloadRate))
}

// connections adds the limits of connections and files.
func (s scrape) connections(c limitCollector, t *tables) {
	limits := withDefaults(t.config.Limits)
	s.value(limitConnections, allRoutes, float64(t.files.Clients))
	s.inUse(limitConnections, allRoutes, c.clients())
	s.value(limitPerClient, allRoutes, float64(limits.ConnectionsPerClient))
	open, most := c.upstreams.Stats()
	s.value(limitUpstreams, allRoutes, float64(most))
	s.inUse(limitUpstreams, allRoutes, open)
	s.value(limitFiles, allRoutes, float64(t.files.Files))
	s.inUse(limitFiles, allRoutes, machine.OpenFilesNow())
	s.value(limitHeaders, allRoutes, float64(limits.Head))
	s.value(limitHeaderTime, allRoutes, limits.HeaderTimeout.Seconds())
}
