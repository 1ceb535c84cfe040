package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/weirhq/weir/lab"
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

// difference compares values with those of the base; both have some. It does
// not judge them.
func difference(base, values []Value) *Difference {
	test := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(numbers(base), &benchmath.DefaultThresholds),
		benchmath.NewSample(numbers(values), &benchmath.DefaultThresholds))
	p := min(test.P, 1) // with ties, twice the half of a discrete distribution may be more
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

// ratioOf is 1 of 0 to 0, which are no different.
func ratioOf(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

func (d *Difference) differs() bool { return d.Verdict == Better || d.Verdict == Worse }

// withinNoise tells whether values are no farther from the base, or from its
// twin, than these two that are the same are from each other.
func withinNoise(base, twin, values []Value) bool {
	floor := distance(base, twin)
	return len(twin) > 0 && (distance(base, values) <= floor || distance(twin, values) <= floor)
}

// distance is how far the medians are apart, 0 where there is one alone.
func distance(a, b []Value) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return math.Abs(median(a) - median(b))
}

// correct sets the corrected p of differences that are one family: each is
// multiplied by how many are not smaller, and is no less than those before it.
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

// tested is the p that is corrected.
func (d *Difference) tested() float64 { return max(*d.P, d.betweenSessions) }

// withinItself is why a difference is noise although chance alone does not
// explain it.
const withinItself = "the baseline differs from itself by as much"

// changesWithTime is why a difference between two sessions is noise although the test of independent runs finds it.
const changesWithTime = "the runs of one side change with time, by about as much"

// judge sets the verdict of a difference. Family is the factor that Holm's method multiplies the smallest p of its
// family by, and within reports that the difference is no larger than that of two configurations that are the same.
func (d *Difference) judge(better lab.Better, base, values []Value, within bool, family int) {
	change := median(values) - median(base)
	d.Verdict = Noise
	switch {
	case !vary(base, values):
		d.Verdict, d.Why = Same, "all of the values are the same"
	case better == lab.Neither:
		d.Verdict, d.Why = NotJudged, "neither more nor less is better"
	case smallestP(len(base), len(values))*float64(family) > alpha:
		d.Verdict, d.Why = NotJudged, tooFew(len(base), len(values), family)
	case *d.Corrected > alpha && *d.P <= alpha && d.betweenSessions > alpha:
		d.Why = changesWithTime
	case *d.Corrected > alpha:
		d.Why = fmt.Sprintf("chance may be all of it (p %.2g)", *d.Corrected)
	case change == 0 || change*dominance(base, values) <= 0:
		d.Why = "the medians do not differ as the runs do"
	case within:
		d.Why = withinItself
	case change > 0 == (better == lab.Higher):
		d.Verdict = Better
	default:
		d.Verdict = Worse
	}
}

// dominance is in how many pairs the value is larger than the base's, less those
// in which it is smaller.
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

// neededRuns is how many runs each configuration needs so that one of so many
// comparisons can be more than chance.
func neededRuns(family int) int {
	n := 1
	for smallestP(n, n)*float64(family) > alpha {
		n++
	}
	return n
}

func tooFew(n, m, family int) string {
	return fmt.Sprintf("too few runs: %d and %d; at least %d of each are needed", n, m, neededRuns(family))
}
