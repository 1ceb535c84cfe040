package guard

import (
	"math"
	"slices"
)

// differences are those of the blocks, with the shares of the time at which
// they were looked at.
type differences struct{ values, shares []float64 }

func (d *differences) add(value, share float64) {
	d.values, d.shares = append(d.values, value), append(d.shares, share)
}

// estimate returns the median of the means of all pairs of differences (Hodges
// and Lehmann), or NaN if there are none.
func (d *differences) estimate() float64 {
	var means []float64
	for i, a := range d.values {
		for _, b := range d.values[i:] {
			if mean := a/2 + b/2; !math.IsNaN(mean) {
				means = append(means, mean)
			}
		}
	}
	return median(means)
}

// interval returns the bounds of the centers that neither side of a test has
// rejected at any look. A bound is infinite if there are too few blocks for it.
// The interval is above the center of decided, or below it, exactly if decided
// has found so.
func (d *differences) interval(decided *test) (low, high float64) {
	estimate := d.estimate()
	rejects := func(center float64, as Answer) bool {
		t := newTest(center, decided.above.level, decided.below.level)
		for i, v := range d.values {
			t.add(v, d.shares[i])
		}
		return t.answer == as
	}
	least, most := extremes(d.values, decided.center)
	low = bound(least, min(estimate, most), decided.center, decided.answer == Worse,
		func(center float64) bool { return rejects(center, Worse) })
	high = -bound(-most, -max(estimate, least), -decided.center, decided.answer == Fine,
		func(center float64) bool { return rejects(-center, Fine) })
	return low, high
}

// bound returns the largest center that a test rejects, between outside, which
// is below all differences, and inside, which it does not reject. It rejects
// the decided center if above is set.
func bound(outside, inside, decided float64, above bool, rejects func(float64) bool) float64 {
	switch {
	case above:
		outside = decided
	case !rejects(outside):
		return math.Inf(-1)
	default:
		inside = min(inside, decided)
	}
	const steps = 20
	for range steps {
		if middle := outside/2 + inside/2; rejects(middle) {
			outside = middle
		} else {
			inside = middle
		}
	}
	return outside
}

// extremes returns values below and above all finite differences and a center.
func extremes(values []float64, center float64) (least, most float64) {
	least, most = center, center
	for _, v := range values {
		if !math.IsInf(v, 0) {
			least, most = min(least, v), max(most, v)
		}
	}
	margin := 1e-9 + (most-least)*1e-6
	return least - margin, most + margin
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	n := len(values)
	return values[(n-1)/2]/2 + values[n/2]/2
}
