// Package dispatch decides which requests a thread of a load test sends, and when. It
// has neither a clock nor sockets, so that its tests need no time: the time is an
// argument, and a [Sender] sends.
package dispatch

import (
	"cmp"
	"math"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/pace"
)

// A Dispatcher hands out the requests of one thread. Goroutines must not share it, but may
// call Open and Claim at any time. Both loops are here:
//
//   - Closed: a connection that is free calls Claim for its next request.
//   - Open: Step hands the requests that are due to free connections. If none is
//     free, requests wait and the number of connections grows.
//
// Waiting requests are not stored. They are the requests between two cursors of
// one schedule: the next to be asked for and the next to be taken. So a server
// that stalls for a minute costs no memory.
type Dispatcher struct {
	budget *atomic.Int64 // closed loop

	// The fields below are for the open loop.
	asking, taking Cursor // nil in the closed loop
	asked, taken   int64  // asked has no requests of the warm-up, and taken has them
	warmUp         int64  // requests of the warm-up that were asked for
	limit          int64  // of asked
	backlog        int
	perRequest     bool
	starved        time.Duration // when a request last found no free connection; never is before all times
	growth         growth
}

// A Cursor goes through the requests of a schedule. Due is when its next request is due, or was; Never after the last.
// Requests of the warm-up are due before 0.
type Cursor interface {
	Due() time.Duration
	Advance()
}

// A Sender sends the requests that a dispatcher hands out.
type Sender interface {
	// NextFree selects the connection for the next request, and reports whether one is
	// free.
	NextFree() bool

	// SendDue sends a request on the connection of NextFree. starved reports that none
	// was free when it was due.
	SendDue(due time.Duration, starved bool)

	// Connections returns how many connections are open, and how many of them are
	// being opened.
	Connections() (open, opening int)

	// Grow opens n connections, or as many as its limits allow.
	Grow(n int64)
}

// Options are the options of a thread's dispatcher.
type Options struct {
	Pace        pace.Pace // the zero Pace is the closed loop
	Part, Parts int       // of the pace
	Seed        uint64
	WarmUp      time.Duration // sends before 0 at the rate with which the pace begins; not of a log, which has its own times
	Backlog     int           // as in a Plan
	Requests    int64         // of the open loop; 0 is no limit
	Budget      *atomic.Int64 // of the closed loop: requests left, shared by all threads; nil without a limit
	PerRequest  bool          // a connection carries one request

	// Asking and Taking are the schedule of a log, in place of the pace's. Nil if the pace has its own.
	Asking, Taking Cursor
}

// New returns the dispatcher of a thread.
func New(o Options) *Dispatcher {
	if !o.Pace.Open() {
		return &Dispatcher{budget: o.Budget}
	}
	d := &Dispatcher{backlog: o.Backlog, limit: cmp.Or(o.Requests, math.MaxInt64), perRequest: o.PerRequest, starved: never}
	if d.asking, d.taking = o.Asking, o.Taking; d.asking == nil {
		d.asking, d.taking = o.schedule(), o.schedule()
	}
	return d
}

// never is before all times.
const never = time.Duration(math.MinInt64)

// schedule returns the part of the pace, with the warm-up before it.
func (o *Options) schedule() Cursor {
	if o.WarmUp == 0 {
		return pace.NewSchedule(o.Pace, o.Part, o.Parts, o.Seed)
	}
	return early{pace.NewSchedule(o.Pace.WarmedUp(o.WarmUp), o.Part, o.Parts, o.Seed), o.WarmUp}
}

// An early cursor is a schedule that begins before 0.
type early struct {
	*pace.Schedule
	by time.Duration
}

// Due implements Cursor.
func (e early) Due() time.Duration {
	due := e.Schedule.Due()
	if due == pace.Never {
		return due
	}
	return due - e.by
}

// Open reports whether the loop is open.
func (d *Dispatcher) Open() bool { return d.asking != nil }

// Claim takes one request of the closed loop from the budget, and reports whether
// one was left. The caller must send the request or count it as unsent, and due is its
// time in both cases. The warm-up needs no budget.
func (d *Dispatcher) Claim(due time.Duration) bool {
	return d.budget == nil || due < 0 || d.budget.Add(-1) >= 0
}

// Step hands the requests that are due at now to the sender, and has it grow if
// requests wait. The run ends at end. It returns the number of requests that it
// skipped because of the backlog's limit, without those of the warm-up.
func (d *Dispatcher) Step(now, end time.Duration, s Sender) (skipped int64) {
	d.ask(min(now, end-1))
	waited := d.Waiting() > 0
	for d.Waiting() > 0 {
		if !s.NextFree() {
			s.Grow(d.missing(now, s))
			d.starved = now
			break
		}
		s.SendDue(d.Take())
	}
	if waited && d.Waiting() == 0 {
		d.growth = growth{}
	}
	return d.skip()
}

// nextDue returns when the next request is due that was not asked for yet.
func (d *Dispatcher) nextDue() time.Duration {
	if d.asked >= d.limit {
		return pace.Never
	}
	return d.asking.Due()
}

// ask asks for every request that is due at now.
func (d *Dispatcher) ask(now time.Duration) {
	for due := d.nextDue(); due <= now; due = d.nextDue() {
		if due < 0 {
			d.warmUp++
		} else {
			d.asked++
		}
		d.asking.Advance()
	}
}

// More asks for requests that were due before the end, and reports whether some wait. Of a log, only some are held at a
// time.
func (d *Dispatcher) More(end time.Duration) bool {
	if log, ok := d.asking.(interface{ Await(limit time.Duration) }); ok {
		log.Await(awaitLog)
	}
	d.ask(min(end-1, pace.Never-2)) // Never-1 is later than all that is known
	return d.Waiting() > 0
}

// awaitLog is how long the end of a run waits for the next line of its log.
const awaitLog = time.Second

// Asked returns the number of requests that were asked for, and of those of the warm-up, which are not among them.
func (d *Dispatcher) Asked() (n, warmUp int64) { return d.asked, d.warmUp }

// Waiting returns the number of requests that are due and were not taken.
func (d *Dispatcher) Waiting() int64 { return d.asked + d.warmUp - d.taken }

// Take takes the request that has waited longest. At least one must wait. It
// returns when the request was due, and whether no connection was free then.
func (d *Dispatcher) Take() (due time.Duration, starved bool) {
	due = d.taking.Due()
	d.taking.Advance()
	d.taken++
	return due, due <= d.starved
}

// skip takes the requests beyond the backlog's limit, those that have waited
// longest first, and returns their number without those of the warm-up.
func (d *Dispatcher) skip() (n int64) {
	if d.backlog == 0 {
		return 0
	}
	for range max(d.Waiting()-int64(max(d.backlog, 0)), 0) {
		if due, _ := d.Take(); due >= 0 {
			n++
		}
	}
	return n
}

// missing returns how many connections to open for the requests that wait.
func (d *Dispatcher) missing(now time.Duration, s Sender) int64 {
	open, opening := s.Connections()
	if d.perRequest {
		return d.Waiting() - int64(opening)
	}
	return d.growth.next(now, d.Waiting(), open)
}

// Over reports whether no further requests will be due, or can be claimed.
func (d *Dispatcher) Over(now, end time.Duration) bool {
	switch {
	case now >= end:
		return true
	case d.Open():
		return d.nextDue() == pace.Never
	}
	return d.budget != nil && d.budget.Load() <= 0
}

// Tick is the longest time between two turns of a thread.
const Tick = 20 * time.Millisecond

// UntilDue returns how long no request will be due, at most a Tick.
func (d *Dispatcher) UntilDue(now, end time.Duration) time.Duration {
	next := d.nextDue()
	if next >= end { // it will not be asked for
		return Tick
	}
	return max(0, min(Tick, next-now))
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
	GrowEvery = time.Millisecond // between two steps of growth
)

// next returns how many connections to open now: after growAfter an eighth more
// each GrowEvery. So there are soon enough of them if the server stalls, and not
// thousands if the generator was stopped.
func (g *growth) next(now time.Duration, waiting int64, open int) int64 {
	if open == 0 {
		return waiting
	}
	if g.since == 0 {
		g.since, g.last = now, now
	}
	if now-g.since < growAfter || now-g.last < GrowEvery {
		return 0
	}
	g.last = now
	return min(waiting, int64(1+open/8))
}
