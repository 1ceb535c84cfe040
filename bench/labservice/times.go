package labservice

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	stepBits = 6             // every power of two has 64 steps, for a resolution of 1.6%
	steps    = 1 << stepBits // times below this number of nanoseconds are exact
	powers   = 44 - stepBits // times above 2^44 ns, five hours, count as that
)

// Times collects durations for quantiles. Goroutines may add to it concurrently. The zero Times is empty.
type Times struct {
	counts [(powers + 1) * steps]atomic.Int64
	count  atomic.Int64
	sum    atomic.Int64 // in nanoseconds
	max    atomic.Int64
}

// Add adds d. Negative durations, which some clocks produce, count as 0.
func (t *Times) Add(d time.Duration) {
	n := int64(max(d, 0))
	t.counts[stepOf(n)].Add(1)
	t.count.Add(1)
	t.sum.Add(n)
	for {
		longest := t.max.Load()
		if n <= longest || t.max.CompareAndSwap(longest, n) {
			return
		}
	}
}

// Count returns the number of durations.
func (t *Times) Count() int64 { return t.count.Load() }

// Max returns the maximum, or 0 if there are none.
func (t *Times) Max() time.Duration { return time.Duration(t.max.Load()) }

// Mean returns the mean, or 0 if there are none.
func (t *Times) Mean() time.Duration {
	return time.Duration(t.sum.Load() / max(t.count.Load(), 1))
}

// Quantile returns the duration that the share q of all does not exceed, with an error of 1.6%, or 0 if there are none.
func (t *Times) Quantile(q float64) time.Duration {
	left := max(int64(math.Ceil(q*float64(t.count.Load())))-1, 0)
	for i := range t.counts {
		if left -= t.counts[i].Load(); left < 0 {
			return min(middleOf(i), t.Max())
		}
	}
	return t.Max()
}

// stepOf returns the step for n nanoseconds.
func stepOf(n int64) int {
	switch power := bits.Len64(uint64(n)) - stepBits - 1; {
	case power < 0:
		return int(n)
	case power < powers:
		return power*steps + int(n>>power)
	}
	return (powers+1)*steps - 1
}

// middleOf returns the time in the middle of a step.
func middleOf(step int) time.Duration {
	if step < 2*steps {
		return time.Duration(step)
	}
	power := step/steps - 1
	first := int64(step-power*steps) << power
	return time.Duration(first + int64(1)<<power/2)
}

// Microseconds converts a duration to the unit of measures.
func Microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
