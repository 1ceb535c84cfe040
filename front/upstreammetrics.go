package front

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/proxy"
)

// servers returns the histogram of each server of an upstream.
func (m *metrics) servers(up *proxy.Upstream) map[*proxy.Server]prometheus.Observer {
	observers := make(map[*proxy.Server]prometheus.Observer)
	for _, s := range up.Servers() {
		observers[s] = m.upstream.WithLabelValues(up.Name(), s.URL())
	}
	return observers
}

// forget removes the histograms of the servers that are in before and no longer
// in now: deployments that choose a new port each time would add series for ever.
func (m *metrics) forget(before, now []*proxy.Upstream) {
	type server struct{ upstream, url string }
	used := make(map[server]bool)
	for _, up := range now {
		for _, s := range up.Servers() {
			used[server{up.Name(), s.URL()}] = true
		}
	}
	for _, up := range before {
		for _, s := range up.Servers() {
			if !used[server{up.Name(), s.URL()}] {
				m.upstream.DeleteLabelValues(up.Name(), s.URL())
			}
		}
	}
}

// upstreamCollector reports which servers of the current tables are up, and how
// many requests wait for one.
type upstreamCollector struct {
	door *Door
}

var (
	upstreamUp = prometheus.NewDesc("weir_upstream_up",
		"1 if the last attempt to connect to the server succeeded, or none was made; else 0.", []string{"upstream", "server"}, nil)
	upstreamWaiting = prometheus.NewDesc("weir_upstream_waiting",
		"Requests that wait because no server of the upstream can be connected to.", []string{"upstream"}, nil)
)

// Describe implements prometheus.Collector.
func (c upstreamCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- upstreamUp
	ch <- upstreamWaiting
}

// Collect implements prometheus.Collector.
func (c upstreamCollector) Collect(metrics chan<- prometheus.Metric) {
	ch := metricsSink(metrics)
	for _, up := range c.door.tables.Load().upstreams {
		waiting, _ := up.Waiting()
		ch.gauge(upstreamWaiting, float64(waiting), up.Name())
		for _, s := range up.Servers() {
			ch.gauge(upstreamUp, zeroOrOne(s.Up()), up.Name(), s.URL())
		}
	}
}

func zeroOrOne(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
