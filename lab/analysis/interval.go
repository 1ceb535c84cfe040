package analysis

import (
	"math"
	"slices"
)

// ratioInterval returns the interval of the ratio of two samples, or nil if
// values are not positive or too few.
//
// It inverts the Mann-Whitney test: it contains the ratios by which the base
// could be multiplied so that the test would no longer find a difference
// (Hodges and Lehmann, Estimates of location based on rank tests, Annals of
// Mathematical Statistics 34, 1963; Bauer, Constructing confidence sets using
// rank statistics, JASA 67, 1972; wilcox.test of R does the same with
// differences). Its bounds are two of the ratios of all pairs. Without ties it
// contains 1 exactly if the test's p is above 0.05.
func ratioInterval(base, values []float64) *Interval {
	if slices.Min(base) <= 0 || slices.Min(values) <= 0 {
		return nil
	}
	ratios := make([]float64, 0, len(base)*len(values))
	for _, b := range base {
		for _, v := range values {
			ratios = append(ratios, v/b)
		}
	}
	slices.Sort(ratios)
	k := leftOut(len(base), len(values))
	if k == 0 {
		return nil
	}
	low, high := ratios[k-1], ratios[len(ratios)-k]
	if !finite(low) || !finite(high) {
		return nil
	}
	return &Interval{low, high}
}

// exactRuns is the number of runs up to which the distribution of U is computed
// exactly. For more, benchmath also uses the normal distribution.
const exactRuns = 50

// leftOut returns the largest k for which a U below k, or as far from the other
// end, has a probability of at most alpha if nothing differs.
func leftOut(n, m int) int {
	if n > exactRuns || m > exactRuns {
		pairs, all := float64(n)*float64(m), float64(n+m+1)
		return max(0, int(pairs/2-normal975*math.Sqrt(pairs*all/12)))
	}
	half := smallestP(n, m) / 2 // probability of one way to mix the samples
	sum := 0.0
	ways := waysOf(n, m)
	for u, w := range ways {
		sum += w
		if 2*sum*half > alpha {
			return u
		}
	}
	return len(ways)
}

// normal975 is the quantile of the normal distribution that leaves alpha
// outside of both sides.
const normal975 = 1.959963984540054

// waysOf counts the ways to mix n and m values so that U is 0, 1, 2 and so on,
// up to its middle. They are the coefficients of the product of (1-q^(m+i)) /
// (1-q^i), i from 1 to n.
func waysOf(n, m int) []float64 {
	c := make([]float64, n*m/2+1)
	c[0] = 1
	for i := 1; i <= n; i++ {
		for u := i; u < len(c); u++ {
			c[u] += c[u-i]
		}
		for u := len(c) - 1; u >= m+i; u-- {
			c[u] -= c[u-m-i]
		}
	}
	return c
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// smallestP returns the smallest possible p for n and m runs without ties. It
// occurs if all runs of one side are larger than all of the other: these are two
// of all orders.
func smallestP(n, m int) float64 {
	ways := 1.0 // n+m over n
	for i := range n {
		ways *= float64(m+i+1) / float64(i+1)
	}
	return min(1, 2/ways)
}
