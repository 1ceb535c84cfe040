package load

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/pace"
)

// A dispatcher decides which requests a thread sends, and when. It has neither a
// clock nor sockets: the time is an argument, and a sender sends. Both loops are
// here:
//
//   - Closed: a connection that is free calls claim for its next request.
//   - Open: step hands the requests that are due to free connections. If none is
//     free, requests wait and the number of connections grows.
//
// Waiting requests are not stored. They are the requests between two cursors of
// one schedule: the next to be asked for and the next to be taken. So a server
// that stalls for a minute costs no memory.
type dispatcher struct {
	budget *atomic.Int64 // closed loop: requests left to claim, shared by all threads; nil without a limit

	// The fields below are for the open loop.
	asking, taking *pace.Schedule // nil in the closed loop
	asked, taken   int64
	limit          int64         // of asked
	backlog        int           // as in the Plan
	perRequest     bool          // a connection carries one request
	starved        time.Duration // when a request last found no free connection; -1 is never
	growth         growth
}

// A sender sends the requests that a dispatcher hands out.
type sender interface {
	// nextFree selects the connection for the next request, and reports whether one is
	// free.
	nextFree() bool

	// sendDue sends a request on the connection of nextFree. starved reports that none
	// was free when it was due.
	sendDue(due time.Duration, starved bool)

	// connections returns how many connections are open, and how many of them are
	// being opened.
	connections() (open, opening int)

	// grow opens n connections, or as many as its limits allow.
	grow(n int64)
}

// newDispatcher returns the dispatcher of a thread.
func newDispatcher(p *Plan, thread int, budget *atomic.Int64) *dispatcher {
	d := &dispatcher{backlog: p.Backlog, limit: math.MaxInt64, starved: -1}
	if !p.Pace.Open() {
		if p.Requests > 0 {
			d.budget = budget
		}
		return d
	}
	part, parts := p.Share.part(thread, p.Threads)
	d.asking = pace.NewSchedule(p.Pace, part, parts, p.Seed)
	d.taking = pace.NewSchedule(p.Pace, part, parts, p.Seed)
	if p.Requests > 0 {
		d.limit = share(p.Requests, thread, p.Threads)
	}
	return d
}

// share returns part i of n that is divided into so many parts, which differ by 1 at most.
func share[N int | int64](n N, i, parts int) N {
	return (n - N(i) + N(parts) - 1) / N(parts)
}

// open reports whether the loop is open.
func (d *dispatcher) open() bool { return d.asking != nil }

// claim takes one request of the closed loop from the budget, and reports whether
// one was left. The caller must send the request or count it as unsent.
func (d *dispatcher) claim() bool { return d.budget == nil || d.budget.Add(-1) >= 0 }

// step hands the requests that are due at now to the sender, and has it grow if
// requests wait. The run ends at end. It returns the number of requests that it
// skipped because of the backlog's limit.
func (d *dispatcher) step(now, end time.Duration, s sender) (skipped int64) {
	d.ask(min(now, end-1))
	waited := d.waiting() > 0
	for d.waiting() > 0 {
		if !s.nextFree() {
			s.grow(d.missing(now, s))
			d.starved = now
			break
		}
		s.sendDue(d.take())
	}
	if waited && d.waiting() == 0 {
		d.growth = growth{}
	}
	return d.skip()
}

// nextDue returns when the next request is due that was not asked for yet.
func (d *dispatcher) nextDue() time.Duration {
	if d.asked >= d.limit {
		return pace.Never
	}
	return d.asking.Due()
}

// ask asks for every request that is due at now.
func (d *dispatcher) ask(now time.Duration) {
	for d.nextDue() <= now {
		d.asked++
		d.asking.Advance()
	}
}

// waiting returns the number of requests that are due and were not taken.
func (d *dispatcher) waiting() int64 { return d.asked - d.taken }

// take takes the request that has waited longest. At least one must wait. It
// returns when the request was due, and whether no connection was free then.
func (d *dispatcher) take() (due time.Duration, starved bool) {
	due = d.taking.Due()
	d.taking.Advance()
	d.taken++
	return due, due <= d.starved
}

// skip takes the requests beyond the backlog's limit, those that have waited
// longest first, and returns their number.
func (d *dispatcher) skip() int64 {
	if d.backlog == 0 {
		return 0
	}
	n := max(d.waiting()-int64(max(d.backlog, 0)), 0)
	for range n {
		d.take()
	}
	return n
}

// missing returns how many connections to open for the requests that wait.
func (d *dispatcher) missing(now time.Duration, s sender) int64 {
	open, opening := s.connections()
	if d.perRequest {
		return d.waiting() - int64(opening)
	}
	return d.growth.next(now, d.waiting(), open)
}

// over reports whether no further requests will be due, or can be claimed.
func (d *dispatcher) over(now, end time.Duration) bool {
	switch {
	case now >= end:
		return true
	case d.open():
		return d.nextDue() == pace.Never
	}
	return d.budget != nil && d.budget.Load() <= 0
}

// untilDue returns how long no request will be due, at most a tick.
func (d *dispatcher) untilDue(now, end time.Duration) time.Duration {
	next := d.nextDue()
	if next >= end { // it will not be asked for
		return tick
	}
	return max(0, min(tick, next-now))
}

// growth limits how fast the open loop opens connections. It is zero while no
// request waits.
type growth struct {
	since, last time.Duration // when requests began to wait, and when it last grew
}

// After the generator was stopped for a moment, the requests that became due
// meanwhile occupy all connections until they are answered. More connections would
// make that worse, so growth begins after a pause.
const (
	growAfter = 2 * time.Millisecond
	growEvery = time.Millisecond
)

// next returns how many connections to open now: after growAfter an eighth more
// each growEvery. So there are soon enough of them if the server stalls, and not
// thousands if the generator was stopped.
func (g *growth) next(now time.Duration, waiting int64, open int) int64 {
	if open == 0 {
		return waiting
	}
	if g.since == 0 {
		g.since = now
	}
	if now-g.since < growAfter || now-g.last < growEvery {
		return 0
	}
	g.last = now
	return min(waiting, int64(1+open/8))
}
