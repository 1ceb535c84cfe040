package front

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weirhq/weir/front/internal/counts"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/internal/machine"
)

// metrics are the metrics of a front door.
type metrics struct {
	registry *prometheus.Registry
	inFlight atomic.Int64
	held     heldEvents
	requests *counts.Requests
	refused  prometheus.Counter
	unused   prometheus.Counter
	http2    *prometheus.CounterVec // errors of clients
	http3    *prometheus.CounterVec // errors of clients
	refusals *prometheus.CounterVec // by limits
	access   *prometheus.CounterVec // refusals by access and authentication

	headers *prometheus.CounterVec // of the PROXY protocol, refused

	handshakes handshakeMetrics
	reloads    *counts.Reloads
	upstreams  *upstream.Metrics
}

func newMetrics(log prometheus.Collector) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "weir_malformed_requests_total",
			Help: "Requests refused while they were read, before routing.",
		}),
		unused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "weir_unused_connections_total",
			Help: "Connections of clients over HTTP/1 that ended without a request.",
		}),
		refusals: metric.NewCounters("weir_limit_refusals_total",
			"Requests and connections that a limit has refused or ended, by limit and route.", "limit", "route"),
		access: metric.NewCounters("weir_access_refusals_total",
			"Requests that access, basic_auth or forward_auth has refused, by that key and route.", "by", "route"),
	}
	m.http2 = metric.NewCounters("weir_http2_errors_total",
		"Connections and streams of HTTP/2 that were ended because of an error of their client, by reason.", "of", "reason")
	m.http3 = metric.NewCounters("weir_http3_errors_total",
		"Connections and streams of HTTP/3 that were ended because of an error of their client, by reason.", "of", "reason")
	m.headers = metric.NewCounters("weir_proxy_protocol_refusals_total",
		"Connections closed because of their header of the PROXY protocol, by reason.", "reason")
	m.upstreams = upstream.NewMetrics(m.registry)
	m.requests, m.reloads, m.handshakes = counts.NewRequests(m.registry), counts.NewReloads(m.registry), newHandshakeMetrics()
	m.registry.MustRegister(m.refused, m.unused, m.refusals,
		m.access, m.headers, m.http2, m.http3,
		m.handshakes.results, m.handshakes.clients,
		metric.NewBuildInfo(),
		&m.held,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "weir_requests_in_flight",
			Help: "Requests being served now.",
		}, func() float64 { return float64(m.inFlight.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "weir_processors",
			Help: "Processors that the process may use.",
		}, func() float64 { return float64(machine.Processors()) }),
		log,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// accessRefusal returns the counter of the requests that a feature has refused on a route.
func (m *metrics) accessRefusal(by, route string) prometheus.Counter {
	return m.access.WithLabelValues(by, route)
}

// refusal returns the counter of the requests and connections that a limit has
// refused or ended.
func (m *metrics) refusal(name, route string) prometheus.Counter {
	return m.refusals.WithLabelValues(name, route)
}

// handshakeMetrics are the metrics of TLS.
type handshakeMetrics struct {
	results *prometheus.CounterVec
	clients *prometheus.CounterVec
}

func newHandshakeMetrics() handshakeMetrics {
	m := handshakeMetrics{
		results: metric.NewCounters("weir_tls_handshakes_total", "Handshakes of TLS with clients, by result.", "result"),
		clients: metric.NewCounters("weir_tls_connections_total",
			"Connections after their handshake, by the version of TLS and the protocol chosen by ALPN.", "version", "protocol"),
	}
	for _, result := range handshake.Results {
		m.results.WithLabelValues(string(result))
	}
	return m
}

// count counts a handshake that has ended.
func (m *handshakeMetrics) count(result handshake.Result) {
	m.results.WithLabelValues(string(result)).Inc()
}

// countClient counts a connection.
func (m *handshakeMetrics) countClient(c *handshake.Client) {
	protocol := c.Protocol
	if protocol == "" {
		protocol = "none"
	}
	m.clients.WithLabelValues(c.Version, protocol).Inc()
}
