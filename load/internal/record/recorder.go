// Package record counts and measures the requests of a load test. A [Recorder] belongs to one
// thread, which tells it each event with its time. A [Total] adds the recorders of all threads
// up, also while they measure.
//
// Every request is accounted for: asked = sent + unsent, and sent = answered + failed +
// unanswered, as long as none is under way.
package record

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/random"
)

// A Recorder holds the measurements of one thread. Its memory does not grow with the
// number of requests. Its methods need the lock, which a loop holds for a whole turn and
// not for each request. The Total takes it ten times per second.
type Recorder struct {
	options Options

	sync.Mutex // guards the fields below
	Tally
	lastSent time.Duration
	lastDone time.Duration

	headline latencies.Times // since the last swap: from due in the open loop, else from sent
	Measures                 // since they were last swapped
	bins     Bins
	detail   *detail // nil if single requests are not kept
}

// Options are the options of a thread's recorder.
type Options struct {
	Open       bool          // the loop is open
	End        *atomic.Int64 // when the run stops sending, a time.Duration
	Timeout    time.Duration // as in a Plan
	Endpoints  int           // of the program
	Expected   int           // the number of expectations of responses
	Points     int           // the most that are kept
	Random     random.Source // chooses them
	Rows       *Rows         // gets each request that has ended; nil for none
	Handshakes bool          // connections have a TLS handshake
	Streams    bool          // requests wait for a stream
}

// New returns the recorder of a thread.
func New(o Options) *Recorder {
	r := &Recorder{
		options:  o,
		headline: latencies.NewTimes(),
		Measures: Measures{FirstByte: latencies.New(), Connect: latencies.New()},
		detail:   newDetail(newThinner(o.Points, o.Random), o.Rows),
	}
	if o.Open {
		r.Lag = latencies.New()
	}
	if o.Handshakes {
		r.Handshake = latencies.New()
	}
	if o.Streams {
		r.StreamWait = latencies.New()
	}
	if o.Expected > 0 {
		r.Measures.Wrong = NewWrong(o.Expected)
	}
	if o.Endpoints > 1 {
		r.Measures.Endpoints = newEndpointTallies(o.Endpoints)
	}
	return r
}

// LateAfter is how long after its due time a request counts as late.
const LateAfter = time.Millisecond

// A Flight is a request under way.
type Flight struct {
	Due, Sent, First time.Duration // since the start; First is the time of the first byte, 0 before
	Endpoint         int32         // index in the program's Endpoints
	NoBody           bool
	Bytes            int64   // of the response's body, when it is whole
	Target           *string // the method and the path
}

// askWarmUp counts a request as one of the warm-up. In the closed loop its sender has counted it with the others. In the
// open loop the dispatcher counts both.
func (r *Recorder) askWarmUp() {
	if !r.options.Open {
		r.Asked--
		r.WarmUp.Asked++
	}
}

// Send counts a request. forConnection reports that it waited for a connection.
func (r *Recorder) Send(f *Flight, forConnection bool) {
	if f.Due < 0 {
		r.askWarmUp()
		r.WarmUp.Sent++
		return
	}
	r.Sent++
	r.lastSent = f.Sent
	if int64(f.Sent) <= r.options.End.Load() {
		r.SentInTime++
	}
	r.bins.add(f.Sent)
	if r.Measures.Endpoints != nil {
		r.Measures.Endpoints[f.Endpoint].Sent++
	}
	if !r.options.Open {
		return
	}
	lag := f.Sent - f.Due
	r.Lag.Record(lag)
	switch {
	case lag <= LateAfter:
	case forConnection:
		r.LateConnections++
	default:
		r.LateGenerator++
	}
}

// Response counts a whole response. Its status has three digits.
func (r *Recorder) Response(f *Flight, status int, done time.Duration) {
	if f.Due < 0 {
		r.WarmUp.Answered++
		return
	}
	r.Answered++
	if int64(done) <= r.options.End.Load() {
		r.InTime++
	}
	r.lastDone = max(r.lastDone, done)
	r.Codes[status]++
	r.Tally.Classes[status/100]++
	class := &r.Measures.Classes[status/100]
	if *class == nil {
		*class = latencies.New()
	}
	(*class).Record(done - f.Sent)
	r.FirstByte.Record(f.First - f.Sent)
	r.headline.Answered.Record(done - r.began(f))
	if r.Measures.Endpoints != nil {
		e := &r.Measures.Endpoints[f.Endpoint]
		e.Classes[status/100]++
		e.Answered.Record(done - r.began(f))
	}
	if r.detail != nil {
		r.point(f, status, done)
		r.row(f, status, done, "")
	}
}

// began returns when the headline latency of a request begins.
func (r *Recorder) began(f *Flight) time.Duration {
	if r.options.Open {
		return f.Due
	}
	return f.Sent
}

// Fail counts a request that was sent and failed. Its timeout began at began.
func (r *Recorder) Fail(f *Flight, k failure.Kind, err error, began, now time.Duration) {
	if f.Due < 0 {
		r.WarmUp.Failed++
		return
	}
	r.fail(f, k, err, began, now)
	r.row(f, 0, now, k.String())
}

func (r *Recorder) fail(f *Flight, k failure.Kind, err error, began, now time.Duration) {
	r.Failed++
	r.Fault(k, err, now)
	gaveUp := r.gaveUp(k, began, now)
	r.miss(f, gaveUp, now)
	if r.Measures.Endpoints != nil {
		e := &r.Measures.Endpoints[f.Endpoint]
		e.Failed++
		e.Miss(now-r.began(f), gaveUp)
	}
	if r.detail != nil {
		r.point(f, 0, now)
	}
}

// Reject counts a whole response that does not meet an expectation. Its request has failed: a server that fails fast
// does not improve a quantile.
func (r *Recorder) Reject(f *Flight, status, expectation int, mistake string, done time.Duration) {
	if f.Due < 0 {
		r.WarmUp.Failed++
		return
	}
	r.lastDone = max(r.lastDone, done)
	r.Measures.Wrong.Codes[status]++
	r.Measures.Wrong.Reasons[expectation].add(1, mistake)
	r.fail(f, failure.Unexpected, failure.ErrWrong, f.Sent, done)
	r.row(f, status, done, mistake)
}

// Fault counts an error of a request or a connection.
func (r *Recorder) Fault(k failure.Kind, err error, now time.Duration) {
	if now < 0 {
		return
	}
	r.Failures.Add(k, err)
	if int64(now) <= r.options.End.Load() {
		r.ErrorsInTime++
	}
}

// Abandon counts a request that was sent and has no response at the end of the run.
func (r *Recorder) Abandon(f *Flight, now time.Duration) {
	if f.Due < 0 {
		return // it was sent, and neither answered nor failed
	}
	r.Unanswered++
	r.miss(f, true, now)
	if r.Measures.Endpoints != nil {
		e := &r.Measures.Endpoints[f.Endpoint]
		e.Unanswered++
		e.Miss(now-r.began(f), true)
	}
	r.row(f, 0, now, "unanswered")
}

// FailUnsent counts a request that was not sent, because its connection or its wait
// for a stream failed. The flight's Sent is when that began.
func (r *Recorder) FailUnsent(f *Flight, k failure.Kind, now time.Duration) {
	if f.Due < 0 {
		r.askWarmUp()
		return
	}
	r.NoConnection++
	r.row(f, 0, now, k.String())
	r.miss(f, r.gaveUp(k, f.Sent, now), now)
}

// gaveUp reports whether a failed request was given up. A timeout closes the
// connection: another request in its pipeline that had time left was lost, and was
// not given up.
func (r *Recorder) gaveUp(k failure.Kind, began, now time.Duration) bool {
	return k == failure.Timeout && now-began >= r.options.Timeout
}

// miss counts the time of a request without a response.
func (r *Recorder) miss(f *Flight, gaveUp bool, now time.Duration) {
	r.headline.Miss(now-r.began(f), gaveUp)
	r.Missed.Miss(now-f.Sent, gaveUp)
}

// Skip counts requests that were skipped because of the backlog's limit.
func (r *Recorder) Skip(n int64) {
	r.Skipped += n
	r.headline.Never += n
}

// EndUnsent counts a request that was due and was not sent before the end of the run.
func (r *Recorder) EndUnsent(due, now time.Duration) {
	if due < 0 {
		r.askWarmUp()
		return
	}
	r.Ended++
	if r.options.Open {
		r.headline.Miss(now-due, true)
	}
}

// point offers a finished request to the thinner.
func (r *Recorder) point(f *Flight, status int, done time.Duration) {
	if r.detail.points == nil {
		return
	}
	began := r.began(f)
	r.detail.points.record(Moment{began, done - began, int32(status)})
}

// row passes a request on. failure is "" if it has not failed.
func (r *Recorder) row(f *Flight, status int, done time.Duration, failure string) {
	d := r.detail
	if d == nil || d.rows == nil {
		return
	}
	d.add(Row{Due: r.began(f), Sent: f.Sent, Done: done, Status: int32(status), Bytes: f.Bytes, Target: f.Target,
		Failure: failure})
}

// Bytes counts bytes that were read.
func (r *Recorder) Bytes(n int, now time.Duration) {
	if now < 0 {
		return
	}
	r.Read += int64(n)
	if int64(now) <= r.options.End.Load() {
		r.ReadInTime += int64(n)
	}
}

// Connected counts a connection that was made. It was secured in the time of handshake, 0 without TLS.
func (r *Recorder) Connected(took, handshake, now time.Duration) {
	r.Made++
	r.Connections++
	r.Most = max(r.Most, r.Connections)
	if now < 0 {
		return
	}
	r.Connect.Record(took)
	if handshake > 0 {
		r.Handshake.Record(handshake)
	}
}

// swap replaces the headline, and returns the old one and a copy of the tally. It swaps the
// measures too, if they are not nil.
func (r *Recorder) swap(empty latencies.Times, m *Measures) (Tally, latencies.Times) {
	r.Lock()
	defer r.Unlock()
	old := r.headline
	r.headline = empty
	if m != nil {
		r.Measures, *m = *m, r.Measures
	}
	return r.Tally, old
}
