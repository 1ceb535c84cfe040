package load

import (
	"math"
	"sync/atomic"
	"time"
)

// A flow is one thread's part of the requests: how many are to be sent, and in
// the open loop, which are due.
//
// Requests that are due and wait are not kept anywhere: they are those between
// two places in one schedule, what was asked for and what was taken from it. So
// a server that stands still for a minute costs no memory.
type flow struct {
	tickets *atomic.Int64 // of the closed loop: how many requests are left to send; nil for no end

	// The open loop's.
	asking, taking *schedule // nil in the closed loop
	asked, taken   int64
	limit          int64 // of asked
	backlog        int   // as in the Plan
}

// newFlow returns a thread's flow. tickets is shared by the threads.
func newFlow(p *Plan, thread int, tickets *atomic.Int64) *flow {
	f := &flow{backlog: p.Backlog, limit: math.MaxInt64}
	if !p.Pace.open() {
		if p.Requests > 0 {
			f.tickets = tickets
		}
		return f
	}
	f.asking = newSchedule(p.Pace, thread, p.Threads, p.Seed)
	f.taking = newSchedule(p.Pace, thread, p.Threads, p.Seed)
	if p.Requests > 0 {
		f.limit = share(p.Requests, thread, p.Threads)
	}
	return f
}

// share is a thread's part of n.
func share[N int | int64](n N, thread, threads int) N {
	return (n - N(thread) + N(threads) - 1) / N(threads)
}

// pauseAfter is how long to wait before connecting again after failures in a row.
func pauseAfter(failures int) time.Duration {
	return min(time.Millisecond<<min(failures, 7), 100*time.Millisecond)
}

func (f *flow) open() bool { return f.asking != nil }

// more tells whether the closed loop is to send another request, which it has
// then to send or to count.
func (f *flow) more() bool {
	if f.tickets != nil && f.tickets.Add(-1) < 0 {
		return false
	}
	return true
}

// next returns when the next request will be due that was not asked for yet.
func (f *flow) next() time.Duration {
	if f.asked >= f.limit {
		return never
	}
	return f.asking.due()
}

// ask asks for every request that is due by now.
func (f *flow) ask(now time.Duration) {
	for f.next() <= now {
		f.asked++
		f.asking.advance()
	}
}

// waiting is how many requests are due and were not taken.
func (f *flow) waiting() int64 { return f.asked - f.taken }

// take returns when the request was due that waits longest. There must be one.
func (f *flow) take() time.Duration {
	due := f.taking.due()
	f.taking.advance()
	f.taken++
	return due
}

// skip takes those that are beyond the bound of the backlog, the longest waiting
// first, and returns how many they are.
func (f *flow) skip() int64 {
	if f.backlog == 0 {
		return 0
	}
	n := max(f.waiting()-int64(max(f.backlog, 0)), 0)
	for range n {
		f.take()
	}
	return n
}
