package lab

import (
	"slices"

	"github.com/weirhq/weir/load"
)

// A Metric is a number that every run may have, and by which configurations are
// compared.
type Metric struct {
	Name   string // "requests per second"
	Unit   string // "/s", "us", "bytes", "CPUs", "s", "" for a count
	Better Better
	Of     func(*Run) (value float64, ok bool) // ok is false when the run does not have it
}

// Metrics are those that the lab knows, the most telling first.
func Metrics() []Metric { return slices.Clone(metrics) }

var metrics = []Metric{
	{"requests per second", "/s", Higher, func(r *Run) (float64, bool) {
		if r.Load == nil {
			return 0, false
		}
		return r.Load.RequestsPerSecond, r.Load.Requests > 0
	}},
	{"latency p50", "us", Lower, latency(func(l quantiles) float64 { return l.P50 })},
	{"latency p99", "us", Lower, latency(func(l quantiles) float64 { return l.P99 })},
	{"latency p99.9", "us", Lower, latency(func(l quantiles) float64 { return l.P999 })},
	{"latency max", "us", Lower, latency(func(l quantiles) float64 { return l.Max })},
	{"CPU per request", "us", Lower, perRequest(func(u Usage) float64 { return u.CPUSeconds * 1e6 })},
	{"user CPU per request", "us", Lower, perRequest(func(u Usage) float64 { return u.UserSeconds * 1e6 })},
	{"system CPU per request", "us", Lower, perRequest(func(u Usage) float64 { return u.SystemSeconds * 1e6 })},
	{"CPU", "CPUs", Neither, used(func(u Usage) float64 { return u.CPUSeconds / u.Seconds })},
	{"memory, peak", "bytes", Lower, used(func(u Usage) float64 { return float64(u.PeakRSS) })},
	{"memory, mean", "bytes", Lower, used(func(u Usage) float64 { return float64(u.MeanRSS) })},
	{"threads, peak", "", Lower, used(func(u Usage) float64 { return float64(u.PeakThreads) })},
	{"open files, peak", "", Neither, used(func(u Usage) float64 { return float64(u.PeakFiles) })},
	{"context switches per request", "", Lower, perRequest(func(u Usage) float64 { return float64(u.VoluntarySwitches + u.ForcedSwitches) })},
	ofLoad("requests not answered with 2xx", "", Lower, func(l *load.Result) float64 { return float64(l.Without2xx()) }),
	{"log bytes per second", "bytes/s", Neither, func(r *Run) (float64, bool) {
		return r.Output.BytesPerSecond, r.Output.Bytes > 0
	}},
	{"log lines lost", "", Lower, func(r *Run) (float64, bool) {
		return float64(r.Output.Lost), r.Output.Expected > 0
	}},
	{"log after the last answer", "s", Lower, func(r *Run) (float64, bool) {
		return r.Output.After, r.Output.Bytes > 0
	}},
	{"waiting for the log's reader, most", "bytes", Neither, func(r *Run) (float64, bool) {
		return float64(r.Output.MostBehind), r.Output.MostBehind > 0
	}},
	{"allocated per request", "bytes", Lower, goPerRequest(func(g GoUsage) float64 { return float64(g.Allocated) })},
	{"allocations per request", "", Lower, goPerRequest(func(g GoUsage) float64 { return float64(g.Allocations) })},
	{"garbage collections", "", Lower, ofGo(func(g GoUsage) float64 { return float64(g.GCs) })},
	{"collector's pauses", "s", Lower, ofGo(func(g GoUsage) float64 { return g.PauseSeconds })},
	{"heap in use, peak", "bytes", Lower, ofGo(func(g GoUsage) float64 { return float64(g.PeakHeap) })},
	{"goroutines, peak", "", Lower, ofGo(func(g GoUsage) float64 { return float64(g.PeakGoroutines) })},
	{"time to be ready", "s", Lower, func(r *Run) (float64, bool) { return r.ReadyAfter, r.ReadyAfter > 0 }},
}

// quantiles are the latencies that users had to wait, in microseconds: from due in the open
// loop, else from sent.
type quantiles struct{ P50, P99, P999, Max float64 }

func latency(of func(quantiles) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Load == nil || r.Load.Requests == 0 {
			return 0, false
		}
		l := r.Load.Latency
		if r.Load.LatencyFromDue != nil {
			l = r.Load.LatencyFromDue
		}
		return of(quantiles{wait(r.Load, l.P50), wait(r.Load, l.P99), wait(r.Load, l.P999), wait(r.Load, l.Max)}), true
	}
}

// wait is a latency in microseconds. One of requests that were never answered has no value; it counts
// as the time that the whole run and its timeout took, so that it is above every other latency of the run.
func wait(l *load.Result, us load.Micros) float64 {
	if us == load.NeverAnswered {
		return 1e6 * (l.DurationSeconds + l.TimeoutSeconds)
	}
	return float64(us)
}

func used(of func(Usage) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Usage.Seconds == 0 {
			return 0, false
		}
		return of(r.Usage), true
	}
}

func perRequest(of func(Usage) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Usage.Seconds == 0 || r.Load == nil || r.Load.Requests == 0 {
			return 0, false
		}
		return of(r.Usage) / float64(r.Load.Requests), true
	}
}

func ofGo(of func(GoUsage) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Go == nil {
			return 0, false
		}
		return of(*r.Go), true
	}
}

func goPerRequest(of func(GoUsage) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Go == nil || r.Load == nil || r.Load.Requests == 0 {
			return 0, false
		}
		return of(*r.Go) / float64(r.Load.Requests), true
	}
}
