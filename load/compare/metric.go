package compare

import (
	"fmt"
	"slices"

	"github.com/weirhq/weir/load"
)

// A group is one run, or all runs of a side taken together.
type group struct {
	runs    []*load.Result
	latency *load.Latency // counts from the same moment in all groups of a comparison; nil without a request
}

// latencyOf returns the latency of the results that counts from the same moment in all.
func latencyOf(due bool) func(*load.Result) *load.Latency {
	return func(r *load.Result) *load.Latency {
		if due {
			return r.LatencyFromDue
		}
		return r.Latency
	}
}

// fromDue tells that all results have latencies from due.
func fromDue(results ...[]*load.Result) bool {
	for _, side := range results {
		for _, r := range side {
			if r.LatencyFromDue == nil {
				return false
			}
		}
	}
	return true
}

// A side is the runs of one side, each of them and taken together.
type side struct {
	each []group
	all  group
}

// newSide decodes the histograms of a side.
func newSide(results []*load.Result, latency func(*load.Result) *load.Latency) (side, error) {
	var s side
	var latencies []*load.Latency
	for i, r := range results {
		l := latency(r)
		own, err := load.MergeLatencies(l)
		if err != nil {
			return s, fmt.Errorf("compare: the histogram of run %d (%s, %s): %w", i+1, r.URL, r.Started.Format("15:04:05"), err)
		}
		s.each = append(s.each, group{results[i : i+1], own})
		latencies = append(latencies, l)
	}
	all, err := load.MergeLatencies(latencies...)
	s.all = group{results, all}
	return s, err
}

// A metric is what a row is about.
type metric struct {
	name, unit string
	more       bool // is better

	// whole is the metric of several runs together, false when one has none.
	whole func(group) (measured, bool)
}

// A measured value may be a lower bound, and +Inf for a latency of requests that were never answered.
type measured struct {
	value   float64
	atLeast bool
}

// metrics are the rows of a comparison of such results.
func metrics(a, b []*load.Result) []metric {
	from := " from sent"
	if fromDue(a, b) {
		from = " from due"
	}
	list := []metric{{name: "requests per second", unit: "/s", more: true, whole: rate}}
	for _, q := range []struct {
		name, key string
		of        func(*load.Latency) load.Micros
	}{
		{"p50", "p50", func(l *load.Latency) load.Micros { return l.P50 }},
		{"p90", "p90", func(l *load.Latency) load.Micros { return l.P90 }},
		{"p99", "p99", func(l *load.Latency) load.Micros { return l.P99 }},
		{"p99.9", "p999", func(l *load.Latency) load.Micros { return l.P999 }},
		{"mean", "mean", func(l *load.Latency) load.Micros { return l.Mean }},
	} {
		list = append(list, metric{name: q.name + from, unit: "us", whole: latency(q.key, q.of)})
	}
	return append(list,
		metric{name: "errors", unit: "share", whole: errorShare},
		metric{name: "server CPU per request", unit: "us", whole: serverCPU},
		metric{name: "server memory, most", unit: "bytes", whole: serverRSS},
	)
}

func rate(g group) (measured, bool) {
	var answers, seconds float64
	for _, r := range g.runs {
		answers += r.RequestsPerSecond * r.DurationSeconds
		seconds += r.DurationSeconds
	}
	return measured{value: answers / seconds}, seconds > 0
}

// latency returns a value of the latency, which has that name in JSON.
func latency(key string, of func(*load.Latency) load.Micros) func(group) (measured, bool) {
	return func(g group) (measured, bool) {
		if g.latency == nil {
			return measured{}, false
		}
		return measured{float64(of(g.latency)), slices.Contains(g.latency.AtLeast, key)}, true
	}
}

// errorShare is that of errors in all attempts, which are the requests sent and
// the connections that failed.
func errorShare(g group) (measured, bool) {
	var failed, attempts float64
	for _, r := range g.runs {
		var errors int64
		for _, n := range r.Errors {
			errors += n
		}
		failed += float64(errors)
		attempts += float64(r.Sent + errors - r.Failed)
	}
	return measured{value: failed / attempts}, attempts > 0
}
