package report

import (
	"math"
	"slices"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/results"
)

// maxParts is the largest number of parts of a panel's time axis: about one for
// every two pixels.
const maxParts = 180

// partsOf returns the number of parts of the time axis. Each part has about two
// samples of each run, because a part without a sample would be a gap.
func partsOf(r *results.Results, end float64) int {
	period := 0.0
	for i := range r.Runs {
		if run := &r.Runs[i]; measured(run) && len(run.Samples) > 1 {
			n := len(run.Samples)
			period = max(period, (run.Samples[n-1].At-run.Samples[0].At)/float64(n-1))
		}
	}
	if period <= 0 {
		return 1
	}
	return min(max(int(end/period/2), 1), maxParts)
}

// A signal is a value of samples.
type signal struct {
	file, title, help, unit string
	of                      func(results.Sample) float64
	level                   bool // not a rate: each sample is meaningful by itself
}

var signals = []signal{
	{"memory-over-time", "Memory over time", "The memory of the service and its children (RSS). A constant level is " +
		"healthy. A level that still rises at the end may be a leak. A saw-tooth is a garbage collector.", "bytes",
		func(s results.Sample) float64 { return float64(s.RSS) }, true},
	{"cpu-over-time", "CPU over time", "1 is one CPU in full use. In a dip of all runs the service waits for " +
		"something: a lock, a disk, the reader of its log.", "CPUs",
		func(s results.Sample) float64 { return s.User + s.System }, false},
	{"log-bytes-over-time", "Log bytes per second", "The output of the service's stdout and stderr. A flat top is " +
		"the limit of its reader; in a gap, nothing was read or nothing was written.", "bytes/s",
		func(s results.Sample) float64 { return float64(s.Output) }, false},
	{"waiting-for-reader", "Waiting for the log's reader",
		"Unread bytes in the pipe or terminal. At the size of the pipe, the service waits in its write, and so may " +
			"its requests.", "bytes",
		func(s results.Sample) float64 { return float64(s.Behind) }, true},
	{"heap-over-time", "Heap over time", "The Go heap in use, as reported by the service. Each fall of the saw-tooth " +
		"is a garbage collection. A higher GOGC makes fewer and larger teeth.", "bytes",
		func(s results.Sample) float64 { return float64(s.Heap) }, true},
	{"gc-pauses", "Garbage collector's pauses, added up",
		"The time for which the collector has stopped the service since the load began. The steeper the line, the " +
			"larger the share of that time. A step is one long pause.", "s",
		func(s results.Sample) float64 { return s.Pause }, true},
}

// allPanels returns the panels of the signals that some measured run has.
func allPanels(r *results.Results) []page.Panels {
	end := drawnEnd(r)
	if end <= 0 {
		return nil
	}
	var all []page.Panels
	parts := partsOf(r, end)
	for _, s := range signals {
		if p, ok := s.panels(r, end, parts); ok {
			all = append(all, p)
		}
	}
	return all
}

// drawnEnd returns the end of the time axis: the end of the longest load of the
// measured runs, or of their last output if that is later. Samples after it,
// while a service ends, are left out to save room.
func drawnEnd(r *results.Results) float64 {
	end, last := 0.0, 0.0
	for i := range r.Runs {
		run := &r.Runs[i]
		if !measured(run) || len(run.Samples) == 0 {
			continue
		}
		last = max(last, run.Samples[len(run.Samples)-1].At)
		if run.Load != nil {
			end = max(end, run.Load.DurationSeconds)
		}
		for _, s := range slices.Backward(run.Samples) {
			if s.Output > 0 {
				end = max(end, s.At)
				break
			}
		}
	}
	if end <= 0 {
		return last
	}
	return min(end, last)
}

// measured reports whether the values of a run count.
func measured(run *results.Run) bool {
	return run.Outcome == results.Done || run.Outcome == results.Leaked
}

func (s signal) panels(r *results.Results, end float64, parts int) (page.Panels, bool) {
	p := page.Panels{Parts: parts, File: s.file, Title: s.title, Help: s.help, End: end}
	most := 0.0
	for _, c := range r.Configurations {
		var runs []binned
		for i := range r.Runs {
			if run := &r.Runs[i]; run.Configuration == c.Name && measured(run) && len(run.Samples) > 0 {
				runs = append(runs, s.binned(run.Samples, end, parts))
			}
		}
		if len(runs) == 0 {
			continue
		}
		one := acrossRuns(c, runs)
		for _, v := range one.High {
			if v > most {
				most = v
			}
		}
		p.Each = append(p.Each, one)
	}
	if most == 0 {
		return p, false
	}
	p.Axis = fromZero(s.unit, most)
	return p, true
}

// binned is a signal of one run: the mean, the minimum and the maximum in each
// part of the time, or NaN in a part without a sample.
type binned struct{ mean, low, high []float64 }

// binned divides the time up to end. The minimum and the maximum of a rate are
// its mean, because the rate of a single sample is too random.
func (s signal) binned(samples []results.Sample, end float64, parts int) binned {
	b := binned{make([]float64, parts), make([]float64, parts), make([]float64, parts)}
	counts := make([]int, parts)
	for _, sample := range samples {
		if sample.At < 0 || sample.At > end {
			continue // during the warm-up, or after the end
		}
		i := min(int(sample.At/end*float64(parts)), parts-1)
		v := s.of(sample)
		if counts[i] == 0 {
			b.low[i], b.high[i] = v, v
		}
		b.mean[i] += v
		b.low[i], b.high[i] = min(b.low[i], v), max(b.high[i], v)
		counts[i]++
	}
	for i, n := range counts {
		b.mean[i] /= float64(n) // NaN if there are none
		if n == 0 || !s.level {
			b.low[i], b.high[i] = b.mean[i], b.mean[i]
		}
	}
	b.fill(counts)
	return b
}

// fill fills gaps between samples with the later value: a rate is the mean
// since the sample before, and a level is at most one sample late.
func (b binned) fill(counts []int) {
	later := -1
	first := slices.IndexFunc(counts, func(n int) bool { return n > 0 })
	for i := len(counts) - 1; i > first && first >= 0; i-- {
		if counts[i] > 0 {
			later = i
		} else if later >= 0 {
			b.mean[i], b.low[i], b.high[i] = b.mean[later], b.low[later], b.high[later]
		}
	}
}

// acrossRuns returns the median of several runs' means, and the range of all
// their values, in each part.
func acrossRuns(c results.Configuration, runs []binned) page.Panel {
	parts := len(runs[0].mean)
	p := page.Panel{Name: c.Name, Baseline: c.Baseline, Median: make([]float64, parts), Low: make([]float64, parts),
		High: make([]float64, parts)}
	for i := range parts {
		var means []float64
		low, high := math.Inf(1), math.Inf(-1)
		for _, run := range runs {
			if !math.IsNaN(run.mean[i]) {
				means = append(means, run.mean[i])
				low, high = min(low, run.low[i]), max(high, run.high[i])
			}
		}
		if len(means) == 0 {
			p.Median[i], p.Low[i], p.High[i] = math.NaN(), math.NaN(), math.NaN()
			continue
		}
		slices.Sort(means)
		p.Median[i], p.Low[i], p.High[i] = median(means), low, high
	}
	return p
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
