package front

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// logCollector shows a sink's counters as metrics. They come from one snapshot,
// so that emitted = written + dropped + waiting holds in every scrape.
type logCollector struct {
	out Output
}

var (
	logEmitted = prometheus.NewDesc("weir_log_events_emitted_total", "Events that were handed to the log.", nil, nil)
	logWritten = prometheus.NewDesc("weir_log_events_written_total", "Events that were written whole.", nil, nil)
	logDropped = prometheus.NewDesc("weir_log_events_dropped_total", "Events that were not written, by why.",
		[]string{"reason", "severity"}, nil)
	logQueueEvents = prometheus.NewDesc("weir_log_queue_events", "Events that wait to be written.", nil, nil)
	logQueueBytes  = prometheus.NewDesc("weir_log_queue_bytes", "Bytes of events that wait to be written.", nil, nil)
	logBytes       = prometheus.NewDesc("weir_log_bytes_total", "Bytes that were written to the log.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c logCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{logEmitted, logWritten, logDropped, logQueueEvents, logQueueBytes, logBytes} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c logCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.out.Stats()
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	counter(logEmitted, s.Emitted)
	counter(logWritten, s.Written)
	counter(logBytes, s.Bytes)
	drops := make(map[sink.Loss]uint64)
	for _, drop := range s.Dropped {
		drops[sink.Loss{Reason: drop.Reason, Level: drop.Level}] = drop.Events
	}
	for _, reason := range []sink.Reason{sink.WriteError, sink.Full, sink.Closed} {
		for level := log.LevelDebug; level <= log.LevelFatal; level++ {
			n := drops[sink.Loss{Reason: reason, Level: level}]
			counter(logDropped, n, string(reason), level.String()) // 0, too, so that sums are never empty
		}
	}
	ch <- prometheus.MustNewConstMetric(logQueueEvents, prometheus.GaugeValue, float64(s.Waiting))
	ch <- prometheus.MustNewConstMetric(logQueueBytes, prometheus.GaugeValue, float64(s.WaitingBytes))
}
