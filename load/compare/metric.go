package compare

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/weirhq/weir/load"
)

// A run is a result with the distribution of its latencies, which in a
// comparison count from the same moment in all runs.
type run struct {
	*load.Result
	latency   *load.Latency
	histogram *hdrhistogram.Histogram // nil without an answer
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

// open tells that a result is of the open loop, whose series counts from due.
func open(r *load.Result) bool { return r.Pacing != nil || r.LatencyFromDue != nil }

// readRuns decodes the histograms of both sides.
func readRuns(a, b []*load.Result) (ra, rb []*run, err error) {
	due := fromDue(a, b)
	read := func(results []*load.Result) []*run {
		var runs []*run
		for i, result := range results {
			r := &run{Result: result, latency: result.Latency}
			if due {
				r.latency = result.LatencyFromDue
			}
			if r.latency != nil && r.latency.Count > 0 {
				var decode error
				if r.histogram, decode = r.latency.DecodeHistogram(); decode != nil && err == nil {
					err = fmt.Errorf("compare: the histogram of run %d (%s, %s): %w", i+1, r.URL, r.Started.Format("15:04:05"), decode)
				}
			}
			runs = append(runs, r)
		}
		return runs
	}
	ra, rb = read(a), read(b)
	return ra, rb, err
}

// A metric is what a row is about.
type metric struct {
	name, unit string
	more       bool // is better

	// whole is the metric of several runs together, false when one has none.
	whole func([]*run) (float64, bool)

	// seconds are the metric of each whole second of a run; nil when seconds
	// have none.
	seconds func(*run) []float64
}

// metrics are the rows of a comparison of such results.
func metrics(a, b []*load.Result) []metric {
	from := " from sent"
	if fromDue(a, b) {
		from = " from due"
	}
	list := []metric{{name: "requests per second", unit: "/s", more: true, whole: rate, seconds: rates}}
	for _, q := range []struct {
		name    string
		p       float64
		seconds func(*load.Second) float64
	}{
		{"p50", 50, func(s *load.Second) float64 { return s.P50 }},
		{"p90", 90, func(s *load.Second) float64 { return s.P90 }},
		{"p99", 99, func(s *load.Second) float64 { return s.P99 }},
		{"p99.9", 99.9, nil},
	} {
		m := metric{name: q.name + from, unit: "us", whole: percentile(q.p)}
		if q.seconds != nil && alike(a, b) {
			m.seconds = quantiles(q.seconds)
		}
		list = append(list, m)
	}
	return append(list,
		metric{name: "mean" + from, unit: "us", whole: mean},
		metric{name: "errors", unit: "share", whole: errorShare, seconds: errorShares},
		metric{name: "server CPU per request", unit: "us", whole: serverCPU, seconds: serverCPUs},
		metric{name: "server memory, most", unit: "bytes", whole: serverRSS, seconds: serverRSSs},
	)
}

// alike tells that the latencies in the series count from the same moment.
func alike(a, b []*load.Result) bool {
	for _, side := range [][]*load.Result{a, b} {
		for _, r := range side {
			if open(r) != open(a[0]) {
				return false
			}
		}
	}
	return true
}

// wholeSeconds are those that a second's metrics are taken from: a piece of one
// at the end of a run has too few answers.
func wholeSeconds(r *run) []load.Second {
	var whole []load.Second
	for _, s := range r.Series {
		if s.Seconds >= 0.9 {
			whole = append(whole, s)
		}
	}
	return whole
}

func rate(runs []*run) (float64, bool) {
	var answers, seconds float64
	for _, r := range runs {
		answers += r.RequestsPerSecond * r.DurationSeconds
		seconds += r.DurationSeconds
	}
	return answers / seconds, seconds > 0
}

func rates(r *run) []float64 {
	var list []float64
	for _, s := range wholeSeconds(r) {
		list = append(list, float64(s.Requests)/s.Seconds)
	}
	return list
}

// percentile returns that of the histograms, merged, in microseconds.
func percentile(p float64) func([]*run) (float64, bool) {
	return func(runs []*run) (float64, bool) {
		var all *hdrhistogram.Histogram
		for _, r := range runs {
			switch {
			case r.histogram == nil:
			case all == nil:
				all = r.histogram.Clone()
			default:
				all.Merge(r.histogram)
			}
		}
		if all == nil {
			return 0, false
		}
		return float64(all.ValueAtPercentile(p)) / 1e3, true
	}
}

// quantiles returns a quantile of the whole seconds that had answers.
func quantiles(of func(*load.Second) float64) func(*run) []float64 {
	return func(r *run) []float64 {
		var list []float64
		for _, s := range wholeSeconds(r) {
			if s.Requests > 0 {
				list = append(list, of(&s))
			}
		}
		return list
	}
}

func mean(runs []*run) (float64, bool) {
	var sum, n float64
	for _, r := range runs {
		if r.latency != nil {
			sum += r.latency.Mean * float64(r.latency.Count)
			n += float64(r.latency.Count)
		}
	}
	return sum / n, n > 0
}

// errorShare is that of errors in all attempts, which are the requests sent and
// the connections that failed.
func errorShare(runs []*run) (float64, bool) {
	var failed, attempts float64
	for _, r := range runs {
		var errors int64
		for _, n := range r.Errors {
			errors += n
		}
		failed += float64(errors)
		attempts += float64(r.Sent + errors - r.Failed)
	}
	return failed / attempts, attempts > 0
}

// errorShares are those of the errors in what ended in each second.
func errorShares(r *run) []float64 {
	var list []float64
	for _, s := range wholeSeconds(r) {
		if ended := s.Requests + s.Errors; ended > 0 {
			list = append(list, float64(s.Errors)/float64(ended))
		}
	}
	return list
}
