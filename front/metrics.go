package front

import (
	"maps"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// unmatched is the route label of requests that reached no route.
const unmatched = "unmatched"

// methods are the values of the method label; any other method is "other", so
// that clients cannot make up time series.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "other"}

// metrics count what goes through the door. Counting a request takes no lock:
// the counters of a route are found with the route.
type metrics struct {
	registry *prometheus.Registry
	inFlight atomic.Int64
	duration *prometheus.HistogramVec
	requests *prometheus.CounterVec
	failures *prometheus.CounterVec
	waits    *prometheus.CounterVec // for a connection
	refused  prometheus.Counter
	refusals *prometheus.CounterVec // by limits
	upstream *prometheus.HistogramVec
	reloads  reloadMetrics

	unmatched *routeCounts
	mu        sync.Mutex
	routes    map[string]*routeCounts // by pattern, guarded by mu
}

// routeCounts holds the metrics of one route. The map is replaced when a
// method and status are met for the first time, and only read afterwards.
type routeCounts struct {
	pattern string
	metrics *metrics
	cells   atomic.Pointer[map[cellKey]cell]
}

// A cell holds the metrics of the requests with one method and status. Cells
// with the same class of status share a histogram, which takes several KiB and
// is therefore made for the first of them.
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

func newMetrics(log logCollector) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		routes:   make(map[string]*routeCounts),
		duration: newDurations("weir_request_duration_seconds",
			"Time from a request's head to the last byte of its answer, by route and class of the status.",
			"route", "class"),
		upstream: newDurations("weir_upstream_duration_seconds",
			"Time that a server took for a request: to the response's head, plus the waits for the body.",
			"upstream", "server"),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_requests_total",
			Help: "Requests by route, method and status; 499 is a client that left before it was answered.",
		}, []string{"route", "method", "code"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_upstream_errors_total",
			Help: "Failures of an upstream's servers, by what went wrong; those too for which another server stood in.",
		}, []string{"upstream", "kind"}),
		waits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_upstream_waits_total",
			Help: "Requests that waited because no server of the upstream could be connected to.",
		}, []string{"upstream"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "weir_malformed_requests_total",
			Help: "Requests refused while they were read, before there was one to route.",
		}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_limit_refusals_total",
			Help: "Requests and connections that a limit has refused or ended, by limit and route.",
		}, []string{"limit", "route"}),
	}
	m.unmatched = newRouteCounts(unmatched, m)
	m.reloads = newReloadMetrics()
	m.registry.MustRegister(m.duration, m.upstream, m.requests, m.failures, m.waits, m.refused, m.refusals,
		m.reloads.total, m.reloads.last, newBuildInfo(),
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

// route returns the counters of a pattern, the same after a reload.
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

// count counts a request that has ended.
func (m *metrics) count(x *exchange, took time.Duration) {
	counts := m.unmatched
	if x.route != nil {
		counts = x.route.counts
	}
	c := counts.cell(x.Method, x.Status)
	c.requests.Inc()
	c.duration.Observe(took.Seconds())
	if x.Waited > 0 {
		x.route.servers[x.Server].Observe(x.Waited.Seconds())
	}
	if x.failedByUpstream() {
		m.countFailure(x)
	}
}

func (m *metrics) countFailure(x *exchange) {
	m.failures.WithLabelValues(x.route.upstream, string(x.failure().Kind)).Inc()
}

// cell returns the metrics for a method and a status.
func (r *routeCounts) cell(method string, status int) cell {
	key := cellKey{method: methodIndex(method), status: uint16(status)}
	for {
		cells := r.cells.Load()
		if c, ok := (*cells)[key]; ok {
			return c
		}
		more := maps.Clone(*cells)
		if more == nil {
			more = make(map[cellKey]cell)
		}
		more[key] = cell{
			requests: r.metrics.requests.WithLabelValues(r.pattern, methods[key.method], strconv.Itoa(status)),
			duration: r.metrics.duration.WithLabelValues(r.pattern, statusClass(status)),
		}
		r.cells.CompareAndSwap(cells, &more)
	}
}

func methodIndex(method string) uint8 {
	for i, m := range methods {
		if m == method {
			return uint8(i)
		}
	}
	return uint8(len(methods) - 1)
}

// statusClass returns the first digit of a status as "2xx".
func statusClass(status int) string { return strconv.Itoa(status/100) + "xx" }
