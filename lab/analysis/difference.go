package analysis

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// summary returns the median of values and its interval.
func summary(values []Value) Summary {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(numbers(values), &benchmath.DefaultThresholds), confidence)
	all := Summary{Values: values, Median: s.Center}
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		all.Interval = &Interval{s.Lo, s.Hi}
	}
	return all
}

func median(values []Value) float64 { return summary(values).Median }

// difference compares the values of one session with those of another, the base. Neither may be empty. It sets no
// verdict.
func difference(base, values []Value) *Difference {
	test := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(numbers(base), &benchmath.DefaultThresholds),
		benchmath.NewSample(numbers(values), &benchmath.DefaultThresholds))
	p := min(test.P, 1) // with ties, twice one side of a discrete distribution may exceed 1
	d := &Difference{P: &p}
	if ratio := ratioOf(median(values), median(base)); finite(ratio) {
		d.Ratio = &ratio
		d.Interval = ratioInterval(numbers(base), numbers(values))
	}
	if d.Interval != nil {
		d.Interval.Low = min(d.Interval.Low, *d.Ratio)
		d.Interval.High = max(d.Interval.High, *d.Ratio)
	}
	return d
}

// ratioOf returns 1 for 0 and 0, which do not differ.
func ratioOf(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

func (d *Difference) differs() bool {
	return d.Verdict == Better || d.Verdict == Worse || d.Verdict == Differs
}

// notTested makes the difference a description, for a reason, unless all values are equal.
func (d *Difference) notTested(why string, samples ...[]Value) {
	if !vary(samples...) {
		d.Verdict, d.Why = Same, allEqual
		return
	}
	d.P, d.Verdict, d.Why = nil, NotJudged, why
}

// The reasons of a difference that is only described, and of one between equal values.
const (
	doesNotLead = "not tested: it is no leading metric"
	notAsked    = "not tested: the experiment does not ask for it"
	allEqual    = "all of the values are the same"
)

// distance returns the distance of the medians, or 0 if one side has no values.
func distance(a, b []Value) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return math.Abs(median(a) - median(b))
}

// correct sets the corrected p of a family by Holm's method: each p is
// multiplied by the number of p that are not smaller, and is at least as large
// as the corrected p before it.
func correct(family []*Difference) {
	byP := slices.Clone(family)
	slices.SortStableFunc(byP, func(a, b *Difference) int { return cmp.Compare(a.tested(), b.tested()) })
	least := 0.0
	for i, d := range byP {
		least = max(least, min(1, d.tested()*float64(len(byP)-i)))
		corrected := least
		d.Corrected = &corrected
	}
}

// tested returns the p that is corrected.
func (d *Difference) tested() float64 { return max(*d.P, d.betweenSessions) }

// withinItself is the reason for the verdict Noise of a difference between two sessions that is significant, but no
// larger than that of a baseline from its twin.
const withinItself = "the baseline differs from itself by as much"

// changesWithTime is the reason for the verdict Noise of a difference between
// two sessions that only the test of independent runs finds.
const changesWithTime = "the runs of one side change with time, by about as much"

// withhold takes the verdict Better back, for a reason. A configuration that fails more often than the baseline is not
// better.
func (d *Difference) withhold(why string) {
	if d.Verdict == Better && why != "" {
		d.Verdict, d.Why, d.withheld = NotJudged, why, true
	}
}

// dominance returns the number of pairs in which the value is larger than the
// base's, minus those in which it is smaller.
func dominance(base, values []Value) float64 {
	n := 0
	for _, v := range values {
		for _, b := range base {
			switch {
			case v.Value > b.Value:
				n++
			case v.Value < b.Value:
				n--
			}
		}
	}
	return float64(n)
}
