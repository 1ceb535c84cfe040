package send

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/dispatch"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/line"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/users"
)

// workers send a thread's part of a run over the connections of package line, from goroutines, each with one request
// under way.
type workers struct {
	Part
	config *tls.Config // nil without TLS
	http1  bool        // not HTTP/2
	usage  usageClock

	// Guarded by the recorder's lock.
	lines   []*line.Line // one for each connection
	opening int          // lines that are being added; open loop only
	idle    []*worker    // the longest idle first; open loop only
	over    bool         // no further requests will be due; open loop only

	cut     context.Context // done when the run stops waiting for responses
	release context.CancelFunc
	running sync.WaitGroup
}

// A worker sends one request at a time over a line, which it may share.
type worker struct {
	*workers
	line    *line.Line
	due     chan dueRequest // gives an idle worker a request; closed after the last one
	message program.Message
	head    []byte           // of message
	exam    *expect.Examiner // nil if nothing is expected of responses
	user    *users.User      // executes flows; nil without them
}

// A dueRequest is a request that a worker is to send.
type dueRequest struct {
	due     time.Duration
	starved bool             // no connection was free when it was due
	message *program.Message // of a log; nil without one
}

// NewWorkers returns a thread for each part of a run over HTTP/2, or of a run with flows. config is nil without TLS.
func NewWorkers(parts []Part, config *tls.Config, http1 bool) []Thread {
	threads := make([]Thread, len(parts))
	for i, p := range parts {
		w := &workers{Part: p, config: config, http1: http1}
		w.cut, w.release = context.WithCancel(context.Background())
		threads[i] = w
	}
	return threads
}

func (w *workers) newLine() *line.Line { return line.New(w.Run.Server, w.config, w.http1) }

// serve implements Thread.
func (w *workers) serve(opening context.Context) Usage {
	defer lockThread()()
	defer w.release()
	w.usage = newUsageClock(processTimes(w.Run.Threads))
	first := w.openFirst(opening)
	w.Run.opening.Done()
	<-w.Run.released
	w.usage.begin()
	w.Rec.Lock()
	for _, l := range first {
		w.staff(l)
	}
	w.Rec.Unlock()
	if w.Requests.Open() {
		for pause, more := w.turn(); more; pause, more = w.turn() {
			sleep(pause)
		}
	}
	w.await()
	w.closeLines()
	return w.usage.end()
}

// closeLines closes the connections, and counts their last bytes.
func (w *workers) closeLines() {
	w.Rec.Lock()
	defer w.Rec.Unlock()
	for _, l := range w.lines {
		o := l.Close()
		w.Rec.Written += int64(o.Written)
		w.Rec.Bytes(o.Read, w.Run.Now())
	}
	w.measure(max(w.Run.Now(), 0), &w.usage) // also if the warm-up was interrupted
}

// openFirst makes the first lines and connects them, mostOpening at the same time.
func (w *workers) openFirst(ctx context.Context) []*line.Line {
	lines := make([]*line.Line, w.First)
	var opening sync.WaitGroup
	slots := make(chan struct{}, mostOpening)
	for i := range lines {
		lines[i] = w.newLine()
		if w.Run.NoKeepAlive {
			continue
		}
		slots <- struct{}{}
		opening.Go(func() {
			w.connect(ctx, lines[i])
			<-slots
		})
	}
	opening.Wait()
	return lines
}

// connect opens a line and counts the result.
func (w *workers) connect(ctx context.Context, l *line.Line) error {
	ctx, cancel := context.WithTimeout(ctx, w.Run.Timeout)
	defer cancel()
	o, err := l.Open(ctx)
	w.Rec.Lock()
	defer w.Rec.Unlock()
	if o.Lost {
		w.Rec.Connections--
	}
	switch {
	case err != nil && w.cut.Err() != nil: // the end of the run is not a failure
	case err != nil:
		w.Rec.Fault(failure.OfConnection(err), fmt.Errorf("%s: %w", w.Run.Server, err), w.Run.Now())
	case o.Made:
		w.Rec.Connected(o.Connect, o.Handshake, w.Run.Now())
	}
	return err
}

// staff starts the workers of a line: one for each request that may be under way on
// it. The recorder's lock is held.
func (w *workers) staff(l *line.Line) {
	w.lines = append(w.lines, l)
	for range w.Run.Pipeline {
		k := &worker{workers: w, line: l, due: make(chan dueRequest, 1)}
		switch {
		case w.Flows != nil:
			k.user = w.Flows.NewUser()
		case len(w.Run.Expect) > 0:
			k.exam = expect.NewExaminer(w.Run.Expect)
		}
		if w.Requests.Open() {
			w.running.Go(k.serveOpen)
		} else {
			w.running.Go(k.serveClosed)
		}
	}
}

// turn dispatches the requests that are due. It returns how long to sleep before the
// next turn, and whether there is one.
func (w *workers) turn() (pause time.Duration, more bool) {
	w.Rec.Lock()
	defer w.Rec.Unlock()
	now, end := w.Run.Now(), w.Run.End()
	w.measure(now, &w.usage)
	w.dispatch(now, w)
	if !w.Requests.Over(now, end) || w.Requests.Waiting() > 0 && now < w.Run.deadline() {
		return w.Requests.UntilDue(now, end), true
	}
	w.endUnsent(now)
	for _, k := range w.idle {
		close(k.due)
	}
	w.idle, w.over = nil, true
	return 0, false
}

// NextFree implements dispatch.Sender.
func (w *workers) NextFree() bool { return len(w.idle) > 0 }

// SendDue implements dispatch.Sender.
func (w *workers) SendDue(due time.Duration, starved bool) {
	k := w.idle[0]
	w.idle = w.idle[1:]
	k.due <- dueRequest{due, starved, w.logged()}
}

// Connections implements dispatch.Sender.
func (w *workers) Connections() (open, opening int) { return len(w.lines), w.opening }

// Grow implements dispatch.Sender. The workers of a new line take waiting requests once it is
// connected.
func (w *workers) Grow(n int64) {
	for ; n > 0 && len(w.lines)+w.opening < w.Most && w.opening < mostOpening; n-- {
		w.opening++
		w.running.Go(func() {
			l := w.newLine()
			began := w.Run.Now()
			err := w.connect(w.cut, l)
			w.Rec.Lock()
			defer w.Rec.Unlock()
			w.opening--
			if err == nil {
				w.staff(l)
			} else if w.Requests.Waiting() > 0 {
				due, _ := w.Requests.Take()
				w.Rec.FailUnsent(&record.Flight{Due: due, Sent: began}, failure.OfConnection(err), w.Run.Now())
			}
		})
	}
}

// await waits for the workers until the run stops waiting for responses.
func (w *workers) await() {
	over := make(chan struct{})
	go func() {
		w.running.Wait()
		close(over)
	}()
	for {
		select {
		case <-over:
			return
		case <-time.After(dispatch.Tick):
			now := w.Run.Now()
			w.Rec.Lock()
			w.measure(now, &w.usage)
			w.Rec.Unlock()
			if now >= w.Run.End() {
				w.usage.stop()
			}
			if now >= w.Run.deadline() {
				w.release()
			}
		}
	}
}

// serveClosed sends requests of the closed loop.
func (k *worker) serveClosed() {
	for failures := 0; ; {
		if k.user != nil {
			k.think(k.user.Next())
		}
		now := k.Run.Now()
		if now >= k.Run.End() || !k.Requests.Claim(now) {
			return
		}
		k.Rec.Lock()
		k.Rec.Asked++
		k.Rec.Unlock()
		if k.serveOne(dueRequest{due: now}) {
			failures = 0
			continue
		}
		failures++
		if k.user != nil {
			k.user.Lost()
		}
		k.pause(backoff(failures))
	}
}

// serveOpen sends requests of the open loop.
func (k *worker) serveOpen() {
	for r, ok := k.next(); ok; r, ok = k.next() {
		k.serveOne(r)
	}
}

// next returns the next request: one that waits, or else the next that is due. ok is
// false after the last one.
func (k *worker) next() (r dueRequest, ok bool) {
	k.Rec.Lock()
	switch {
	case k.Requests.Waiting() > 0 && !k.Run.cut.Load():
		r.due, r.starved = k.Requests.Take()
		r.message = k.logged()
		k.Rec.Unlock()
		return r, true
	case k.over:
		k.Rec.Unlock()
		return r, false
	}
	k.idle = append(k.idle, k)
	k.Rec.Unlock()
	r, ok = <-k.due
	return r, ok
}

// logged returns the message of the request of a log that was just taken; nil without a log. Several workers take
// requests before one sends its own. The recorder's lock is held.
func (w *workers) logged() *program.Message {
	if w.Log == nil {
		return nil
	}
	m := *w.Log.Next()
	return &m
}

// serveOne sends a request, counts the outcome, and reports whether it was answered.
func (k *worker) serveOne(r dueRequest) bool {
	began := k.Run.Now()
	if err := k.connect(k.cut, k.line); err != nil {
		k.Rec.Lock()
		defer k.Rec.Unlock()
		if now := k.Run.Now(); k.cut.Err() != nil {
			k.Rec.EndUnsent(r.due, now)
		} else {
			k.Rec.FailUnsent(&record.Flight{Due: r.due, Sent: began}, failure.OfConnection(err), now)
		}
		return false
	}
	x := k.begin(r, began)
	o, err := k.exchange(x)
	if k.Run.NoKeepAlive && err == nil && !o.Last {
		o.Add(k.line.Close())
		o.Last = true
	}
	now := k.Run.Now()
	k.Rec.Lock()
	defer k.Rec.Unlock()
	x.over = true
	if x.begun && k.Rec.StreamWait != nil && x.Due >= 0 {
		k.Rec.StreamWait.Record(x.waited)
	}
	k.count(&o, now)
	x.Bytes = o.Body
	switch {
	case err == nil:
		k.answered(&x.Flight, o.Status, now)
	case k.cut.Err() != nil && x.begun:
		k.Rec.Abandon(&x.Flight, now)
	case k.cut.Err() != nil:
		k.Rec.EndUnsent(r.due, now)
	case x.begun:
		k.Rec.Fail(&x.Flight, failure.OfExchange(err), err, x.ready, now)
	default:
		k.Rec.Fault(failure.OfExchange(err), err, now)
		k.Rec.FailUnsent(&record.Flight{Due: r.due, Sent: x.ready}, failure.OfExchange(err), now)
	}
	return err == nil
}

// answered counts a whole response. The recorder's lock is held.
func (k *worker) answered(f *record.Flight, status int, now time.Duration) {
	wrong, mistake := -1, ""
	switch {
	case k.user != nil:
		wrong, mistake = k.user.End()
	case k.exam != nil:
		wrong, mistake = k.exam.End()
	}
	if wrong >= 0 {
		k.Rec.Reject(f, status, wrong, mistake, now)
		return
	}
	k.Rec.Response(f, status, now)
}

// count counts the bytes of an exchange, and the end of its connection. The
// recorder's lock is held.
func (k *worker) count(o *line.Outcome, now time.Duration) {
	k.Rec.Written += int64(o.Written)
	k.Rec.Bytes(o.Read, now)
	if o.Last {
		k.Rec.Connections--
	}
}

// exchange sends the worker's message. It sends it again over a new connection if
// the server cannot have processed it, but only once after a refused stream: a
// server refuses streams until the client knows its limit, which comes with its
// first bytes.
func (k *worker) exchange(x *workerExchange) (line.Outcome, error) {
	ctx, cancel := context.WithTimeout(k.cut, k.Run.Timeout)
	defer cancel()
	watch := line.Watch{
		Sending: func() { k.sending(x) },
		Began:   func() { x.First = k.Run.Now() },
	}
	switch {
	case k.user != nil:
		watch.Reader = k.user
	case k.exam != nil:
		watch.Reader = k.exam
	}
	var before line.Outcome // of the attempts that sent nothing
	for {
		o, err := k.line.Exchange(ctx, &k.message, watch)
		o.Add(before)
		switch {
		case errors.Is(err, line.ErrGone):
		case errors.Is(err, line.ErrRefused) && k.refuse(x):
		default:
			return o, err
		}
		before = o
		if err := k.connect(ctx, k.line); err != nil {
			return before, failure.New(failure.OfConnection(err), err)
		}
	}
}

// refuse marks the exchange as refused, and reports whether it was not before.
func (k *worker) refuse(x *workerExchange) bool {
	k.Rec.Lock()
	defer k.Rec.Unlock()
	first := !x.refused
	x.refused = true
	return first
}

// A workerExchange is a request whose worker is ready to send it.
type workerExchange struct {
	record.Flight
	starved bool          // no connection was free when it was due
	ready   time.Duration // when there was a connection

	// Guarded by the recorder's lock.
	waited  time.Duration // for a stream of HTTP/2
	begun   bool          // it counts as sent
	refused bool          // the server has refused its stream once
	over    bool          // the exchange has returned
}

// begin takes the next message.
func (k *worker) begin(r dueRequest, began time.Duration) *workerExchange {
	k.Rec.Lock()
	defer k.Rec.Unlock()
	m := r.message
	switch {
	case m != nil:
	case k.user != nil:
		m = k.user.Message()
	default:
		m = k.Script.Next()
	}
	k.message = *m
	if !m.Fixed {
		k.head = append(k.head[:0], m.Head...)
		k.message.Head = k.head
	}
	return &workerExchange{
		Flight:  record.Flight{Due: r.due, Sent: began, Endpoint: m.Endpoint, NoBody: m.NoBody, Target: m.Target},
		starved: r.starved, ready: k.Run.Now(),
	}
}

// sending counts the request as sent. Without keep-alive it was sent when its
// connection began. The client waits for a stream as it waits for a connection.
func (k *worker) sending(x *workerExchange) {
	k.Rec.Lock()
	defer k.Rec.Unlock()
	if x.over || x.begun && !x.refused {
		return
	}
	now := k.Run.Now()
	x.waited = now - x.ready
	if !k.Run.NoKeepAlive {
		x.Sent = now
	}
	if !x.begun {
		x.begun = true
		k.Rec.Send(&x.Flight, x.starved || x.waited > record.LateAfter)
	}
}

// thinkFor is how long a user thinks before it looks whether the run is over.
const thinkFor = 250 * time.Millisecond

// think waits before a request, but not beyond the end of the run, or of its number of requests.
func (k *worker) think(d time.Duration) {
	for until := k.Run.Now() + d; ; {
		now, end := k.Run.Now(), k.Run.End()
		if now >= until || k.cut.Err() != nil || k.Requests.Over(now, end) {
			return
		}
		k.pause(min(until-now, end-now, thinkFor))
	}
}

// pause waits, but not beyond the end of the run.
func (k *worker) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-k.cut.Done():
	}
}
