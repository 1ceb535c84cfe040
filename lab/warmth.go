package lab

import "math"

// A warmth finds out whether a service still warms up, from its costs in the windows of a round of load: time or CPU time for
// each response.
type warmth struct {
	skip  int // windows to leave out at the beginning, because each service is slow at its first requests
	costs []float64
}

const (
	// roundWindows is the number of windows of a round, and firstWindows of them are left out of the first round.
	roundWindows = 16
	firstWindows = 4

	// leastWindows is the number of windows with which a fall can be told from chance.
	leastWindows = 8

	// warmTrend is the least difference of falling and rising pairs of windows, in standard deviations: 3% of series
	// whose windows do not depend on each other have it or a larger one (Mann, Nonparametric tests against trend,
	// Econometrica 13, 1945).
	warmTrend = 1.86

	// warmFall is the least fall from the first half of the windows to the second.
	warmFall = 0.03
)

// add adds a window.
func (w *warmth) add(cost float64) {
	if w.skip > 0 {
		w.skip--
		return
	}
	w.costs = append(w.costs, cost)
}

// falls reports whether the cost still falls.
func (w *warmth) falls() bool {
	n := len(w.costs)
	if n < leastWindows {
		return false
	}
	trend := 0
	for i, before := range w.costs {
		for _, later := range w.costs[i+1:] {
			switch {
			case later < before:
				trend++
			case later > before:
				trend--
			}
		}
	}
	deviation := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18)
	return float64(trend) >= warmTrend*deviation && mean(w.costs[n-n/2:]) <= (1-warmFall)*mean(w.costs[:n/2])
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// warmRounds returns the number of rounds of warm-up, and whether the service still warms up after them. round sends the
// load of a round, from which the first windows are left out, and reports whether the cost still falls. ok is false if the
// rounds have to end.
func warmRounds(most int, round func(skip int) (falls, ok bool)) (rounds int, warming, ok bool) {
	skip := firstWindows
	for rounds = 1; ; rounds++ {
		if warming, ok = round(skip); !ok || !warming || rounds >= most {
			return rounds, warming, ok
		}
		skip = 0
	}
}
