package report

import (
	"math"
	"slices"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// A segment is a value during a period of time.
type segment struct{ from, to, value float64 } // from and to in seconds

// A track is one value over the time of a run, in consecutive segments.
type track struct {
	name     string
	segments []segment
	text     func(float64) string
	color    page.Color
	dips     bool // small values are worse than large ones
}

// worst divides the time up to end, in seconds, into n parts and returns the
// worst value in each, so that a small drawing hides nothing bad. A part
// without a segment has 0.
func (t *track) worst(n int, end float64) []float64 {
	values, seen := make([]float64, n), make([]bool, n)
	for _, s := range t.segments {
		first := min(max(int(s.from/end*float64(n)+1e-6), 0), n-1)
		last := min(max(int(s.to/end*float64(n)-1e-6), first), n-1)
		for i := first; i <= last; i++ {
			if !seen[i] || (s.value < values[i]) == t.dips {
				values[i], seen[i] = s.value, true
			}
		}
	}
	return values
}

// merged returns at most limit segments. It merges consecutive ones and keeps
// their worst value.
func (t *track) merged(limit int) []segment {
	each := (len(t.segments) + limit - 1) / limit
	if each <= 1 {
		return t.segments
	}
	var merged []segment
	for some := range slices.Chunk(t.segments, each) {
		one := segment{some[0].from, some[len(some)-1].to, some[0].value}
		for _, s := range some[1:] {
			if (s.value < one.value) == t.dips {
				one.value = s.value
			}
		}
		merged = append(merged, one)
	}
	return merged
}

// most returns the largest finite value.
func (t *track) most() float64 {
	most := 0.0
	for _, s := range t.segments {
		if !math.IsInf(s.value, 1) {
			most = max(most, s.value)
		}
	}
	return most
}

// infinite reports whether a value is infinite, as are latencies of requests
// that were never answered.
func (t *track) infinite() bool {
	return slices.ContainsFunc(t.segments, func(s segment) bool { return math.IsInf(s.value, 1) })
}

// greatest formats the largest value.
func (t *track) greatest() string {
	if t.infinite() {
		return t.text(math.Inf(1))
	}
	return t.text(t.most())
}

// spanText formats a latency.
func spanText(us float64) string { return span(load.Micros(us)) }

// tracks returns all values over time: of each second, and of the server's
// samples.
func tracks(r *load.Result) []track {
	_, from := primary(r)
	named := func(t track, name string, text func(float64) string, c page.Color) track {
		t.name, t.text, t.color = name, text, c
		return t
	}
	all := []track{
		named(secondTrack(r, responsesPerSecond, true), "responses/s", readable.Number, page.Green),
		named(secondTrack(r, errorsPerSecond, false), "errors/s", readable.Number, page.Red),
		named(secondTrack(r, p50Of, false), "p50, "+from, spanText, page.Cyan),
		named(secondTrack(r, p99Of, false), "p99, "+from, spanText, page.Cyan),
		named(secondTrack(r, maxOf, false), "max, "+from, spanText, page.Cyan),
	}
	if r.Server == nil {
		return all
	}
	return append(all,
		named(sampleTrack(r, cpuOf), "server CPUs", readable.Number, page.Magenta),
		named(sampleTrack(r, memoryOf), "memory", readable.Size, page.Magenta))
}

// secondTrack returns the track of a value of each second.
func secondTrack(r *load.Result, of func(load.Second) float64, dips bool) track {
	t := track{dips: dips, segments: make([]segment, len(r.Series))}
	for i, s := range r.Series {
		t.segments[i] = segment{s.Start, s.Start + s.Seconds, of(s)}
	}
	return t
}

func p50Of(s load.Second) float64 { return float64(s.P50) }
func p99Of(s load.Second) float64 { return float64(s.P99) }
func maxOf(s load.Second) float64 { return float64(s.Max) }

// sampleTrack returns the track of a value of the server's samples.
func sampleTrack(r *load.Result, of func(load.ServerSample) float64) track {
	t, before := track{segments: make([]segment, len(r.Server.Samples))}, 0.0
	for i, s := range r.Server.Samples {
		t.segments[i] = segment{before, s.At, of(s)}
		before = s.At
	}
	return t
}

func cpuOf(s load.ServerSample) float64    { return s.CPU }
func memoryOf(s load.ServerSample) float64 { return float64(s.RSS) }

// end returns the end of a result's last segment, in seconds since it began.
func end(r *load.Result) float64 {
	end := r.DurationSeconds
	if n := len(r.Series); n > 0 {
		end = max(end, r.Series[n-1].Start+r.Series[n-1].Seconds)
	}
	if r.Server != nil && len(r.Server.Samples) > 0 {
		end = max(end, r.Server.Samples[len(r.Server.Samples)-1].At)
	}
	return end
}

// responsesPerSecond is comparable between all seconds, including the last, which
// may be short.
func responsesPerSecond(s load.Second) float64 { return perSecond(s.Requests, s) }

func errorsPerSecond(s load.Second) float64 { return perSecond(s.Errors, s) }

func perSecond(n int64, s load.Second) float64 {
	if s.Seconds <= 0 {
		return 0
	}
	return float64(n) / s.Seconds
}
