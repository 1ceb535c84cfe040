package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// A recorder keeps what one thread measures. Its memory does not grow with the
// requests. The thread holds the lock while it handles what has come, not for
// each request; the collector takes it ten times a second.
type recorder struct {
	mu sync.Mutex // guards what follows
	tally
	open     bool
	end      *atomic.Int64 // of the time in which requests are sent, a time.Duration
	lastSent time.Duration
	lastDone time.Duration

	classes    [10]*distribution // from sent, by the status's first digit
	firstByte  *distribution
	lag        *distribution // open loop alone
	fromDue    *distribution // the last tenth of a second's; open loop alone
	fromSent   *distribution // the same, closed loop alone
	connect    *distribution
	handshake  *distribution
	streamWait *distribution // HTTP/2: from a free connection to a free stream
	codes      [1000]int64
	bins       sendBins
	points     *thinner // nil when nobody asked
}

// A tally is what can be counted.
type tally struct {
	sent, answered, failed, unanswered int64
	sentInTime                         int64 // before the end
	inTime                             int64 // answered before the end
	read, written                      int64 // bytes
	readInTime                         int64
	skipped, noConnection, ended       int64 // unsent
	lateConnections, lateGenerator     int64
	asked                              int64

	connections, made int64 // open now, and made in all
	most              int64 // open at once
	failures          failures
}

// lateAfter is from when on a request that was due counts as late.
const lateAfter = time.Millisecond

func newRecorder(open bool, end *atomic.Int64) *recorder {
	r := &recorder{
		open:      open,
		end:       end,
		firstByte: newDistribution(),
		connect:   newDistribution(),
	}
	if open {
		r.lag, r.fromDue = newDistribution(), newDistribution()
	} else {
		r.fromSent = newDistribution()
	}
	return r
}

// A flight is a request under way.
type flight struct {
	due, sent, first time.Duration // since the run began; first is 0 until a byte of the answer came
	noBody           bool
}

// send counts a request. forConnection tells that it had to wait for one.
func (r *recorder) send(f *flight, forConnection bool) {
	r.sent++
	r.lastSent = f.sent
	if int64(f.sent) <= r.end.Load() {
		r.sentInTime++
	}
	r.bins.add(f.sent)
	if !r.open {
		return
	}
	lag := f.sent - f.due
	r.lag.record(lag)
	switch {
	case lag <= lateAfter:
	case forConnection:
		r.lateConnections++
	default:
		r.lateGenerator++
	}
}

// answer counts an answer that is whole. Its status has three digits.
func (r *recorder) answer(f *flight, status int, done time.Duration) {
	r.answered++
	if int64(done) <= r.end.Load() {
		r.inTime++
	}
	r.lastDone = max(r.lastDone, done)
	r.codes[status]++
	class := &r.classes[status/100]
	if *class == nil {
		*class = newDistribution()
	}
	(*class).record(done - f.sent)
	r.firstByte.record(f.first - f.sent)
	if r.open {
		r.fromDue.record(done - f.due)
	} else {
		r.fromSent.record(done - f.sent)
	}
	if r.points != nil {
		r.point(f, status, done)
	}
}

// fail counts a request that was sent and, as is known now, will not be answered.
func (r *recorder) fail(f *flight, k kind, err error, now time.Duration) {
	r.failed++
	r.failures.add(k, err)
	if r.points != nil {
		r.point(f, 0, now)
	}
}

// point offers a request that has ended to be one of the points.
func (r *recorder) point(f *flight, status int, done time.Duration) {
	began := f.sent
	if r.open {
		began = f.due
	}
	r.points.record(moment{began, done - began, int32(status)})
}

// bytes counts what was read.
func (r *recorder) bytes(n int, now time.Duration) {
	r.read += int64(n)
	if int64(now) <= r.end.Load() {
		r.readInTime += int64(n)
	}
}

// connected counts a connection that was made.
func (r *recorder) connected(took time.Duration) {
	r.made++
	r.connections++
	r.most = max(r.most, r.connections)
	r.connect.record(took)
}

// headline returns the latencies that a run is judged by.
func (r *recorder) headline() **distribution {
	if r.open {
		return &r.fromDue
	}
	return &r.fromSent
}

// swap puts a new distribution in the place of the headline, and returns a copy
// of the tally and what there was.
func (r *recorder) swap(fresh *distribution) (tally, *distribution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.headline()
	old := *h
	*h = fresh
	return r.tally, old
}

// add sums up two threads' tallies.
func (t *tally) add(u *tally) {
	t.sent += u.sent
	t.answered += u.answered
	t.failed += u.failed
	t.unanswered += u.unanswered
	t.sentInTime += u.sentInTime
	t.inTime += u.inTime
	t.read += u.read
	t.written += u.written
	t.readInTime += u.readInTime
	t.skipped += u.skipped
	t.noConnection += u.noConnection
	t.ended += u.ended
	t.lateConnections += u.lateConnections
	t.lateGenerator += u.lateGenerator
	t.asked += u.asked
	t.connections += u.connections
	t.made += u.made
	t.most += u.most
	t.failures.merge(&u.failures)
}

func (t *tally) unsent() int64 { return t.skipped + t.noConnection + t.ended }
