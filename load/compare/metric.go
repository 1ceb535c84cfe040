package compare

import (
	"fmt"
	"slices"

	"github.com/weirhq/weir/load"
)

// A group is one run, or all runs of a side together.
type group struct {
	runs    []*load.Result
	latency *load.Latency // counts from the same moment in all groups; nil without a request
}

// latencyOf returns a function that returns the latency of a result, from due or
// from sent.
func latencyOf(due bool) func(*load.Result) *load.Latency {
	return func(r *load.Result) *load.Latency {
		if due {
			return r.LatencyFromDue
		}
		return r.Latency
	}
}

// fromDue reports whether all results have latencies from due.
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

// open reports whether a result is of the open loop.
func open(r *load.Result) bool { return r.Pacing != nil || r.LatencyFromDue != nil }

// A side is the runs of one side: each, and all together.
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
			return s, fmt.Errorf("compare: the histogram of run %d (%s, %s): %w", i+1, r.URL,
				r.Started.Format("15:04:05"), err)
		}
		s.each = append(s.each, group{results[i : i+1], own})
		latencies = append(latencies, l)
	}
	all, err := load.MergeLatencies(latencies...)
	s.all = group{results, all}
	return s, err
}

// A metric is the subject of a row.
type metric struct {
	check      string // its name in a check; "" if it has none
	name, unit string
	more       bool // more is better
	latency    bool // the name of its row ends with the moment from which it counts

	// whole returns the metric of several runs together; ok is false if a run does
	// not have it.
	whole func(group) (value measured, ok bool)
}

// A measured value may be a lower bound. It is +Inf for a latency of requests that
// were never answered.
type measured struct {
	value   float64
	atLeast bool
}

// runMetrics are the metrics of a whole run.
var runMetrics = []metric{
	{check: "rate", name: "requests per second", unit: "/s", more: true, whole: rate},
	latency("p50", "p50", func(l *load.Latency) load.Micros { return l.P50 }),
	latency("p90", "p90", func(l *load.Latency) load.Micros { return l.P90 }),
	latency("p99", "p99", func(l *load.Latency) load.Micros { return l.P99 }),
	latency("p99.9", "p999", func(l *load.Latency) load.Micros { return l.P999 }),
	latency("mean", "mean", func(l *load.Latency) load.Micros { return l.Mean }),
	{check: "errors", name: "errors", unit: "share", whole: errorShare},
	{check: "cpu", name: "server CPU per request", unit: "us", whole: serverCPU},
	{check: "memory", name: "server memory, most", unit: "bytes", whole: serverRSS},
}

// latency returns the metric of a latency's value; key is the value's name in JSON.
func latency(name, key string, of func(*load.Latency) load.Micros) metric {
	whole := func(g group) (measured, bool) {
		if g.latency == nil {
			return measured{}, false
		}
		return measured{float64(of(g.latency)), slices.Contains(g.latency.AtLeast, key)}, true
	}
	return metric{check: name, name: name, unit: "us", latency: true, whole: whole}
}

// rowName returns the name of the metric's row. due is for latencies that count from
// when requests were due.
func (m metric) rowName(due bool) string {
	switch {
	case !m.latency:
		return m.name
	case due:
		return m.name + " from due"
	}
	return m.name + " from sent"
}

func rate(g group) (measured, bool) {
	var responses, seconds float64
	for _, r := range g.runs {
		responses += r.RequestsPerSecond * r.DurationSeconds
		seconds += r.DurationSeconds
	}
	return measured{value: responses / seconds}, seconds > 0
}

// errorShare is the share of errors in all attempts: the requests sent and the
// connections that failed.
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

// serverCPU is the server's CPU time per response, in microseconds.
func serverCPU(g group) (measured, bool) {
	var cpu, responses float64
	for _, r := range g.runs {
		if r.Server == nil {
			return measured{}, false
		}
		cpu += r.Server.CPUSeconds
		responses += float64(r.Requests)
	}
	return measured{value: 1e6 * cpu / responses}, responses > 0
}

// serverRSS is the largest resident memory of the server, in bytes.
func serverRSS(g group) (measured, bool) {
	var most float64
	for _, r := range g.runs {
		if r.Server == nil || r.Server.PeakRSS == 0 {
			return measured{}, false
		}
		most = max(most, float64(r.Server.PeakRSS))
	}
	return measured{value: most}, true
}
