package counts

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/log/slowest"
)

// unmatched is the route label of requests without a route.
const unmatched = "unmatched"

// methods are the values of the method label. Any other method is "other", so that
// clients cannot create time series.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "other"}

// Requests count requests by route, method and status. Counting a request needs no lock, because
// each route has its counters.
type Requests struct {
	Unmatched *Route // of requests without a route

	duration *prometheus.HistogramVec
	total    *prometheus.CounterVec

	mu     sync.Mutex
	routes map[string]*Route // by label, guarded by mu
}

// NewRequests returns metrics, and adds them to a registry.
func NewRequests(r prometheus.Registerer) *Requests {
	m := &Requests{
		routes: make(map[string]*Route),
		duration: metric.NewDurations("weir_request_duration_seconds",
			"Time from a request's head to the last byte of its response, by route and class of the status.",
			"route", "class"),
		total: metric.NewCounters("weir_requests_total",
			"Requests by route, method and status; 499 is a client that disconnected before the response.",
			"route", "method", "code"),
	}
	m.Unmatched = newRoute(unmatched, m)
	r.MustRegister(m.duration, m.total)
	return m
}

// Route returns the counters of a label. They stay the same after a reload.
func (m *Requests) Route(label string) *Route {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.routes[label]
	if r == nil {
		r = newRoute(label, m)
		m.routes[label] = r
	}
	return r
}

// A Route has the metrics of one route. The map is copied when a method and
// status occur for the first time. It is never modified, so reading needs no lock.
type Route struct {
	Slowest slowest.Percent // of the requests whose events are held

	label    string
	requests *Requests
	cells    atomic.Pointer[map[cellKey]cell]
}

// A cell holds the metrics of the requests with one method and status. Cells with
// the same class of status share a histogram. It takes several KiB and is therefore
// created on first use.
type cell struct {
	total    prometheus.Counter
	duration prometheus.Observer
}

type cellKey struct {
	method uint8 // index into methods
	status uint16
}

func newRoute(label string, m *Requests) *Route {
	r := &Route{label: label, requests: m}
	r.cells.Store(new(map[cellKey]cell))
	return r
}

// Count counts a request that has ended. traceID makes it an exemplar of the histogram, unless it is "".
func (r *Route) Count(method string, status int, took time.Duration, traceID string) {
	c := r.cell(method, status)
	c.total.Inc()
	if traceID == "" {
		c.duration.Observe(took.Seconds())
	} else {
		metric.ObserveExemplar(c.duration, took.Seconds(), traceID)
	}
}

// cell returns the metrics for a method and a status.
func (r *Route) cell(method string, status int) cell {
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
			total:    r.requests.total.WithLabelValues(r.label, methods[key.method], strconv.Itoa(status)),
			duration: r.requests.duration.WithLabelValues(r.label, statusClass(status)),
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
