package send

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/load/internal/dispatch"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/response"
)

// An http1 sends a thread's part of a run over connections of HTTP/1.1, with or without TLS.
// It never waits: its driver calls it when bytes have arrived, when something is due and when
// a task that waits has ended. On a loop each response costs one recvfrom and one sendto,
// because the next request is sent right after the response was read.
//
// The recorder's lock guards the fields and the slots, and is held by the methods' callers.
type http1 struct {
	Part
	driver    driver
	config    *tls.Config // nil without TLS
	usage     usageClock
	readTimes func() (cpu, waited time.Duration)
	memory    response.Memory
	out       []byte // buffer for several requests in one write

	slots    []*slot
	spare    []*slot // closed; open loop only
	retrying []*slot // closed, to be opened again; closed loop only
	opening  int     // slots that are being opened
	inFlight int64
	claimed  int   // slots that have claimed a request before they are open
	free     queue // slots that can take a request; open loop only

	expiry  time.Duration   // no timeout ends before it
	opens   context.Context // limits connecting: that of the run's opening, and then cut
	cut     context.Context // done when the run stops waiting for responses
	release context.CancelFunc
	begun   bool
	arrived bool // has finished the run's opening
	over    bool
}

const (
	readSize   = 64 << 10
	checkEvery = time.Millisecond // the shortest interval between checks for timeouts
)

// A driver runs the tasks and connections of a thread.
type driver interface {
	transport.Driver

	// run calls pace until the run is over, and waits for the end of all tasks.
	run(t *http1)

	// attend reads from a connection until it is closed.
	attend(c *conn)

	// finish calls the EndTurn of a task that has ended, which may then write to connections.
	finish(task transport.TurnEnder)
}

// serve implements Thread.
func (t *http1) serve(opening context.Context) Usage {
	defer lockThread()()
	t.opens = opening
	t.cut, t.release = context.WithCancel(context.Background())
	defer t.release()
	t.usage = newUsageClock(t.readTimes)
	t.driver.run(t)
	return t.usage.end()
}

// pace does what is due. It returns how long nothing else will be, and whether the run goes on.
// It takes the lock.
func (t *http1) pace() (rest time.Duration, more bool) {
	t.Rec.Lock()
	defer t.Rec.Unlock()
	if !t.begun && !t.begin() {
		return time.Millisecond, true
	}
	now := t.Run.Now() // after begin, which sets the start of the clock
	t.measure(now, &t.usage)
	if now >= t.expiry {
		t.expire(now)
	}
	t.retry(now)
	if t.Requests.Open() {
		t.dispatch(now, t)
	}
	if t.Requests.Over(now, t.Run.End()) {
		if now >= t.Run.End() || t.Requests.Waiting() == 0 {
			t.usage.stop()
		}
		if !t.unfinished(now) {
			t.end(now)
			return 0, false
		}
	}
	return t.untilDue(now), true
}

// untilDue returns how long nothing is due.
func (t *http1) untilDue(now time.Duration) time.Duration {
	end := t.Run.End()
	longest := min(dispatch.Tick, max(0, t.expiry-now))
	switch {
	case !t.Requests.Open():
		return min(longest, max(end-now, time.Millisecond))
	case t.Requests.Waiting() > 0:
		longest = min(longest, dispatch.GrowEvery)
	}
	return min(longest, t.Requests.UntilDue(t.Run.Now(), end)) // sending has taken time
}

// begin waits for the connections of all threads, and then starts sending. It
// returns false while it has to wait.
func (t *http1) begin() bool {
	if t.opens.Err() == nil {
		t.openUpTo(t.First)
	}
	if t.opening == 0 && !t.arrived {
		t.arrived = true
		t.Run.opening.Done()
	}
	if !t.Run.started.Load() {
		return false
	}
	t.begun = true
	t.opens = t.cut
	t.expiry = t.Run.Now()
	t.usage.begin()
	for _, s := range t.slots {
		if s.conn != nil {
			t.refill(s)
		} else {
			t.reopen(s, 0)
		}
	}
	if t.Run.NoKeepAlive && !t.Requests.Open() {
		t.openUpTo(t.Most)
	}
	return true
}

// unfinished reports whether requests are still under way or waiting, and the run
// waits for them.
func (t *http1) unfinished(now time.Duration) bool {
	return now < t.Run.deadline() && (t.inFlight > 0 || t.claimed > 0 && now < t.Run.End() || t.Requests.Waiting() > 0)
}

// end closes everything and counts the requests without a response.
func (t *http1) end(now time.Duration) {
	t.over = true
	t.measure(max(now, 0), &t.usage) // also if the warm-up was interrupted
	t.release()
	t.endUnsent(now)
	for _, s := range t.slots {
		for ; s.flights > 0; s.land() {
			t.Rec.Abandon(s.oldest(), now)
			t.inFlight--
		}
		t.close(s)
	}
}

// expire fails requests that have reached their timeout, and sets when to check again: at the
// next expiry of those that are left. Everything that begins later expires later.
func (t *http1) expire(now time.Duration) {
	limit, oldest := now-t.Run.Timeout, now
	for _, s := range t.slots {
		if s.flights > 0 && s.oldest().Sent <= limit {
			t.fail(s, failure.Timeout, failure.ErrTimeout)
		}
		if s.flights > 0 {
			oldest = min(oldest, s.oldest().Sent)
		}
	}
	t.expiry = max(oldest+t.Run.Timeout, now+checkEvery)
}

// retry reopens the closed loop's slots whose backoff is over.
func (t *http1) retry(now time.Duration) {
	if len(t.retrying) == 0 {
		return
	}
	waiting := t.retrying
	t.retrying = nil
	for _, s := range waiting {
		switch {
		case t.Requests.Over(now, t.Run.End()):
		case s.retry <= now:
			t.openAgain(s)
		default:
			t.retrying = append(t.retrying, s)
		}
	}
}

// Connections implements dispatch.Sender.
func (t *http1) Connections() (open, opening int) { return len(t.slots) - len(t.spare), t.opening }

// Grow implements dispatch.Sender.
func (t *http1) Grow(n int64) {
	for ; n > 0 && t.opening < mostOpening; n-- {
		s := t.closedSlot()
		if s == nil {
			return
		}
		t.open(s, t.Run.Now())
	}
}

// NextFree implements dispatch.Sender. It selects the slot that has been free longest, and
// removes slots from the queue that have failed since.
func (t *http1) NextFree() bool {
	for t.free.n > 0 && !t.free.first().canSend() {
		t.free.pop().queued = false
	}
	return t.free.n > 0
}

// SendDue implements dispatch.Sender.
func (t *http1) SendDue(due time.Duration, starved bool) {
	s := t.free.pop()
	s.queued = false
	t.send(s, due, t.Run.Now(), starved)
	t.refill(s) // it may take more
}

// openUpTo opens slots until there are n, with at most mostOpening at the
// same time: more follow as these are open.
func (t *http1) openUpTo(n int) {
	for len(t.slots) < n && t.opening < mostOpening {
		s := t.newSlot()
		if t.begun {
			t.openAgain(s)
		} else {
			t.open(s, t.Run.Now())
		}
	}
}

// openAgain opens a slot for the closed loop, if there is a request to send.
// Without keep-alive it claims the request now, so that there are no more
// connections than requests.
func (t *http1) openAgain(s *slot) {
	now := t.Run.Now()
	if t.Run.NoKeepAlive && !s.claimed {
		if !t.Requests.Claim(now) {
			return
		}
		s.claimed = true
		t.claimed++
	}
	t.open(s, now)
}

// claim claims a request of the closed loop for a slot, unless it has done
// so before, and reports whether one was left. Its time is due.
func (t *http1) claim(s *slot, due time.Duration) bool {
	if !s.claimed {
		return t.Requests.Claim(due)
	}
	s.claimed = false
	t.claimed--
	return true
}

// replace opens a slot for one whose connection has ended with its response, if fewer are
// open than at the start. So the open loop's next request need not wait for a new
// connection if the server closes one now and then.
func (t *http1) replace(now time.Duration) {
	open, _ := t.Connections()
	if t.Requests.Open() && !t.Run.NoKeepAlive && open < t.First && now < t.Run.End() {
		t.Grow(1)
	}
}

// reopen makes the closed loop connect again after a pause. The open loop connects
// when it needs to.
func (t *http1) reopen(s *slot, pause time.Duration) {
	if t.Requests.Open() || !t.begun || s.opening {
		return
	}
	now := t.Run.Now()
	s.retry = now + pause
	if pause > 0 {
		t.retrying = append(t.retrying, s)
	} else if !t.Requests.Over(now, t.Run.End()) {
		t.openAgain(s)
	}
}

// dispatchWaiting sends requests of the open loop that wait, after something has happened that
// may let them go.
func (t *http1) dispatchWaiting() {
	if t.Requests.Open() && t.begun && t.Requests.Waiting() > 0 {
		t.dispatch(t.Run.Now(), t)
	}
}

func (t *http1) newSlot() *slot {
	s := &slot{ring: make([]record.Flight, t.Run.Pipeline)}
	if len(s.ring) > 1 {
		s.kept = make([]keptMessage, len(s.ring))
	}
	s.parser.Memory = &t.memory
	s.exam = newExam(t.Run.Expect)
	t.slots = append(t.slots, s)
	return s
}

// closedSlot returns a slot for another connection of the open loop, nil if there
// is none left.
func (t *http1) closedSlot() *slot {
	if n := len(t.spare) - 1; n >= 0 {
		s := t.spare[n]
		t.spare = t.spare[:n]
		return s
	}
	if len(t.slots) < t.Most {
		return t.newSlot()
	}
	return nil
}
