package counts

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
)

// Reloads count reloads by result.
type Reloads struct {
	total *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// The values of the result label.
const (
	reloadApplied = "applied"
	reloadFailed  = "failed"
)

// NewReloads returns metrics, and adds them to a registry. They have both results from the start, because
// alerting rules compare them. The start counts as an applied reload.
func NewReloads(r prometheus.Registerer) *Reloads {
	m := &Reloads{
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
	r.MustRegister(m.total, m.last)
	return m
}

// Applied counts a reload that has changed the configuration.
func (m *Reloads) Applied() { m.count(reloadApplied) }

// Failed counts a reload that has failed.
func (m *Reloads) Failed() { m.count(reloadFailed) }

func (m *Reloads) count(result string) {
	m.total.WithLabelValues(result).Inc()
	m.last.WithLabelValues(result).SetToCurrentTime()
}
