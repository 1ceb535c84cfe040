package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/program"
)

// workers are a thread's part of a run in goroutines, each of which has one
// request under way: for what a loop does not speak, TLS and HTTP/2. They share
// the recorder, the flow and the script by the recorder's lock.
type workers struct {
	run    *run
	rec    *recorder
	flow   *flow
	script *program.Script
	pick   picker
	first  int // connections at the start
	most   int

	// Guarded by the recorder's lock.
	lines     []line    // one for each place for a connection
	opening   int       // lines that are being added; open loop alone
	idle      []*worker // the longest idle first; open loop alone
	starved   time.Duration
	demand    demand
	dismissed bool // nothing will be due any more; open loop alone

	usage   usageClock      // serve's
	cut     context.Context // done when nothing is waited for any more
	release context.CancelFunc
	running sync.WaitGroup
}

// A picker makes the line of a place for a connection.
type picker func() line

// A worker carries one request at a time over a line that it may share.
type worker struct {
	*workers
	line line
	due  chan time.Duration // of a request; closed when there is none any more
	m    program.Message
	head []byte // m's
}

func newWorkers(r *run, thread int, pick picker) *workers {
	w := &workers{
		run:    r,
		rec:    r.recorders[thread],
		flow:   newFlow(&r.plan, thread, &r.tickets),
		script: r.program.Script(thread, r.plan.Threads, r.plan.Seed),
		pick:   pick,
		first:  share(r.plan.Connections, thread, r.plan.Threads),
		most:   share(r.plan.MaxConnections, thread, r.plan.Threads),

		starved: -1,
	}
	w.rec.handshake = newDistribution()
	if r.plan.Protocol == HTTP2 {
		w.rec.streamWait = newDistribution()
	}
	w.cut, w.release = context.WithCancel(context.Background())
	return w
}

// serve implements thread.
func (w *workers) serve(opening context.Context) threadUsage {
	defer lockThread()()
	defer w.release()
	w.usage = newUsageClock(processTimes(w.run.plan.Threads))
	first := w.openFirst(opening)
	w.run.opening.Done()
	<-w.run.released
	w.usage.begin()
	w.rec.mu.Lock()
	for _, l := range first {
		w.staff(l)
	}
	w.rec.mu.Unlock()
	if w.flow.open() {
		w.dispatch()
	}
	w.await()
	w.closeLines()
	return w.usage.end()
}

// closeLines closes what is open, and counts its last bytes.
func (w *workers) closeLines() {
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	for _, l := range w.lines {
		o := l.close()
		w.rec.written += int64(o.written)
		w.rec.bytes(o.read, w.run.now())
	}
}

// openFirst makes the first lines and connects them, some at a time.
func (w *workers) openFirst(ctx context.Context) []line {
	lines := make([]line, w.first)
	var opening sync.WaitGroup
	room := make(chan struct{}, mostOpening)
	for i := range lines {
		lines[i] = w.pick()
		if w.run.plan.NoKeepAlive {
			continue
		}
		room <- struct{}{}
		opening.Go(func() {
			w.connect(ctx, lines[i])
			<-room
		})
	}
	opening.Wait()
	return lines
}

// connect opens a line and counts what came of it.
func (w *workers) connect(ctx context.Context, l line) error {
	ctx, cancel := context.WithTimeout(ctx, w.run.plan.Timeout)
	defer cancel()
	o, err := l.open(ctx)
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	if o.lost {
		w.rec.connections--
	}
	switch {
	case err != nil && w.cut.Err() != nil: // the run is over, which is no failure
	case err != nil:
		w.rec.failures.add(openKind(err), fmt.Errorf("%s: %w", w.run.server, err))
	case o.made:
		w.rec.connected(o.connect)
		if o.handshake > 0 {
			w.rec.handshake.record(o.handshake)
		}
	}
	return err
}

// staff gives a line as many workers as may have a request under way on it. The
// recorder's lock is held.
func (w *workers) staff(l line) {
	w.lines = append(w.lines, l)
	for range w.run.plan.Pipeline {
		k := &worker{workers: w, line: l, due: make(chan time.Duration, 1)}
		if w.flow.open() {
			w.running.Go(k.answerDemand)
		} else {
			w.running.Go(k.keepBusy)
		}
	}
}

// dispatch hands what is due to idle workers until all is asked for and sent.
func (w *workers) dispatch() {
	for {
		wake := w.handOut()
		if wake < 0 {
			break
		}
		sleep(wake)
	}
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	for now := w.run.now(); w.flow.waiting() > 0; {
		w.rec.endUnsent(w.flow.take(), now)
	}
	w.rec.asked = w.flow.asked
	for _, k := range w.idle {
		close(k.due)
	}
	w.idle = nil
	w.dismissed = true
}

// handOut gives idle workers what is due, and returns how long nothing will be;
// a negative time when nothing will be any more.
func (w *workers) handOut() time.Duration {
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	now, end := w.run.now(), time.Duration(w.run.end.Load())
	w.flow.ask(min(now, end-1))
	for w.flow.waiting() > 0 && len(w.idle) > 0 {
		k := w.idle[0]
		w.idle = w.idle[1:]
		k.due <- w.flow.take()
	}
	if n := w.flow.waiting(); n > 0 {
		w.openFor(w.demand.growth(now, n, len(w.lines)))
		w.starved = now
	} else {
		w.demand = demand{}
	}
	w.rec.skip(w.flow.skip())
	w.rec.asked = w.flow.asked
	over := now >= end || w.flow.next() == never
	if over && (w.flow.waiting() == 0 || w.run.cut.Load() || now >= w.run.deadline()) {
		return -1
	}
	if over {
		return tick
	}
	return max(0, min(tick, w.flow.next()-now))
}

// openFor opens n lines, whose workers take what waits once they are connected.
func (w *workers) openFor(n int64) {
	for ; n > 0 && len(w.lines)+w.opening < w.most && w.opening < mostOpening; n-- {
		w.opening++
		w.running.Go(func() {
			l := w.pick()
			began := w.run.now()
			err := w.connect(w.cut, l)
			w.rec.mu.Lock()
			defer w.rec.mu.Unlock()
			w.opening--
			if err == nil {
				w.staff(l)
			} else if w.flow.waiting() > 0 {
				w.rec.failUnsent(&flight{due: w.flow.take(), sent: began}, openKind(err), w.run.now())
			}
		})
	}
}

// await waits for the workers, as long as answers are waited for.
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
		case <-time.After(tick):
			now := w.run.now()
			if now >= time.Duration(w.run.end.Load()) {
				w.usage.stop()
			}
			if now >= w.run.deadline() {
				w.release()
			}
		}
	}
}

// keepBusy is a worker's part of the closed loop.
func (k *worker) keepBusy() {
	for failures := 0; ; {
		now := k.run.now()
		if now >= time.Duration(k.run.end.Load()) || !k.flow.more() {
			return
		}
		k.rec.mu.Lock()
		k.rec.asked++
		k.rec.mu.Unlock()
		if k.serveOne(now, false) {
			failures = 0
			continue
		}
		failures++
		k.pause(pauseAfter(failures))
	}
}

// answerDemand is a worker's part of the open loop.
func (k *worker) answerDemand() {
	for {
		due, waits := k.next()
		if !waits {
			var more bool
			if due, more = <-k.due; !more {
				return
			}
		}
		k.serveOne(due, true)
	}
}

// next takes a request that waits, if there is one. Otherwise the worker is idle
// and is told of the next one by its channel, or that there will be none.
func (k *worker) next() (due time.Duration, ok bool) {
	k.rec.mu.Lock()
	defer k.rec.mu.Unlock()
	switch {
	case k.flow.waiting() > 0 && !k.run.cut.Load():
		return k.flow.take(), true
	case k.dismissed:
		close(k.due)
	default:
		k.idle = append(k.idle, k)
	}
	return 0, false
}

// serveOne carries a request that was due, or is now, and counts it.
func (k *worker) serveOne(due time.Duration, open bool) bool {
	began := k.run.now()
	if err := k.connect(k.cut, k.line); err != nil {
		k.rec.mu.Lock()
		defer k.rec.mu.Unlock()
		if now := k.run.now(); k.cut.Err() != nil {
			k.rec.endUnsent(due, now)
		} else {
			k.rec.failUnsent(&flight{due: due, sent: began}, openKind(err), now)
		}
		return false
	}
	x := k.begin(due, began, open)
	o, err := k.exchange(x)
	if k.run.plan.NoKeepAlive && err == nil && !o.last {
		o.add(k.line.close())
		o.last = true
	}
	now := k.run.now()
	k.rec.mu.Lock()
	defer k.rec.mu.Unlock()
	x.over = true
	if x.begun && k.rec.streamWait != nil {
		k.rec.streamWait.record(x.waited)
	}
	k.count(&o, now)
	switch {
	case err == nil:
		k.rec.answer(&x.flight, o.status, now)
	case k.cut.Err() != nil && x.begun:
		k.rec.abandon(&x.flight, now)
	case k.cut.Err() != nil:
		k.rec.endUnsent(due, now)
	case x.begun:
		k.rec.fail(&x.flight, failKind(err), err, x.ready, now)
	default:
		k.rec.failures.add(failKind(err), err)
		k.rec.failUnsent(&flight{due: due, sent: x.ready}, failKind(err), now)
	}
	return err == nil
}

// count counts what an exchange did to its connection. The recorder's lock is
// held.
func (k *worker) count(o *outcome, now time.Duration) {
	k.rec.written += int64(o.written)
	k.rec.bytes(o.read, now)
	if o.last {
		k.rec.connections--
	}
}

// exchange sends the worker's message, if need be over another connection than
// it was meant for.
func (k *worker) exchange(x *workerExchange) (outcome, error) {
	ctx, cancel := context.WithTimeout(k.cut, k.run.plan.Timeout)
	defer cancel()
	watch := exchangeWatch{
		sending: func() { k.sending(x) },
		began:   func() { x.first = k.run.now() },
	}
	var before outcome // of the attempts that sent nothing
	for {
		o, err := k.line.exchange(ctx, &k.m, watch)
		o.add(before)
		if !k.again(x, err) {
			return o, err
		}
		before = o
		if err := k.connect(ctx, k.line); err != nil {
			return before, &kindError{openKind(err), err}
		}
	}
}

// again reports whether the message is to be sent again: if the server cannot
// have processed it, but only once if it has refused the stream. It does so
// before the client knows its limit of streams, which comes with its first bytes.
func (k *worker) again(x *workerExchange, err error) bool {
	if errors.Is(err, errGone) {
		return true
	}
	k.rec.mu.Lock()
	defer k.rec.mu.Unlock()
	first := !x.refused
	x.refused = errors.Is(err, errRefused)
	return first && x.refused
}

// A workerExchange is a request from the moment at which its worker is ready to
// send it.
type workerExchange struct {
	flight
	open    bool          // the open loop asked for it
	starved bool          // no connection was free when it was due
	ready   time.Duration // when there was a connection

	// Guarded by the recorder's lock.
	waited  time.Duration // for a stream, of HTTP/2
	begun   bool          // it counts as sent
	refused bool          // the server has refused its stream once
	over    bool          // the exchange has returned
}

// begin takes the next message.
func (k *worker) begin(due, began time.Duration, open bool) *workerExchange {
	k.rec.mu.Lock()
	defer k.rec.mu.Unlock()
	m := k.script.Next()
	k.m = *m
	if !m.Fixed {
		k.head = append(k.head[:0], m.Head...)
		k.m.Head = k.head
	}
	return &workerExchange{
		flight: flight{due: due, sent: began, endpoint: m.Endpoint, noBody: m.NoBody},
		open:   open, starved: due <= k.starved, ready: k.run.now(),
	}
}

// sending counts the request as sent. Without keep-alive it was sent when its
// connection began. The time for which it has waited for a stream is the
// client's, as that for which it waits for a connection.
func (k *worker) sending(x *workerExchange) {
	k.rec.mu.Lock()
	defer k.rec.mu.Unlock()
	if x.over || x.begun && !x.refused {
		return
	}
	now := k.run.now()
	x.waited = now - x.ready
	if !k.run.plan.NoKeepAlive {
		x.sent = now
	}
	if !x.open {
		x.due = x.sent
	}
	if !x.begun {
		x.begun = true
		k.rec.send(&x.flight, x.starved || x.waited > lateAfter)
	}
}

// pause waits, but not beyond the end.
func (k *worker) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-k.cut.Done():
	}
}

// openKind classifies an error of opening a line.
func openKind(err error) kind {
	var k *kindError
	if errors.As(err, &k) {
		return k.kind
	}
	return connectKind(err)
}

// failKind classifies an error of an exchange.
func failKind(err error) kind {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return timeout
	}
	var k *kindError
	if errors.As(err, &k) {
		return k.kind
	}
	return exchangeKind(err)
}

// A kindError is an error whose kind is known where it arises.
type kindError struct {
	kind kind
	err  error
}

func (e *kindError) Error() string { return e.err.Error() }
func (e *kindError) Unwrap() error { return e.err }
