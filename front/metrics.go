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
	duration prometheus.Histogram
	requests *prometheus.CounterVec
	failures *prometheus.CounterVec
	refused  prometheus.Counter
	refusals *prometheus.CounterVec // by limits

	unmatched *routeCounts
	mu        sync.Mutex
	routes    map[string]*routeCounts // by pattern, guarded by mu
}

// routeCounts holds the counters of one route. The map is replaced when a
// method and status are met for the first time, and only read afterwards.
type routeCounts struct {
	pattern  string
	requests *prometheus.CounterVec
	cells    atomic.Pointer[map[cellKey]prometheus.Counter]
}

type cellKey struct {
	method uint8 // index into methods
	status uint16
}

func newRouteCounts(pattern string, requests *prometheus.CounterVec) *routeCounts {
	r := &routeCounts{pattern: pattern, requests: requests}
	r.cells.Store(new(map[cellKey]prometheus.Counter))
	return r
}

func newMetrics(log logCollector) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		routes:   make(map[string]*routeCounts),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "weir_request_duration_seconds",
			Help:    "Time from a request's head to the last byte of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_requests_total",
			Help: "Requests by route, method and status; 499 is a client that left before it was answered.",
		}, []string{"route", "method", "code"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_upstream_errors_total",
			Help: "Failures of an upstream's servers, by what went wrong; those too for which another server stood in.",
		}, []string{"upstream", "kind"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "weir_malformed_requests_total",
			Help: "Requests refused while they were read, before there was one to route.",
		}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_limit_refusals_total",
			Help: "Requests and connections that a limit has refused or ended, by limit and route.",
		}, []string{"limit", "route"}),
	}
	m.unmatched = newRouteCounts(unmatched, m.requests)
	m.registry.MustRegister(m.duration, m.requests, m.failures, m.refused, m.refusals,
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
		r = newRouteCounts(pattern, m.requests)
		m.routes[pattern] = r
	}
	return r
}

// count counts a request that has ended.
func (m *metrics) count(x *exchange, took time.Duration) {
	m.duration.Observe(took.Seconds())
	counts := m.unmatched
	if x.route != nil {
		counts = x.route.counts
	}
	counts.cell(x.Method, x.Status).Inc()
	if x.failedByUpstream() {
		m.countFailure(x)
	}
}

func (m *metrics) countFailure(x *exchange) {
	m.failures.WithLabelValues(x.route.upstream, string(x.failure().Kind)).Inc()
}

// cell returns the counter for a method and a status.
func (r *routeCounts) cell(method string, status int) prometheus.Counter {
	key := cellKey{method: methodIndex(method), status: uint16(status)}
	for {
		cells := r.cells.Load()
		if c := (*cells)[key]; c != nil {
			return c
		}
		c := r.requests.WithLabelValues(r.pattern, methods[key.method], strconv.Itoa(status))
		more := maps.Clone(*cells)
		if more == nil {
			more = make(map[cellKey]prometheus.Counter)
		}
		more[key] = c
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
