package labservice

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	stepBits = 6             // every power of two has 64 steps, so that a time is known to 1.6%
	steps    = 1 << stepBits // times below so many nanoseconds are exact
	powers   = 44 - stepBits // longer ones than 2^44 ns, five hours, count as that
)

// Times are many durations, of which quantiles are asked. Any number of goroutines may add to them; the zero Times are
// none.
type Times struct {
	counts [(powers + 1) * steps]atomic.Int64
	count  atomic.Int64
	sum    atomic.Int64 // in nanoseconds
	max    atomic.Int64
}

// Add adds one. What is less than nothing, as clocks have it now and then, is nothing.
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

// Count returns how many there are.
func (t *Times) Count() int64 { return t.count.Load() }

// Max returns the longest, and 0 when there are none.
func (t *Times) Max() time.Duration { return time.Duration(t.max.Load()) }

// Mean returns the mean, and 0 when there are none.
func (t *Times) Mean() time.Duration {
	return time.Duration(t.sum.Load() / max(t.count.Load(), 1))
}

// Quantile returns the time that the part q of all do not exceed, to 1.6%, and 0 when there are none.
func (t *Times) Quantile(q float64) time.Duration {
	left := int64(q * float64(t.count.Load()-1))
	for i := range t.counts {
		if left -= t.counts[i].Load(); left < 0 {
			return min(middleOf(i), t.Max())
		}
	}
	return t.Max()
}

// stepOf returns the step that n nanoseconds belong to.
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

// Microseconds is how measures have a time.
func Microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
