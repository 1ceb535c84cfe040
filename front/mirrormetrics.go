package front

import "github.com/prometheus/client_golang/prometheus"

// mirrorMetrics are the metrics of mirrors.
type mirrorMetrics struct {
	selected *prometheus.CounterVec
	results  *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
}

func newMirrorMetrics() mirrorMetrics {
	return mirrorMetrics{
		selected: newCounters("weir_mirror_selected_total",
			"Requests of a route that were selected for its mirror.", "route", "upstream"),
		results: newCounters("weir_mirror_requests_total",
			"Selected requests by the result of their copy: the class of the status, failed, or why there is no copy.",
			"route", "upstream", "result"),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "weir_mirror_in_flight",
			Help: "Copies of requests that are being sent to a mirror now.",
		}, []string{"route", "upstream"}),
	}
}

// mirrorCounts are the metrics of one mirror.
type mirrorCounts struct {
	selected                    prometheus.Counter
	responses                   *prometheus.CounterVec // by class of the status
	failed, full, body, upgrade prometheus.Counter
	failures                    *prometheus.CounterVec // of the upstream, by kind
	inFlight                    prometheus.Gauge
}

// mirror returns the metrics of the mirror of a route.
func (m *metrics) mirror(route, upstream string) *mirrorCounts {
	results := m.mirrors.results.MustCurryWith(prometheus.Labels{"route": route, "upstream": upstream})
	return &mirrorCounts{
		selected:  m.mirrors.selected.WithLabelValues(route, upstream),
		responses: results,
		failed:    results.WithLabelValues("failed"),
		full:      results.WithLabelValues("full"),
		body:      results.WithLabelValues("body"),
		upgrade:   results.WithLabelValues("upgrade"),
		failures:  m.failures.MustCurryWith(prometheus.Labels{"upstream": upstream}),
		inFlight:  m.mirrors.inFlight.WithLabelValues(route, upstream),
	}
}
