package traceto

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log/sink"
)

// A Collector collects the counts of spans.
type Collector struct{ Out *logto.Log }

var (
	emitted = prometheus.NewDesc("weir_trace_spans_emitted_total", "Spans of traced requests.", nil, nil)
	sent    = prometheus.NewDesc("weir_trace_spans_sent_total", "Spans that the server of traces.to has accepted.", nil, nil)
	dropped = prometheus.NewDesc("weir_trace_spans_dropped_total", "Spans that were not sent, by reason.",
		[]string{"reason"}, nil)
	waiting = prometheus.NewDesc("weir_trace_queue_spans", "Spans that wait to be sent.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c Collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c Collector) Collect(metrics chan<- prometheus.Metric) {
	ch := metric.Sink(metrics)
	s := c.Out.Stats()
	ch.Counter(emitted, float64(s.Emitted))
	ch.Counter(sent, float64(s.Written))
	ch.Gauge(waiting, float64(s.Waiting))
	lost := map[sink.Reason]uint64{sink.Full: 0, sink.Rejected: 0, sink.Closed: 0}
	for _, loss := range s.Dropped {
		lost[loss.Reason] += loss.Events
	}
	for reason, spans := range lost {
		ch.Counter(dropped, float64(spans), string(reason))
	}
}
