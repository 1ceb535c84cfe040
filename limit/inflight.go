package limit

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// The errors of [InFlight.Enter], besides the error of its context.
var (
	// ErrFull means that Max requests are in flight and the queue is full.
	ErrFull = errors.New("limit: too many requests in flight and waiting")
	// ErrWaited means that no request finished within the waiting time.
	ErrWaited = errors.New("limit: too many requests in flight for the whole waiting time")
	// ErrOvertaken means that the queue was congested and a newer request took the
	// place of this one.
	ErrOvertaken = errors.New("limit: too many requests in flight, and newer ones waiting")
)

// InFlightOptions are the settings of an InFlight.
type InFlightOptions struct {
	// Max is the number of requests that may be in flight. Zero sets no limit.
	Max int
	// Adaptive makes the limit follow the capacity of the service: it grows while more requests
	// in flight are served at a higher rate, and falls if they only wait for each other. Max is
	// the highest limit then, and zero means 1,000. Requests must leave with
	// [InFlight.LeaveAfter]. The limit begins at 100 and is at least 25, unless Max is lower.
	Adaptive bool
	// Queue is the number of requests that may wait. Zero refuses without waiting.
	Queue int
	// Wait is the longest time that a request waits; 0 is a second.
	Wait time.Duration
}

// An InFlight admits at most Max requests at a time and lets a few more wait. Make one
// with NewInFlight; the zero InFlight has no limit. Goroutines may share it.
//
// Requests wait in FIFO order, and are refused immediately if the queue is full. This
// is best for a burst. If the queue has not been empty for Wait/2, requests arrive
// faster than they finish, and FIFO order would make all of them wait too long,
// including requests that their clients have given up. The queue then becomes LIFO, and
// each new request evicts the two oldest until only a few wait. Admitted requests have
// hardly waited, and refused ones are refused early. The queue becomes FIFO again
// when it has evicted no request for Wait/2. This is Facebook's adaptive LIFO with
// controlled delay (B. Maurer, Fail at Scale, ACM Queue 13(8), 2015). Like CoDel (RFC
// 8289), it does not measure the length of the queue but whether it ever becomes empty.
type InFlight struct {
	mu                     sync.Mutex // guards all fields below
	max, maxQueue, lifoLen int
	wait                   time.Duration
	adaptive               *adaptive // nil for a fixed limit

	inFlight     int
	queue        waitQueue
	waitingSince time.Time // when the queue was last empty
	congested    time.Time // when the congestion began or a request was last evicted; zero: FIFO
	stats        InFlightStats
}

// InFlightStats are the counts of an InFlight.
type InFlightStats struct {
	// InFlight and Waiting are the current numbers of requests, and Max is the current limit
	// of requests in flight.
	InFlight, Waiting, Max int
	// Entered is the number of admitted requests, with or without waiting.
	Entered uint64
	// Full, Waited and Overtaken are the numbers of requests refused with ErrFull,
	// ErrWaited and ErrOvertaken. Gone counts requests with an ended context.
	Full, Waited, Overtaken, Gone uint64
	// NewestFirst reports whether the queue is congested and therefore LIFO.
	NewestFirst bool
}

// NewInFlight returns an InFlight without requests in flight.
func NewInFlight(o InFlightOptions) *InFlight {
	f := new(InFlight)
	f.set(o)
	return f
}

// set applies the settings. f.mu is held, unless f is not shared yet.
func (f *InFlight) set(o InFlightOptions) {
	if o.Wait <= 0 {
		o.Wait = time.Second
	}
	f.maxQueue, f.wait = o.Queue, o.Wait
	switch {
	case !o.Adaptive:
		f.adaptive = nil
		f.setMax(o.Max)
		return
	case f.adaptive == nil:
		f.adaptive = newAdaptive(o.Max)
	default:
		f.adaptive.setMost(o.Max)
	}
	f.setMax(f.adaptive.max())
}

// setMax sets the number of requests that may be in flight. f.mu is held, unless f is not
// shared yet.
func (f *InFlight) setMax(n int) {
	// A LIFO queue needs only a few waiting requests. If they are too few to use all
	// slots, the queue runs empty and soon becomes FIFO again.
	f.max, f.lifoLen = n, min(f.maxQueue, 4+n/16)
}

// Change sets other options. Requests in flight stay and count: after a lower Max no
// request is admitted until enough have finished. After a higher one, waiting requests
// are admitted immediately. Waiting requests keep their waiting time. A limit that stays
// adaptive keeps its value.
func (f *InFlight) Change(o InFlightOptions) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(o)
	f.admitFree()
}

// ChangeMax changes Max and keeps the other options; see [InFlight.Change].
func (f *InFlight) ChangeMax(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setMax(n)
	f.admitFree()
}

// admitFree admits waiting requests while there are free slots. f.mu is held.
func (f *InFlight) admitFree() {
	for f.free() && f.queue.len > 0 {
		f.inFlight++
		f.admitNext()
	}
}

// TryEnter admits the caller, and reports true, if it does not have to wait. The caller
// must then call Leave once.
func (f *InFlight) TryEnter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tryEnter()
}

// tryEnter is TryEnter for a caller that holds f.mu.
func (f *InFlight) tryEnter() bool {
	if !f.free() || f.queue.len > 0 {
		return false
	}
	f.inFlight++
	f.stats.Entered++
	return true
}

// Enter waits until the caller is admitted and returns nil; the caller must then call
// Leave once. Otherwise it returns ErrFull, ErrWaited, ErrOvertaken or the error of
// ctx, and the caller must not call Leave.
func (f *InFlight) Enter(ctx context.Context) error {
	w, err := f.enterOrQueue(ctx)
	if w == nil {
		return err
	}
	return f.await(ctx, w)
}

// enterOrQueue admits the caller, or returns a waiter for it, or an error.
func (f *InFlight) enterOrQueue(ctx context.Context) (*waiter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		f.stats.Gone++
		return nil, err
	}
	if f.tryEnter() {
		return nil, nil
	}
	return f.enqueue(time.Now())
}

// free reports whether a slot is free. f.mu is held.
func (f *InFlight) free() bool { return f.max <= 0 || f.inFlight < f.max }

// enqueue adds a waiter for a new request. f.mu is held.
func (f *InFlight) enqueue(now time.Time) (*waiter, error) {
	if f.maxQueue > 0 && f.isCongested(now) {
		f.evictOldest(now)
	} else if f.queue.len >= f.maxQueue {
		f.stats.Full++
		return nil, ErrFull
	}
	if f.queue.len == 0 {
		f.waitingSince = now
	}
	w := &waiter{answer: make(chan error, 1), wait: f.wait}
	f.queue.push(w)
	return w, nil
}

// isCongested reports whether requests have arrived faster than they finished for
// Wait/2. f.mu is held.
func (f *InFlight) isCongested(now time.Time) bool {
	if f.queue.len > 0 && now.Sub(f.waitingSince) > f.wait/2 {
		return true
	}
	if !f.congested.IsZero() && now.Sub(f.congested) > f.wait/2 {
		f.congested = time.Time{}
	}
	return !f.congested.IsZero()
}

// evictOldest refuses the oldest waiters to make space for a new one. f.mu is held.
func (f *InFlight) evictOldest(now time.Time) {
	if f.congested.IsZero() {
		f.congested = now
	}
	for range min(2, f.queue.len-f.lifoLen+1) {
		f.stats.Overtaken++
		f.queue.remove(f.queue.oldest).answer <- ErrOvertaken
		f.congested = now
	}
}

// await waits until w is admitted or evicted, at most for its waiting time.
func (f *InFlight) await(ctx context.Context, w *waiter) error {
	timer := time.NewTimer(w.wait)
	defer timer.Stop()
	select {
	case err := <-w.answer:
		return err
	case <-ctx.Done():
		return f.giveUp(w, ctx.Err())
	case <-timer.C:
		return f.giveUp(w, ErrWaited)
	}
}

// Policy returns a policy that refuses requests with 503. Their Retry-After is the
// waiting time. An adaptive limit counts each request that the handler has served; a handler
// that also refuses requests calls Enter and LeaveAfter itself.
func (f *InFlight) Policy(name string) Policy {
	leave := f.Leave
	return func(_ http.ResponseWriter, r *http.Request) (func(), *Refusal) {
		if err := f.Enter(r.Context()); err != nil {
			return nil, &Refusal{Limit: name, Status: http.StatusServiceUnavailable, RetryAfter: max(f.maxWait(),
				time.Second), Err: err}
		}
		if f.isAdaptive() {
			entered := time.Now()
			return func() {
				now := time.Now()
				f.LeaveAfter(now, now.Sub(entered))
			}, nil
		}
		return leave, nil
	}
}

// giveUp removes w from the queue and returns the given error, unless w was admitted or
// evicted in the meantime.
func (f *InFlight) giveUp(w *waiter, why error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.queued {
		return <-w.answer
	}
	f.queue.remove(w)
	if why == ErrWaited {
		f.stats.Waited++
	} else {
		f.stats.Gone++
	}
	return why
}

// Leave frees the caller's slot. It panics if no request is in flight.
func (f *InFlight) Leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave()
}

// LeaveAfter is Leave for an adaptive limit. took is the time that the service took for the
// request; 0 if the service has not served it, so that it says nothing about the capacity. now
// is the current time.
func (f *InFlight) LeaveAfter(now time.Time, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.adaptive != nil && took > 0 {
		f.adaptive.leave(now, f.inFlight)
		f.setMax(f.adaptive.max())
	}
	f.leave()
	f.admitFree()
}

// leave is Leave for a caller that holds f.mu.
func (f *InFlight) leave() {
	if f.inFlight == 0 {
		panic("limit: Leave without Enter")
	}
	if f.queue.len == 0 || f.inFlight > f.max {
		f.inFlight--
		return
	}
	f.admitNext()
}

// admitNext gives a slot to the next waiter. f.mu is held.
func (f *InFlight) admitNext() {
	next := f.queue.oldest
	if !f.congested.IsZero() {
		next = f.queue.newest
	}
	f.stats.Entered++
	f.queue.remove(next).answer <- nil
}

func (f *InFlight) isAdaptive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.adaptive != nil
}

// maxWait returns the longest waiting time.
func (f *InFlight) maxWait() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wait
}

// Stats returns a consistent snapshot of the counts. Every call of Enter is in exactly
// one of them.
func (f *InFlight) Stats() InFlightStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.InFlight, s.Waiting, s.Max, s.NewestFirst = f.inFlight, f.queue.len, f.max, !f.congested.IsZero()
	return s
}
