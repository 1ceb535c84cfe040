package upstream

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/internal/proxying"
)

// A Collector collects the state of the servers of the upstreams in use, and
// the number of requests that wait for one.
type Collector struct {
	InUse func() Set
}

var (
	upstreamUp = prometheus.NewDesc("weir_upstream_up",
		"1 if the last attempt to connect to the server succeeded, or none was made; else 0.",
		[]string{"upstream", "server"}, nil)
	serverInFlight = prometheus.NewDesc("weir_upstream_server_in_flight",
		"Requests at the server: from its choice to the end of its response.", []string{"upstream", "server"}, nil)
	serverWeight = prometheus.NewDesc("weir_upstream_server_weight",
		"The weight of the server, relative to the weights of the others.", []string{"upstream", "server"}, nil)
	serverState = prometheus.NewDesc("weir_upstream_server_state",
		"1 for the state of the server, 0 for the others. A name with several addresses counts each of them.",
		[]string{"upstream", "server", "state"}, nil)
	upstreamQueued = prometheus.NewDesc("weir_upstream_queued",
		"Requests that wait because all servers of the upstream have as many as they may have.", []string{"upstream"}, nil)
	upstreamQueuedTotal = prometheus.NewDesc("weir_upstream_queued_total",
		"Requests that have waited because all servers of the upstream had as many as they may have.",
		[]string{"upstream"}, nil)
	upstreamListUp = prometheus.NewDesc("weir_upstream_list_up",
		"1 if the upstream has the servers of the last list, 0 if the list cannot be read or has a mistake.", []string{"upstream"}, nil)
	upstreamWaiting = prometheus.NewDesc("weir_upstream_waiting",
		"Requests that wait because no server of the upstream accepts a connection.", []string{"upstream"}, nil)
)

// Describe implements prometheus.Collector.
func (c Collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c Collector) Collect(metrics chan<- prometheus.Metric) {
	ch := metric.Sink(metrics)
	for _, up := range c.InUse() {
		if list := up.List(); list != nil {
			ch.Condition(upstreamListUp, list.Err == nil, up.Name())
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
			for _, state := range proxying.States {
				ch.Gauge(serverState, float64(sum.states[state]), up.Name(), url, string(state))
			}
		}
	}
}

// A serverSum is the sum of the servers of an upstream with the same URL.
type serverSum struct {
	inFlight, weight int
	states           map[proxying.State]int
}

// sumServers returns the sums of the servers of an upstream by their URLs.
func sumServers(up *Upstream) map[string]serverSum {
	sums := make(map[string]serverSum)
	for _, s := range up.Status(time.Now()) {
		sum := sums[s.Server.URL()]
		if sum.states == nil {
			sum.states = make(map[proxying.State]int)
		}
		sum.inFlight += s.Server.InFlight()
		sum.weight += s.Weight
		sum.states[s.State]++
		sums[s.Server.URL()] = sum
	}
	return sums
}
