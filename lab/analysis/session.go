package analysis

import (
	"cmp"
	"math"
	"slices"
)

// A session describes how one metric scattered during one experiment. [Compare]
// needs it: its two sides ran one after the other, so a machine that changes
// slowly causes a difference between them that a test of independent runs does
// not expect.
type session struct {
	changed   bool    // the runs depend on the time
	deviation float64 // standard deviation of a run, as a share of its configuration's median
}

// serialZ is the limit of the test for serial correlation. One in five steady
// sessions exceeds it. The limit is low because a session that changes has to be
// found. A steady session that exceeds it loses only its smaller differences.
const serialZ = 0.84

// sessionOf takes the runs of all configurations, in the order in which they
// were made. It leaves out configurations with a median that is not positive.
func sessionOf(c *column) session {
	var shares []Value
	for _, values := range c.values {
		if m := median(values); m > 0 {
			for _, v := range values {
				shares = append(shares, Value{Run: v.Run, Value: v.Value/m - 1})
			}
		}
	}
	slices.SortFunc(shares, func(a, b Value) int { return cmp.Compare(a.Run, b.Run) })
	series := numbers(shares)
	return session{serial(series) > serialZ, deviation(series)}
}

// deviation is the standard deviation.
func deviation(series []float64) float64 {
	if len(series) < 2 {
		return 0
	}
	mean, sum := 0.0, 0.0
	for _, v := range series {
		mean += v / float64(len(series))
	}
	for _, v := range series {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(series)-1))
}

// serial tests for serial correlation. It returns the correlation of each rank
// with the next one, in standard deviations from its expectation for
// independent values (Wald and Wolfowitz, An exact test for randomness in the
// non-parametric case based on serial correlation, Annals of Mathematical
// Statistics 14, 1943).
func serial(series []float64) float64 {
	ranks := ranksOf(series)
	n := float64(len(ranks))
	product, square := 0.0, 0.0
	for i, r := range ranks {
		square += r * r
		if i > 0 {
			product += r * ranks[i-1]
		}
	}
	if square == 0 {
		return 0
	}
	return (product/square + 1/n) * math.Sqrt(n)
}

// ranksOf returns the rank of each value minus the mean of all ranks. Equal
// values have the same rank.
func ranksOf(series []float64) []float64 {
	ranks := make([]float64, len(series))
	for i, r := range doubledRanks(series) {
		ranks[i] = float64(r-len(series)-1) / 2
	}
	return ranks
}

// hidden corrects the deviation of a session, which is too small on average if
// the machine changes so slowly that the session only sees a part of the
// change: of 18 runs with an autocorrelation of 0.9 the deviation is 0.8 of the
// true one.
const hidden = 1 / 0.8

// betweenSessions returns the p of a difference between two sessions of which
// at least one has changed with time. Each session counts as one run. The p is
// 0 if both are steady, and 1 if the deviation is too large to be computed.
func betweenSessions(a, b session, base, values []Value) float64 {
	from, to := median(base), median(values)
	if !a.changed && !b.changed || from <= 0 || to <= 0 {
		return 0
	}
	usual := hidden * math.Hypot(a.deviation, b.deviation)
	if usual == 0 {
		return 0
	}
	p := math.Erfc(math.Abs(math.Log(to/from)) / usual / math.Sqrt2)
	if math.IsNaN(p) {
		return 1
	}
	return p
}
