package front

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/proxy"
)

// limitCollector collects the value of each limit and, if it can be counted, its
// use.
type limitCollector struct {
	metrics   *metrics
	clients   func() int // open connections of clients
	upstreams *proxy.Conns
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
		s.inUse(limitRate, g.route, g.clients())
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
	s.value(limitHeaders, allRoutes, float64(limits.Headers))
	s.value(limitHeaderTime, allRoutes, limits.HeaderTimeout.Seconds())
}

// upstreamCollector collects the state of the servers in the current tables, and
// the number of requests that wait for one.
type upstreamCollector struct {
	tables func() *tables
}

var (
	upstreamUp = prometheus.NewDesc("weir_upstream_up",
		"1 if the last attempt to connect to the server succeeded, or none was made; else 0.",
		[]string{"upstream", "server"}, nil)
	serverInFlight = prometheus.NewDesc("weir_upstream_server_in_flight",
		"Requests at the server: from its choice to the end of its response.", []string{"upstream", "server"}, nil)
	serverWeight = prometheus.NewDesc("weir_upstream_server_weight",
		"The weight of the server, relative to those of the others.", []string{"upstream", "server"}, nil)
	serverState = prometheus.NewDesc("weir_upstream_server_state",
		"1 for the state of the server, 0 for the others. A name with several addresses counts each of them.",
		[]string{"upstream", "server", "state"}, nil)
	upstreamQueued = prometheus.NewDesc("weir_upstream_queued",
		"Requests that wait because all servers of the upstream have as many as they may have.", []string{"upstream"}, nil)
	upstreamQueuedTotal = prometheus.NewDesc("weir_upstream_queued_total",
		"Requests that have waited because all servers of the upstream had as many as they may have.",
		[]string{"upstream"}, nil)
	upstreamListUp = prometheus.NewDesc("weir_upstream_list_up",
		"1 if the servers are those of the last list, 0 if the list cannot be read or has a mistake.", []string{"upstream"}, nil)
	upstreamWaiting = prometheus.NewDesc("weir_upstream_waiting",
		"Requests that wait because no server of the upstream accepts a connection.", []string{"upstream"}, nil)
)

// Describe implements prometheus.Collector.
func (c upstreamCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c upstreamCollector) Collect(metrics chan<- prometheus.Metric) {
	ch := metric.Sink(metrics)
	t := c.tables()
	for _, up := range t.upstreams {
		if list := t.upkeeps[up.Name()].list; list != nil {
			_, err := list.Servers()
			ch.Condition(upstreamListUp, err == nil, up.Name())
		}
		waiting, _ := up.Waiting()
		ch.Gauge(upstreamWaiting, float64(waiting), up.Name())
		queued, total := up.Queued()
		ch.Gauge(upstreamQueued, float64(queued), up.Name())
		ch.Counter(upstreamQueuedTotal, float64(total), up.Name())
		for _, s := range up.Servers() {
			ch.Condition(upstreamUp, s.Up(), up.Name(), s.URL())
		}
		for url, sum := range sumServers(up) {
			ch.Gauge(serverInFlight, float64(sum.inFlight), up.Name(), url)
			ch.Gauge(serverWeight, float64(sum.weight), up.Name(), url)
			for _, state := range proxy.States {
				ch.Gauge(serverState, float64(sum.states[state]), up.Name(), url, string(state))
			}
		}
	}
}

// A serverSum is the sum of the servers of an upstream with the same URL.
type serverSum struct {
	inFlight, weight int
	states           map[proxy.State]int
}

// sumServers returns the sums of the servers of an upstream by their URLs.
func sumServers(up *proxy.Upstream) map[string]serverSum {
	sums := make(map[string]serverSum)
	for _, s := range up.Status(time.Now()) {
		sum := sums[s.Server.URL()]
		if sum.states == nil {
			sum.states = make(map[proxy.State]int)
		}
		sum.inFlight += s.Server.InFlight()
		sum.weight += s.Weight
		sum.states[s.State]++
		sums[s.Server.URL()] = sum
	}
	return sums
}
