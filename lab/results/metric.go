package results

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/load"
)

// A Metric is a number that every run may have. Configurations are compared by
// it.
type Metric struct {
	Name   string // "requests per second"
	Unit   string // "/s", "us", "bytes", "CPUs", "s", "" for a count
	Better Better
	Of     func(*Run) (value float64, ok bool) // ok is false if the run does not have it

	// PerRequest says that the value is divided by the number of responses. A
	// run that is [Run.Unanswered] does not have it.
	PerRequest bool

	// Part is the part of the usage that the value is from, or "". A run that [Run.Lacks] it does not have the metric.
	Part Part
}

// FailedRequests is the name of the metric of the share of the requests that were not answered with 2xx.
const FailedRequests = "failed requests"

// DefaultLead returns the leading metrics of an experiment that names none.
func DefaultLead() []string {
	return []string{"CPU per request", "latency p50", "latency p99", FailedRequests}
}

// Metrics returns the metrics that the lab knows, the most informative first.
func Metrics() []Metric { return slices.Clone(metrics) }

var metrics = []Metric{
	{Name: "requests per second", Unit: "/s", Better: Higher, Of: func(r *Run) (float64, bool) {
		if r.Load == nil {
			return 0, false
		}
		return r.Load.RequestsPerSecond, r.Load.Requests > 0
	}},
	{Name: "latency p50", Unit: "us", Better: Lower, Of: latency(func(l quantiles) float64 { return l.P50 })},
	{Name: "latency p99", Unit: "us", Better: Lower, Of: latency(func(l quantiles) float64 { return l.P99 })},
	{Name: "latency p99.9", Unit: "us", Better: Lower, Of: latency(func(l quantiles) float64 { return l.P999 })},
	{Name: "latency max", Unit: "us", Better: Lower, Of: latency(func(l quantiles) float64 { return l.Max })},
	perRequest(CPU, "CPU per request", "us", func(u Usage) float64 { return u.CPUSeconds * 1e6 }),
	perRequest(CPU, "user CPU per request", "us", func(u Usage) float64 { return u.UserSeconds * 1e6 }),
	perRequest(CPU, "system CPU per request", "us", func(u Usage) float64 { return u.SystemSeconds * 1e6 }),
	counted(),
	used(CPU, "CPU", "CPUs", Neither, func(u Usage) float64 { return u.CPUSeconds / u.Seconds }),
	used(Memory, "memory, peak", "bytes", Lower, func(u Usage) float64 { return float64(u.PeakRSS) }),
	used(Memory, "memory, mean", "bytes", Lower, func(u Usage) float64 { return float64(u.MeanRSS) }),
	used(Threads, "threads, peak", "", Lower, func(u Usage) float64 { return float64(u.PeakThreads) }),
	used(OpenFiles, "open files, peak", "", Neither, func(u Usage) float64 { return float64(u.PeakFiles) }),
	perRequest(Switches, "context switches per request", "", func(u Usage) float64 {
		return float64(u.VoluntarySwitches + u.ForcedSwitches)
	}),
	{Name: FailedRequests, Unit: "%", Better: Lower, Of: func(r *Run) (float64, bool) {
		if r.Load == nil || r.Load.Sent == 0 {
			return 0, false
		}
		return 100 * float64(r.Load.Without2xx()) / float64(r.Load.Sent), true
	}},
	{Name: "log bytes per second", Unit: "bytes/s", Better: Neither, Of: func(r *Run) (float64, bool) {
		return r.Output.BytesPerSecond, r.Output.Bytes > 0
	}},
	{Name: "log lines lost", Unit: "", Better: Lower, Of: func(r *Run) (float64, bool) {
		return float64(r.Output.Lost), r.Output.Expected > 0
	}},
	{Name: "log after the last answer", Unit: "s", Better: Lower, Of: func(r *Run) (float64, bool) {
		return r.Output.After, r.Output.Bytes > 0
	}},
	{Name: "waiting for the log's reader, most", Unit: "bytes", Better: Neither, Of: func(r *Run) (float64, bool) {
		return float64(r.Output.MostBehind), r.Output.MostBehind > 0
	}},
	goPerRequest("allocated per request", "bytes", func(g GoUsage) float64 { return float64(g.Allocated) }),
	goPerRequest("allocations per request", "", func(g GoUsage) float64 { return float64(g.Allocations) }),
	{Name: "garbage collections", Unit: "", Better: Lower, Of: ofGo(func(g GoUsage) float64 { return float64(g.GCs) })},
	{Name: "collector's pauses", Unit: "s", Better: Lower, Of: ofGo(func(g GoUsage) float64 { return g.PauseSeconds })},
	{Name: "heap in use, peak", Unit: "bytes", Better: Lower,
		Of: ofGo(func(g GoUsage) float64 { return float64(g.PeakHeap) })},
	{Name: "goroutines, peak", Unit: "", Better: Lower,
		Of: ofGo(func(g GoUsage) float64 { return float64(g.PeakGoroutines) })},
	{Name: "time to be ready", Unit: "s", Better: Lower,
		Of: func(r *Run) (float64, bool) { return r.ReadyAfter, r.ReadyAfter > 0 }},
}

// quantiles are the latencies that users experience, in microseconds: from due
// in the open loop, otherwise from sent.
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

// wait returns a latency in microseconds. That of a request that was never
// answered has no value. It counts as the time of the whole run and its
// timeout, so that it is above every other latency of the run.
func wait(l *load.Result, us load.Micros) float64 {
	if us == load.NeverAnswered {
		return 1e6 * (l.DurationSeconds + l.TimeoutSeconds)
	}
	return float64(us)
}

// used returns a metric of a part of the usage.
func used(p Part, name, unit string, better Better, of func(Usage) float64) Metric {
	return Metric{Name: name, Unit: unit, Better: better, Part: p, Of: func(r *Run) (float64, bool) {
		if r.Usage.Seconds == 0 || r.Lacks(p) {
			return 0, false
		}
		return of(r.Usage), true
	}}
}

func perRequest(p Part, name, unit string, of func(Usage) float64) Metric {
	m := divided(name, unit, used(p, name, unit, Lower, of).Of)
	m.Part = p
	return m
}

// InstructionsPerRequest is the name of the metric of the instructions that a processor executes in user mode. Runs have it
// if it leads.
const InstructionsPerRequest = "instructions per request"

func counted() Metric {
	m := perRequest(Instructions, InstructionsPerRequest, "", func(u Usage) float64 { return u.Instructions })
	of := m.Of
	m.Of = func(r *Run) (float64, bool) {
		value, ok := of(r)
		return value, ok && value > 0
	}
	return m
}

// divided returns a metric that is divided by the number of responses.
func divided(name, unit string, of func(*Run) (float64, bool)) Metric {
	return Metric{Name: name, Unit: unit, PerRequest: true, Of: func(r *Run) (float64, bool) {
		value, ok := of(r)
		if !ok || r.Load == nil || r.Load.Requests == 0 || r.Unanswered() {
			return 0, false
		}
		return value / float64(r.Load.Requests), true
	}}
}

// maxUnanswered is the largest share of requests without a response for which
// values per request are meaningful.
const maxUnanswered = 0.01

// Unanswered reports whether more than 1% of the requests that were sent had no
// response. The service has worked for them, too, so a value per response would be
// too high.
func (r *Run) Unanswered() bool {
	return r.Load != nil && float64(r.Load.Sent-r.Load.Requests) > maxUnanswered*float64(r.Load.Sent)
}

func ofGo(of func(GoUsage) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		if r.Go == nil {
			return 0, false
		}
		return of(*r.Go), true
	}
}

func goPerRequest(name, unit string, of func(GoUsage) float64) Metric {
	return divided(name, unit, func(r *Run) (float64, bool) {
		if r.Go == nil {
			return 0, false
		}
		return of(*r.Go), true
	})
}

// GoodAnswers is the name of a metric that exists if there were other responses,
// too.
const GoodAnswers = "answers of 2xx per second"

// MetricsOf returns [Metrics], followed by metrics of the refused and failed
// requests of these runs, if there are any: [GoodAnswers], "answers of 503",
// "failed: timeout". Requests per second count every response, and a service
// refuses faster than it serves.
func MetricsOf(runs []Run) []Metric {
	all := Metrics()
	codes, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		if r.Load == nil {
			continue
		}
		for code, n := range r.Load.StatusCodes {
			if n > 0 && !strings.HasPrefix(code, "2") {
				codes[code] = true
			}
		}
		for kind, n := range r.Load.Errors {
			if n > 0 {
				kinds[kind] = true
			}
		}
	}
	if len(codes)+len(kinds) == 0 {
		return all
	}
	all = append(all, ofLoad(GoodAnswers, "/s", Higher, func(l *load.Result) float64 {
		return l.RequestsPerSecond * float64(l.Status["2xx"]) / float64(max(l.Requests, 1))
	}))
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		all = append(all, ofLoad("answers of "+code, "", Neither,
			func(l *load.Result) float64 { return float64(l.StatusCodes[code]) }))
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, ofLoad("failed: "+strings.ReplaceAll(kind, "_", " "), "", Neither,
			func(l *load.Result) float64 { return float64(l.Errors[kind]) }))
	}
	return all
}

func ofLoad(name, unit string, better Better, of func(*load.Result) float64) Metric {
	return Metric{Name: name, Unit: unit, Better: better, Of: func(r *Run) (float64, bool) {
		if r.Load == nil {
			return 0, false
		}
		return of(r.Load), true
	}}
}
