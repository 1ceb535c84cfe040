package front

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/machine"
)

// refusal returns the counter of what a limit refuses.
func (m *metrics) refusal(name limitName, route string) prometheus.Counter {
	return m.refusals.WithLabelValues(string(name), route)
}

// limitCollector shows each limit's value and, where there is such a thing, how
// much of it is in use.
type limitCollector struct {
	door *Door
}

var (
	limitValue = prometheus.NewDesc("weir_limit_value",
		"What a limit is set to, by limit and route: a number, bytes, seconds, or of these per second.", []string{"limit", "route"}, nil)
	limitInUse = prometheus.NewDesc("weir_limit_in_use",
		"How much of a limit is in use, by limit and route.", []string{"limit", "route"}, nil)
)

// Describe implements prometheus.Collector.
func (c limitCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- limitValue
	ch <- limitInUse
}

// Collect implements prometheus.Collector.
func (c limitCollector) Collect(ch chan<- prometheus.Metric) {
	d := c.door
	s := scrape{d.metrics, ch}
	t := d.tables.Load()
	s.gate(t.gate, &t.limits)
	for _, g := range t.gates {
		if g != t.gate {
			s.gate(g, &g.limits)
		}
	}
	s.connections(d)
}

// A scrape is one reading of the limits.
type scrape struct {
	metrics *metrics
	ch      chan<- prometheus.Metric
}

// value shows a limit that is set, and the count of its refusals, 0 too.
func (s scrape) value(name limitName, route string, value float64) {
	if value > 0 {
		s.ch <- prometheus.MustNewConstMetric(limitValue, prometheus.GaugeValue, value, string(name), route)
		s.metrics.refusal(name, route)
	}
}

func (s scrape) inUse(name limitName, route string, n int) {
	s.ch <- prometheus.MustNewConstMetric(limitInUse, prometheus.GaugeValue, float64(n), string(name), route)
}

// gate shows the limits of requests.
func (s scrape) gate(g *gate, l *config.RequestLimits) {
	if g.inFlight != nil {
		stats := g.inFlight.Stats()
		s.value(limitInFlight, g.route, float64(g.limits.InFlight))
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
	s.value(limitBody, g.route, float64(l.Body))
	s.value(limitUpload, g.route, float64(l.UploadRate))
	s.value(limitDownload, g.route, float64(l.DownloadRate))
}

// connections shows the limits of connections and files.
func (s scrape) connections(d *Door) {
	limits := withDefaults(d.cfg.Limits)
	s.value(limitConnections, allRoutes, float64(d.files.clients))
	s.inUse(limitConnections, allRoutes, d.server.conns.len())
	s.value(limitPerClient, allRoutes, float64(limits.ConnectionsPerClient))
	open, most := d.shared.Stats()
	s.value(limitUpstreams, allRoutes, float64(most))
	s.inUse(limitUpstreams, allRoutes, open)
	s.value(limitFiles, allRoutes, float64(d.files.files))
	s.inUse(limitFiles, allRoutes, machine.OpenFilesNow())
	s.value(limitHeaders, allRoutes, float64(limits.Headers))
	s.value(limitHeaderTime, allRoutes, limits.HeaderTimeout.Seconds())
}
