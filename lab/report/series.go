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

// allPanels returns the panels of the signals that some measured run has.
func allPanels(r *results.Results) []page.Figure {
	end := drawnEnd(r)
	if end <= 0 {
		return nil
	}
	var all []page.Figure
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

// panels draws the signal of each configuration, and the baseline's median in the
// other panels. It returns false if no value is above 0.
func (s signal) panels(r *results.Results, end float64, parts int) (page.Figure, bool) {
	var all []across
	most, base := 0.0, -1
	for _, c := range r.Configurations {
		var runs []binned
		for i := range r.Runs {
			if run := &r.Runs[i]; run.Configuration == c.Name && measured(run) && len(run.Samples) > 0 && !run.Lacks(s.of) {
				runs = append(runs, s.binned(run.Samples, end, parts))
			}
		}
		if len(runs) == 0 {
			continue
		}
		if c.Baseline {
			base = len(all)
		}
		one := acrossRuns(c.Name, runs, end)
		for _, p := range one.high {
			if p.Y > most {
				most = p.Y
			}
		}
		all = append(all, one)
	}
	f := page.Figure{
		File: s.file, Title: s.title, Help: s.help, Height: panelHeight,
		Note: "Each panel is a configuration: the line is the median of its runs, the band their range, until the " +
			"load and its log end.",
		X: page.Time(end).Sparse(4), Y: fromZero(s.unit, most).Sparse(4),
		Keys: []page.Key{{Class: "c1", Name: "median of the runs"}, {Class: "c1 area", Name: "all runs"}},
	}
	if base >= 0 && len(all) > 1 {
		f.Keys = append(f.Keys, page.Key{Class: "faint dashed", Name: "median of " + all[base].name})
	}
	for i, one := range all {
		c := page.Chart{Name: one.name, Curves: []page.Curve{
			{Class: "c1", Shape: page.Area, Points: one.high, Low: one.low}}}
		if base >= 0 && i != base {
			c.Curves = append(c.Curves, page.Curve{Class: "faint dashed", Shape: page.Line, Points: all[base].median})
		}
		c.Curves = append(c.Curves, page.Curve{Class: "c1", Shape: page.Line, Points: one.median})
		f.Charts = append(f.Charts, c)
	}
	return f, most > 0
}

const panelHeight = 90

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
		v := s.value(sample)
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

// across is a signal of all runs of a configuration: the median of their means,
// and the range of all their values, in the middle of each part. Parts without a
// value have NaN.
type across struct {
	name         string
	median, high []page.Point
	low          []float64
}

func acrossRuns(name string, runs []binned, end float64) across {
	parts := len(runs[0].mean)
	a := across{name: name}
	for i := range parts {
		var means []float64
		low, high, middle := math.Inf(1), math.Inf(-1), math.NaN()
		for _, run := range runs {
			if !math.IsNaN(run.mean[i]) {
				means = append(means, run.mean[i])
				low, high = min(low, run.low[i]), max(high, run.high[i])
			}
		}
		if len(means) == 0 {
			low, high = math.NaN(), math.NaN()
		} else {
			slices.Sort(means)
			middle = median(means)
		}
		at := end * (float64(i) + .5) / float64(parts)
		a.median, a.high = append(a.median, page.Point{X: at, Y: middle}), append(a.high, page.Point{X: at, Y: high})
		a.low = append(a.low, low)
	}
	return a
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
