package front

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/internal/upstream"
)

// unmatched is the route label of requests without a route.
const unmatched = "unmatched"

// methods are the values of the method label. Any other method is "other", so that
// clients cannot create time series.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "other"}

// metrics are the metrics of a front door. Counting a request needs no lock, because
// each route has its counters.
type metrics struct {
	registry *prometheus.Registry
	inFlight atomic.Int64
	duration *prometheus.HistogramVec
	requests *prometheus.CounterVec
	refused  prometheus.Counter
	http2    *prometheus.CounterVec // errors of clients
	http3    *prometheus.CounterVec // errors of clients
	refusals *prometheus.CounterVec // by limits
	access   *prometheus.CounterVec // refusals by access and authentication

	headers *prometheus.CounterVec // of the PROXY protocol, refused

	handshakes handshakeMetrics
	reloads    reloadMetrics
	upstreams  *upstream.Metrics

	unmatched *routeCounts
	mu        sync.Mutex
	routes    map[string]*routeCounts // by pattern, guarded by mu
}

// routeCounts holds the metrics of one route. The map is copied when a method and
// status occur for the first time. It is never modified, so reading needs no lock.
type routeCounts struct {
	pattern string
	metrics *metrics
	cells   atomic.Pointer[map[cellKey]cell]
}

// A cell holds the metrics of the requests with one method and status. Cells with
// the same class of status share a histogram. It takes several KiB and is therefore
// created on first use.
type cell struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

type cellKey struct {
	method uint8 // index into methods
	status uint16
}

func newRouteCounts(pattern string, m *metrics) *routeCounts {
	r := &routeCounts{pattern: pattern, metrics: m}
	r.cells.Store(new(map[cellKey]cell))
	return r
}

func newMetrics(log prometheus.Collector) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		routes:   make(map[string]*routeCounts),
		duration: metric.NewDurations("weir_request_duration_seconds",
			"Time from a request's head to the last byte of its response, by route and class of the status.",
			"route", "class"),
		requests: metric.NewCounters("weir_requests_total",
			"Requests by route, method and status; 499 is a client that disconnected before the response.",
			"route", "method", "code"),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "weir_malformed_requests_total",
			Help: "Requests refused while they were read, before routing.",
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
	m.unmatched = newRouteCounts(unmatched, m)
	m.reloads, m.handshakes = newReloadMetrics(), newHandshakeMetrics()
	m.registry.MustRegister(m.duration, m.requests, m.refused, m.refusals,
		m.access, m.headers, m.http2, m.http3,
		m.reloads.total, m.reloads.last,
		m.handshakes.results, m.handshakes.clients,
		metric.NewBuildInfo(),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "weir_requests_in_flight",
			Help: "Requests being served now.",
		}, func() float64 { return float64(m.inFlight.Load()) }),
		log,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// route returns the counters of a pattern. They stay the same after a reload.
func (m *metrics) route(pattern string) *routeCounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.routes[pattern]
	if r == nil {
		r = newRouteCounts(pattern, m)
		m.routes[pattern] = r
	}
	return r
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

// cell returns the metrics for a method and a status.
func (r *routeCounts) cell(method string, status int) cell {
	key := cellKey{method: methodIndex(method), status: uint16(status)}
	for {
		cells := r.cells.Load()
		if c, ok := (*cells)[key]; ok {
			return c
		}
		extended := maps.Clone(*cells)
		if extended == nil {
			extended = make(map[cellKey]cell)
		}
		extended[key] = cell{
			requests: r.metrics.requests.WithLabelValues(r.pattern, methods[key.method], strconv.Itoa(status)),
			duration: r.metrics.duration.WithLabelValues(r.pattern, statusClass(status)),
		}
		r.cells.CompareAndSwap(cells, &extended)
	}
}

func methodIndex(method string) uint8 {
	if i := slices.Index(methods[:], method); i >= 0 {
		return uint8(i)
	}
	return uint8(len(methods) - 1)
}

// statusClass returns the first digit of a status as "2xx".
func statusClass(status int) string { return strconv.Itoa(status/100) + "xx" }

// reloadMetrics count reloads by result.
type reloadMetrics struct {
	total *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// The values of the result label.
const (
	reloadApplied = "applied"
	reloadFailed  = "failed"
)

// newReloadMetrics returns metrics that have both results from the start, because
// alerting rules compare them. The start counts as an applied reload.
func newReloadMetrics() reloadMetrics {
	m := reloadMetrics{
		total: metric.NewCounters("weir_reloads_total",
			"Reloads of the configuration, by result. A failed one changes nothing.", "result"),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "weir_last_reload_timestamp_seconds",
			Help: "Unix time of the last reload with a result; 0 for none. The start counts as applied.",
		}, []string{"result"}),
	}
	m.total.WithLabelValues(reloadApplied)
	m.total.WithLabelValues(reloadFailed)
	m.last.WithLabelValues(reloadApplied).SetToCurrentTime()
	m.last.WithLabelValues(reloadFailed)
	return m
}

// count counts a reload that has ended.
func (m *reloadMetrics) count(result string) {
	m.total.WithLabelValues(result).Inc()
	m.last.WithLabelValues(result).SetToCurrentTime()
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
