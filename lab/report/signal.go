package report

import (
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/results"
)

// A signal is a value of samples: the sum of its parts.
type signal struct {
	unit  string
	of    results.Part // the part of the usage that it shows, or ""
	level bool         // not a rate: each sample is meaningful by itself
	parts []part
	file  string // name of the picture, without extension

	title, help string // of the panels of all configurations

	runTitle, runHelp string // of the chart of one run, which is not drawn without a title
}

// A part is drawn on top of the part before it. A level has one part.
type part struct {
	class, name string
	of          func(results.Sample) float64
}

// value returns the sum of the parts.
func (s signal) value(sample results.Sample) (sum float64) {
	for _, p := range s.parts {
		sum += p.of(sample)
	}
	return sum
}

// keys explains the parts.
func (s signal) keys() []page.Key {
	var keys []page.Key
	for _, p := range s.parts {
		keys = append(keys, page.Key{Class: p.class + " area", Name: p.name})
	}
	return keys
}

var signals = []signal{
	{
		unit: "bytes", of: results.Memory, level: true, file: "memory-over-time",
		parts: []part{{"c2", "memory", func(s results.Sample) float64 { return float64(s.RSS) }}},
		title: "Memory over time", help: "The memory of the service and its children (RSS). A constant level is " +
			"healthy. A level that still rises at the end may be a leak. A saw-tooth is a garbage collector.",
		runTitle: "Memory of the service", runHelp: "The memory of the service and its children (RSS). A sudden " +
			"fall is memory that was returned; growth during a stall is waiting work.",
	}, {
		unit: "CPUs", of: results.CPU, file: "cpu-over-time",
		parts: []part{{"c1", "user", func(s results.Sample) float64 { return s.User }},
			{"c2", "system", func(s results.Sample) float64 { return s.System }}},
		title: "CPU over time", help: "1 is one CPU in full use. In a dip of all runs the service waits for " +
			"something: a lock, a disk, the reader of its log.",
		runTitle: "CPU of the service", runHelp: "1 is one CPU in full use, user and system stacked. A gap during a " +
			"stall means that the service waited; a high value means that it worked.",
	}, {
		unit: "bytes/s", file: "log-bytes-over-time",
		parts: []part{{"c3", "taken", func(s results.Sample) float64 { return float64(s.Output) }}},
		title: "Log bytes per second", help: "The output of the service's stdout and stderr. A flat top is the limit " +
			"of its reader; in a gap, nothing was read or nothing was written.",
		runTitle: "Log bytes per second", runHelp: "The bytes of stdout and stderr that were read. If this stops and " +
			"latency rises, requests wait for the log.",
	}, {
		unit: "bytes", level: true, file: "waiting-for-reader",
		parts: []part{{"c2", "waiting", func(s results.Sample) float64 { return float64(s.Behind) }}},
		title: "Waiting for the log's reader", help: "Unread bytes in the pipe or terminal. At the size of the pipe, " +
			"the service waits in its write, and so may its requests.",
		runTitle: "Waiting for the log's reader", runHelp: "Unread bytes in the pipe or terminal. A flat top is a " +
			"full pipe: the next write waits.",
	}, {
		unit: "bytes", level: true, file: "heap-over-time",
		parts: []part{{"c3", "heap in use", func(s results.Sample) float64 { return float64(s.Heap) }}},
		title: "Heap over time", help: "The Go heap in use, as reported by the service. Each fall of the saw-tooth is " +
			"a garbage collection. A higher GOGC makes fewer and larger teeth.",
		runTitle: "Heap", runHelp: "The Go heap in use, sampled twice a second: shorter teeth are not visible. Each " +
			"fall is a garbage collection.",
	}, {
		unit: "s", level: true, file: "gc-pauses",
		parts: []part{{of: func(s results.Sample) float64 { return s.Pause }}},
		title: "Garbage collector's pauses, added up", help: "The time for which the collector has stopped the " +
			"service since the load began. The steeper the line, the larger the share of that time. A step is one " +
			"long pause.",
	},
}
