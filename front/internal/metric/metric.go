// Package metric has the kinds of metrics of the front door, so that counters and histograms are the same everywhere,
// and describes the build.
package metric

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// NewCounters returns counters with labels.
func NewCounters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// NewDurations returns histograms of seconds. Each has classic buckets. For
// Prometheus servers that request them, it also has native buckets, which are at
// most 10% wide. A histogram takes about 6 KiB (1.4 KiB for the classic buckets),
// and up to 11 KiB with durations from microseconds to minutes.
func NewDurations(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    name,
		Help:    help,
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},

		NativeHistogramBucketFactor: 1.1,
		// With more buckets, they become wider. A time between resets would set all counts to 0 instead.
		NativeHistogramMaxBucketNumber: 100,
	}, labels)
}

// ObserveExemplar adds a value to a histogram of NewDurations, with the id of a trace as its exemplar. Only scrapes in
// OpenMetrics and in protobuf have exemplars, the last one of each bucket.
func ObserveExemplar(o prometheus.Observer, value float64, traceID string) {
	o.(prometheus.ExemplarObserver).ObserveWithExemplar(value, prometheus.Labels{"trace_id": strings.Clone(traceID)})
}

// A Sink receives the metrics of one scrape.
type Sink chan<- prometheus.Metric

// Counter adds the value of a counter.
func (ch Sink) Counter(d *prometheus.Desc, n float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, n, labels...)
}

// Gauge adds the value of a gauge.
func (ch Sink) Gauge(d *prometheus.Desc, n float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
}

// Condition adds a gauge that is 1 if something holds, else 0.
func (ch Sink) Condition(d *prometheus.Desc, holds bool, labels ...string) {
	n := 0.0
	if holds {
		n = 1
	}
	ch.Gauge(d, n, labels...)
}
