package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/latencies"
)

// A recorder holds the measurements of one thread. Its memory does not grow with the
// number of requests. A loop holds the lock for a whole turn and not for each
// request. The collector takes it ten times per second.
type recorder struct {
	mu sync.Mutex // guards the fields below
	tally
	open     bool
	end      *atomic.Int64 // when the run stops sending, a time.Duration
	timeout  time.Duration // as in the Plan
	lastSent time.Duration
	lastDone time.Duration

	headline latencies.Times // since the last swap: from due in the open loop, else from sent
	measures                 // since the last snapshot
	bins     sendBins
	points   *thinner // nil without Plan.Points
}

// A tally has the counters of a run.
type tally struct {
	sent, answered, failed, unanswered int64
	sentInTime                         int64 // sent before the end
	inTime                             int64 // answered before the end
	read, written                      int64 // bytes
	readInTime                         int64
	skipped, noConnection, ended       int64 // unsent
	lateConnections, lateGenerator     int64
	asked                              int64
	errorsInTime                       int64     // failed before the end: requests, and connections
	classes                            [10]int64 // answered, by the status's first digit

	connections, made int64 // open now, and made in total
	most              int64 // the most that were open at the same time
	failures          failure.Counts
}

// lateAfter is how long after its due time a request counts as late.
const lateAfter = time.Millisecond

func newRecorder(open bool, end *atomic.Int64) *recorder {
	r := &recorder{
		open:     open,
		end:      end,
		headline: latencies.NewTimes(),
		measures: measures{firstByte: latencies.New(), connect: latencies.New()},
	}
	if open {
		r.lag = latencies.New()
	}
	return r
}

// A flight is a request under way.
type flight struct {
	due, sent, first time.Duration // since the start; first is the time of the first byte, 0 before
	endpoint         int32         // index in the program's Endpoints
	noBody           bool
}

// send counts a request. forConnection reports that it waited for a connection.
func (r *recorder) send(f *flight, forConnection bool) {
	r.sent++
	r.lastSent = f.sent
	if int64(f.sent) <= r.end.Load() {
		r.sentInTime++
	}
	r.bins.add(f.sent)
	if r.endpoints != nil {
		r.endpoints[f.endpoint].sent++
	}
	if !r.open {
		return
	}
	lag := f.sent - f.due
	r.lag.Record(lag)
	switch {
	case lag <= lateAfter:
	case forConnection:
		r.lateConnections++
	default:
		r.lateGenerator++
	}
}

// answer counts a whole answer. Its status has three digits.
func (r *recorder) answer(f *flight, status int, done time.Duration) {
	r.answered++
	if int64(done) <= r.end.Load() {
		r.inTime++
	}
	r.lastDone = max(r.lastDone, done)
	r.codes[status]++
	r.tally.classes[status/100]++
	class := &r.measures.classes[status/100]
	if *class == nil {
		*class = latencies.New()
	}
	(*class).Record(done - f.sent)
	r.firstByte.Record(f.first - f.sent)
	r.headline.Answered.Record(done - r.began(f))
	if r.endpoints != nil {
		e := &r.endpoints[f.endpoint]
		e.classes[status/100]++
		e.Answered.Record(done - r.began(f))
	}
	if r.points != nil {
		r.point(f, status, done)
	}
}

// began returns when the headline latency of a request begins.
func (r *recorder) began(f *flight) time.Duration {
	if r.open {
		return f.due
	}
	return f.sent
}

// fail counts a request that was sent and failed. Its timeout began at began.
func (r *recorder) fail(f *flight, k failure.Kind, err error, began, now time.Duration) {
	r.failed++
	r.fault(k, err, now)
	gaveUp := r.gaveUp(k, began, now)
	r.miss(f, gaveUp, now)
	if r.endpoints != nil {
		e := &r.endpoints[f.endpoint]
		e.failed++
		e.Miss(now-r.began(f), gaveUp)
	}
	if r.points != nil {
		r.point(f, 0, now)
	}
}

// fault counts an error of a request or a connection.
func (r *recorder) fault(k failure.Kind, err error, now time.Duration) {
	r.failures.Add(k, err)
	if int64(now) <= r.end.Load() {
		r.errorsInTime++
	}
}

// abandon counts a request that was sent and has no answer at the end of the run.
func (r *recorder) abandon(f *flight, now time.Duration) {
	r.unanswered++
	r.miss(f, true, now)
	if r.endpoints != nil {
		e := &r.endpoints[f.endpoint]
		e.unanswered++
		e.Miss(now-r.began(f), true)
	}
}

// failUnsent counts a request that was not sent, because its connection or its wait
// for a stream failed. The flight's sent is when that began.
func (r *recorder) failUnsent(f *flight, k failure.Kind, now time.Duration) {
	r.noConnection++
	r.miss(f, r.gaveUp(k, f.sent, now), now)
}

// gaveUp reports whether a failed request was given up. A timeout closes the
// connection: another request in its pipeline that had time left was lost, and was
// not given up.
func (r *recorder) gaveUp(k failure.Kind, began, now time.Duration) bool {
	return k == failure.Timeout && now-began >= r.timeout
}

// miss counts the time of a request without an answer.
func (r *recorder) miss(f *flight, gaveUp bool, now time.Duration) {
	r.headline.Miss(now-r.began(f), gaveUp)
	r.missed.Miss(now-f.sent, gaveUp)
}

// skip counts requests that were skipped because of the backlog's limit.
func (r *recorder) skip(n int64) {
	r.skipped += n
	r.headline.Never += n
}

// endUnsent counts a request that was due and was not sent before the end of the run.
func (r *recorder) endUnsent(due, now time.Duration) {
	r.ended++
	if r.open {
		r.headline.Miss(now-due, true)
	}
}

// point offers a finished request to the thinner.
func (r *recorder) point(f *flight, status int, done time.Duration) {
	began := r.began(f)
	r.points.record(moment{began, done - began, int32(status)})
}

// bytes counts bytes that were read.
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
	r.connect.Record(took)
}

// swap replaces the headline, and returns the old one and a copy of the tally. It swaps the
// measures too, if they are not nil.
func (r *recorder) swap(empty latencies.Times, m *measures) (tally, latencies.Times) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.headline
	r.headline = empty
	if m != nil {
		r.measures, *m = *m, r.measures
	}
	return r.tally, old
}

// add adds the tally of another thread.
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
	t.errorsInTime += u.errorsInTime
	for class, n := range u.classes {
		t.classes[class] += n
	}
	t.connections += u.connections
	t.made += u.made
	t.most += u.most
	t.failures.Merge(&u.failures)
}

func (t *tally) unsent() int64 { return t.skipped + t.noConnection + t.ended }
