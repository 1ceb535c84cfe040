package front

import "github.com/prometheus/client_golang/prometheus"

// reloadMetrics count reloads by result.
type reloadMetrics struct {
	total *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// The results of a reload.
const (
	reloadApplied = "applied"
	reloadFailed  = "failed"
)

// newReloadMetrics has both results from the start: a rule that compares them
// must not lack one. The configuration of the start counts as applied.
func newReloadMetrics() reloadMetrics {
	m := reloadMetrics{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_reloads_total",
			Help: "Reloads of the configuration, by result; a failed one has changed nothing.",
		}, []string{"result"}),
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

// count counts a reload that has just ended.
func (m *reloadMetrics) count(result string) {
	m.total.WithLabelValues(result).Inc()
	m.last.WithLabelValues(result).SetToCurrentTime()
}
