package logto

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// A Collector collects the counters of an output. They come from one snapshot, so that
// emitted = written + dropped + waiting in every scrape.
type Collector struct {
	Out  Output
	Cost *logcost.Cost // of CostOf
}

var (
	logEmitted = prometheus.NewDesc("weir_log_events_emitted_total",
		"Events handed to the log, once for each of its destinations.", nil, nil)
	logWritten = prometheus.NewDesc("weir_log_events_written_total",
		"Events that were written completely.", nil, nil)
	logDropped = prometheus.NewDesc("weir_log_events_dropped_total", "Events that were not written, by reason.",
		[]string{"reason", "severity"}, nil)
	logRecovered = prometheus.NewDesc("weir_log_events_recovered_total",
		"Events among those emitted that an earlier process had left on a disk.", nil, nil)
	logQueueEvents = prometheus.NewDesc("weir_log_queue_events", "Events that wait to be written.", nil, nil)
	logQueueBytes  = prometheus.NewDesc("weir_log_queue_bytes",
		"Bytes of events that wait to be written.", nil, nil)
	logHighWater = prometheus.NewDesc("weir_log_queue_high_water_bytes",
		"The highest number of bytes that waited to be written, summed over the destinations.", nil, nil)
	logBytes        = prometheus.NewDesc("weir_log_bytes_total", "Bytes that were written to the log.", nil, nil)
	logLongestWrite = prometheus.NewDesc("weir_log_longest_write_seconds",
		"Duration of the longest write to the log, including one in progress.", nil, nil)

	logCPU = prometheus.NewDesc("weir_log_cpu_seconds_total",
		"CPU time of the log, estimated from samples: encoding events, writing them, and measuring both.",
		[]string{"work"}, nil)
	logCPUShare = prometheus.NewDesc("weir_log_cpu_share",
		"Share of the log in the CPU time that the process used recently.", nil, nil)
)

// Metrics of a Log, whose destinations have names.
var (
	logDestination = prometheus.NewDesc("weir_log_destination_events_total",
		"Events of each destination of the log that were written or dropped.",
		[]string{"to", "result"}, nil)
	logDestinationBytes = prometheus.NewDesc("weir_log_destination_queue_bytes",
		"Bytes of events that wait to be written to a destination of the log.",
		[]string{"to"}, nil)
	logDestinationDiskEvents = prometheus.NewDesc("weir_log_destination_disk_events",
		"Events that wait on a disk to be delivered to a server.",
		[]string{"to"}, nil)
	logDestinationDiskBytes = prometheus.NewDesc("weir_log_destination_disk_bytes",
		"Bytes of the files in which events wait to be delivered to a server.",
		[]string{"to"}, nil)
	logDiverted = prometheus.NewDesc("weir_log_diverted_events_total",
		"Events written to standard error because the reader of standard output was gone.", nil, nil)
	logQueueSize = prometheus.NewDesc("weir_log_queue_size_bytes",
		"Maximum of weir_log_queue_bytes, apart from long events.", nil, nil)
	logFileErrors = prometheus.NewDesc("weir_log_file_errors_total",
		"Times that a file of the log could not be reopened, rotated or synced to disk.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c Collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c Collector) Collect(metrics chan<- prometheus.Metric) {
	ch := logScrape{metric.Sink(metrics)}
	s := c.Out.Stats()
	ch.Counter(logEmitted, float64(s.Emitted))
	ch.Counter(logWritten, float64(s.Written))
	ch.Counter(logBytes, float64(s.Bytes))
	ch.drops(s.Dropped)
	ch.Counter(logRecovered, float64(s.Recovered))
	ch.Gauge(logQueueEvents, float64(s.Waiting))
	ch.Gauge(logQueueBytes, float64(s.WaitingBytes))
	ch.Gauge(logHighWater, float64(s.HighWaterBytes))
	ch.Gauge(logLongestWrite, s.LongestWrite.Seconds())
	ch.cost(c.Cost)
	if l, ok := c.Out.(*Log); ok {
		ch.destinations(l)
	}
}

// A logScrape is one collection of the metrics of a log.
type logScrape struct{ metric.Sink }

// drops adds every reason and severity, including those with 0, so that sums are
// never empty.
func (ch logScrape) drops(losses []sink.Loss) {
	dropped := make(map[sink.Loss]uint64)
	for _, loss := range losses {
		dropped[sink.Loss{Reason: loss.Reason, Level: loss.Level}] = loss.Events
	}
	for _, reason := range []sink.Reason{sink.WriteError, sink.Closed, sink.Full, sink.Rejected, sink.Expired, sink.Damaged} {
		for level := log.LevelDebug; level <= log.LevelFatal; level++ {
			n := dropped[sink.Loss{Reason: reason, Level: level}]
			ch.Counter(logDropped, float64(n), string(reason), level.String())
		}
	}
}

func (ch logScrape) cost(c *logcost.Cost) {
	now := c.Read(time.Now())
	ch.Counter(logCPU, now.Encoding.Seconds(), "encode")
	ch.Counter(logCPU, now.Writing.Seconds(), "write")
	ch.Counter(logCPU, now.Measuring.Seconds(), "measure")
	share, _ := c.Share(now)
	ch.Gauge(logCPUShare, share)
}

func (ch logScrape) destinations(l *Log) {
	var diverted uint64
	destinations := l.Destinations()
	for _, d := range destinations {
		ch.Counter(logDestination, float64(d.Stats.Written), d.To, "written")
		ch.Counter(logDestination, float64(d.Stats.Lost()), d.To, "dropped")
		ch.Gauge(logDestinationBytes, float64(d.Stats.WaitingBytes), d.To)
		ch.Gauge(logDestinationDiskEvents, float64(d.OnDisk.Events), d.To)
		ch.Gauge(logDestinationDiskBytes, float64(d.OnDisk.Bytes), d.To)
		diverted += d.Diverted
	}
	ch.Counter(logDiverted, float64(diverted))
	ch.Gauge(logQueueSize, float64(l.current.Load().maxBytes()))
	ch.Counter(logFileErrors, float64(l.fileErrors.Load()))
}
