// Package slowest finds the slowest of many durations, such as those of the requests of a route, while they come.
package slowest

import (
	"math"
	"sync/atomic"
	"time"
)

// A Percent finds the slowest percent of durations. It holds one estimate of their 99th percentile, which each duration
// moves: one above it by a factor of e^0.099, another by e^-0.001. The steps cancel each other out exactly if one
// duration of a hundred is above the estimate, whatever their distribution is. (Robbins and Monro, A stochastic
// approximation method, 1951, on a logarithmic scale.)
//
// After a change of the durations, the estimate rises ten times within 24 of them, and falls to a tenth within 2,303.
//
// The zero value has seen no duration. Goroutines may share it. If two of them add a duration at the same time, one of the
// steps can be lost.
type Percent struct {
	estimate atomic.Uint64 // bits of a float64, in nanoseconds
}

const share = 0.01

// step is the sum of both steps, on a scale of natural logarithms.
const step = 0.1

var (
	up   = math.Exp(step * (1 - share))
	down = math.Exp(-step * share)
)

// Add adds a duration, and reports whether it is above the estimate of the durations before. The first one is not.
func (p *Percent) Add(d time.Duration) bool {
	estimate, now := math.Float64frombits(p.estimate.Load()), max(1, float64(d))
	above := estimate > 0 && now > estimate
	switch {
	case estimate == 0:
		estimate = now
	case above:
		estimate *= up
	default:
		estimate *= down
	}
	p.estimate.Store(math.Float64bits(estimate))
	return above
}
