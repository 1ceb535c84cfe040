package analysis

import "math"

// steps is the number of bisections of a bound: to a thousandth of the range of the ratios of two runs.
const steps = 10

// ratio returns the ratio of the configuration to the baseline at which the test finds nothing on either side (Hodges
// and Lehmann, Estimates of location based on rank tests, Annals of Mathematical Statistics 34, 1963), and the interval
// of the ratios at which the test has a p above alpha. The interval excludes 1 exactly if the p of the test is at most
// alpha. It is nil if there are too few blocks, or if the test refuses every ratio. The usual ratio is the one to try
// first, and equal reports whether the test finds nothing at 1. All values have to be positive.
func (p *pairing) ratio(usual float64, equal bool) (float64, *Interval) {
	low, high := p.extremes()
	if !finite(low) || !finite(high) || low == 0 {
		return usual, nil
	}
	estimate := usual
	if p.arrange(usual).direction() != 0 {
		below, above := low, high
		for range 2 * steps {
			if estimate = math.Sqrt(below) * math.Sqrt(above); p.arrange(estimate).direction() > 0 {
				below = estimate
			} else {
				above = estimate
			}
		}
	}
	refused := func(ratio float64) bool { return p.arrange(ratio).p(intervalDraws) <= alpha }
	if refused(estimate) || !refused(low) || !refused(high) {
		return estimate, nil
	}
	bound := func(outside float64) float64 {
		inside := estimate
		if (outside-1)*(estimate-1) < 0 { // 1 lies between them
			if equal {
				inside = 1
			} else {
				outside = 1
			}
		}
		for range steps {
			if middle := math.Sqrt(inside) * math.Sqrt(outside); refused(middle) {
				outside = middle
			} else {
				inside = middle
			}
		}
		return inside
	}
	return estimate, &Interval{bound(low), bound(high)}
}

// extremes returns ratios at which each run of the configuration is above, or below, each one of the baseline.
func (p *pairing) extremes() (low, high float64) {
	least, most := math.Inf(1), math.Inf(-1)
	leastBase, mostBase := least, most
	for i := range p.blocks {
		b := &p.blocks[i]
		least, most = min(least, b.value), max(most, b.value)
		for _, v := range b.base {
			leastBase, mostBase = min(leastBase, v), max(mostBase, v)
		}
	}
	const beyond = 1e-6
	return least / mostBase * (1 - beyond), most / leastBase * (1 + beyond)
}
