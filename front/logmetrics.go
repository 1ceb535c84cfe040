package front

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// logCollector shows a sink's counters as metrics. They come from one snapshot,
// so that emitted = written + dropped + waiting holds in every scrape.
type logCollector struct {
	out  Output
	cost *logCost
}

var (
	logEmitted = prometheus.NewDesc("weir_log_events_emitted_total", "Events that were handed to the log, once for each of its destinations.", nil, nil)
	logWritten = prometheus.NewDesc("weir_log_events_written_total", "Events that were written whole.", nil, nil)
	logDropped = prometheus.NewDesc("weir_log_events_dropped_total", "Events that were not written, by why.",
		[]string{"reason", "severity"}, nil)
	logQueueEvents  = prometheus.NewDesc("weir_log_queue_events", "Events that wait to be written.", nil, nil)
	logQueueBytes   = prometheus.NewDesc("weir_log_queue_bytes", "Bytes of events that wait to be written.", nil, nil)
	logHighWater    = prometheus.NewDesc("weir_log_queue_high_water_bytes", "The most bytes of events that ever waited to be written, of each destination, added up.", nil, nil)
	logBytes        = prometheus.NewDesc("weir_log_bytes_total", "Bytes that were written to the log.", nil, nil)
	logLongestWrite = prometheus.NewDesc("weir_log_longest_write_seconds", "The time of the write to the log that took longest, be it under way.", nil, nil)

	logCPU = prometheus.NewDesc("weir_log_cpu_seconds_total", "CPU time that went into the log, estimated from samples: into encoding events, into writing them, and into measuring the two.",
		[]string{"work"}, nil)
	logCPUShare = prometheus.NewDesc("weir_log_cpu_share", "The part of the process's CPU time that went into the log, lately.", nil, nil)
)

// These are there for a Log, whose destinations have names.
var (
	logDestination = prometheus.NewDesc("weir_log_destination_events_total", "Events of each destination of the log that are done with.",
		[]string{"to", "result"}, nil)
	logDestinationBytes = prometheus.NewDesc("weir_log_destination_queue_bytes", "Bytes of events that wait to be written to a destination of the log.",
		[]string{"to"}, nil)
	logDiverted   = prometheus.NewDesc("weir_log_diverted_events_total", "Events, written, that standard error has because the reader of standard output had gone.", nil, nil)
	logQueueSize  = prometheus.NewDesc("weir_log_queue_size_bytes", "What weir_log_queue_bytes may be at most, long events aside.", nil, nil)
	logFileErrors = prometheus.NewDesc("weir_log_file_errors_total", "Times that a file of the log could not be opened anew, rotated or brought to the disk.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c logCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c logCollector) Collect(metrics chan<- prometheus.Metric) {
	ch := metricsSink(metrics)
	s := c.out.Stats()
	ch.counter(logEmitted, float64(s.Emitted))
	ch.counter(logWritten, float64(s.Written))
	ch.counter(logBytes, float64(s.Bytes))
	ch.drops(s.Dropped)
	ch.gauge(logQueueEvents, float64(s.Waiting))
	ch.gauge(logQueueBytes, float64(s.WaitingBytes))
	ch.gauge(logHighWater, float64(s.HighWaterBytes))
	ch.gauge(logLongestWrite, s.LongestWrite.Seconds())
	ch.cost(c.cost)
	if l, ok := c.out.(*Log); ok {
		ch.destinations(l)
	}
}

// drops shows every reason and severity, with 0, too, so that sums are never
// empty.
func (ch metricsSink) drops(losses []sink.Loss) {
	dropped := make(map[sink.Loss]uint64)
	for _, loss := range losses {
		dropped[sink.Loss{Reason: loss.Reason, Level: loss.Level}] = loss.Events
	}
	for _, reason := range []sink.Reason{sink.WriteError, sink.Closed, sink.Full} {
		for level := log.LevelDebug; level <= log.LevelFatal; level++ {
			n := dropped[sink.Loss{Reason: reason, Level: level}]
			ch.counter(logDropped, float64(n), string(reason), level.String())
		}
	}
}

func (ch metricsSink) cost(c *logCost) {
	now := c.read(time.Now())
	ch.counter(logCPU, now.encoding.Seconds(), "encode")
	ch.counter(logCPU, now.writing.Seconds(), "write")
	ch.counter(logCPU, now.measuring.Seconds(), "measure")
	share, _ := c.share(now)
	ch.gauge(logCPUShare, share)
}

func (ch metricsSink) destinations(l *Log) {
	var diverted uint64
	destinations := l.Destinations()
	for _, d := range destinations {
		ch.counter(logDestination, float64(d.Stats.Written), d.To, "written")
		ch.counter(logDestination, float64(d.Stats.Lost()), d.To, "dropped")
		ch.gauge(logDestinationBytes, float64(d.Stats.WaitingBytes), d.To)
		diverted += d.Diverted
	}
	ch.counter(logDiverted, float64(diverted))
	ch.gauge(logQueueSize, float64(len(destinations)*l.queueBytes))
	ch.counter(logFileErrors, float64(l.fileErrors.Load()))
}
