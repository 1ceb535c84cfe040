package mirror

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
)

// metrics are those of all mirrors.
type metrics struct {
	selected *prometheus.CounterVec
	results  *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
}

func newMetrics(to prometheus.Registerer) *metrics {
	m := &metrics{
		selected: metric.NewCounters("weir_mirror_selected_total",
			"Requests of a route that were selected for its mirror.", "route", "upstream"),
		results: metric.NewCounters("weir_mirror_requests_total",
			"Selected requests by the result of their copy: the class of the status, failed, or why there is no copy.",
			"route", "upstream", "result"),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "weir_mirror_in_flight",
			Help: "Copies of requests that are being sent to a mirror now.",
		}, []string{"route", "upstream"}),
	}
	to.MustRegister(m.selected, m.results, m.inFlight)
	return m
}

// counts are the metrics of one mirror.
type counts struct {
	selected                    prometheus.Counter
	responses                   *prometheus.CounterVec // by class of the status
	failed, full, body, upgrade prometheus.Counter
	inFlight                    prometheus.Gauge
}

// of returns the metrics of the mirror of a route.
func (m *metrics) of(route, upstream string) *counts {
	results := m.results.MustCurryWith(prometheus.Labels{"route": route, "upstream": upstream})
	return &counts{
		selected:  m.selected.WithLabelValues(route, upstream),
		responses: results,
		failed:    results.WithLabelValues("failed"),
		full:      results.WithLabelValues("full"),
		body:      results.WithLabelValues("body"),
		upgrade:   results.WithLabelValues("upgrade"),
		inFlight:  m.inFlight.WithLabelValues(route, upstream),
	}
}
