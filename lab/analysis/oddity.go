package analysis

import (
	"math"
	"slices"
)

// markOutliers marks values that are far from the median of all: more than 3.5
// times the median distance from it, in units that make that distance the
// standard deviation of a normal distribution (Iglewicz and Hoaglin, How to
// Detect and Handle Outliers, 1993). It marks none if most values are the same,
// or if there are fewer than seven, because too many of those would be marked.
func markOutliers(values []Value) {
	const (
		far      = 3.5
		perSigma = 0.6745
	)
	if len(values) < 7 {
		return
	}
	middle := middleOf(numbers(values))
	distances := numbers(values)
	for i, v := range distances {
		distances[i] = math.Abs(v - middle)
	}
	usual := middleOf(slices.Clone(distances))
	for i, d := range distances {
		values[i].Outlier = usual > 0 && perSigma*d > far*usual
	}
}

// middleOf returns the median of numbers, which it sorts.
func middleOf(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	return v[(n-1)/2]/2 + v[n/2]/2
}

// trend returns the probability that a series without a trend rises or falls at
// least as steadily as this one. It counts the pairs that rise minus those that
// fall (Mann, Nonparametric tests against trend, Econometrica 13, 1945), and
// uses the normal distribution. It returns 1 for fewer than eight values.
func trend(values []float64) (p float64, rises bool) {
	n := float64(len(values))
	if len(values) < 8 {
		return 1, false
	}
	s := 0.0
	for i, a := range values {
		for _, b := range values[i+1:] {
			switch {
			case b > a:
				s++
			case b < a:
				s--
			}
		}
	}
	deviation := math.Sqrt(n * (n - 1) * (2*n + 5) / 18)
	z := max(0, math.Abs(s)-1) / deviation
	return math.Erfc(z / math.Sqrt2), s > 0
}

// numbers returns the values as a new slice.
func numbers(values []Value) []float64 {
	n := make([]float64, len(values))
	for i, v := range values {
		n[i] = v.Value
	}
	return n
}
