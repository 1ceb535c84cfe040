package front

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/internal/wire"
)

// engineCollector collects the connections of clients, and the work of the event loops that serve them.
type engineCollector struct{ server *wire.Server }

var (
	openConnections = prometheus.NewDesc("weir_connections",
		"Open connections of clients, by the version of HTTP.", []string{"protocol"}, nil)
	loopCPU = prometheus.NewDesc("weir_loop_cpu_seconds_total",
		"CPU time of each event loop. A loop has one thread, so that it can use one second per second.",
		[]string{"loop"}, nil)
)

// Describe implements prometheus.Collector.
func (c engineCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c engineCollector) Collect(metrics chan<- prometheus.Metric) {
	ch := metric.Sink(metrics)
	for protocol, n := range c.server.ConnectionsByProtocol() {
		ch.Gauge(openConnections, float64(n), protocol)
	}
	for i, used := range c.server.LoopCPU() {
		ch.Counter(loopCPU, used.Seconds(), strconv.Itoa(i+1))
	}
}
