package limit

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Why a request was not let in by an InFlight; else it is its context's error.
var (
	// ErrFull: as many are inside and waiting as may be.
	ErrFull = errors.New("limit: too many requests in flight and waiting")
	// ErrWaited: nobody left within the waiting time.
	ErrWaited = errors.New("limit: too many requests in flight for the whole waiting time")
	// ErrOvertaken: the queue had been long for a while and newer requests were preferred.
	ErrOvertaken = errors.New("limit: too many requests in flight, and newer ones waiting")
)

// InFlightOptions are the settings of an InFlight.
type InFlightOptions struct {
	// Max is how many may be inside at once. Zero sets no limit.
	Max int
	// Queue is how many more may wait; 0: none.
	Queue int
	// Wait is how long one waits at most; 0 is a second.
	Wait time.Duration
}

// An InFlight lets at most Max in at once and makes a few more wait. Make one
// with NewInFlight; the zero InFlight has no limit. Any number of goroutines may
// share it.
//
// Those who wait go in by the order in which they came, and who finds the line
// full is refused at once: that is best for a burst. But when somebody has been
// waiting at every moment of half of the waiting time, more come than leave, and
// a fair line makes everybody wait for nothing, those included whose client has
// gone since. Then the newest goes in first, and each newcomer takes the
// place of the two that have waited longest until only a few wait: who is let in
// was hardly kept waiting, and who is not knows soon. That ends when nobody had
// to make way for half of the waiting time. It is Facebook's adaptive LIFO
// with controlled delay (B. Maurer, Fail at Scale, ACM Queue 13(8), 2015), which
// like CoDel (RFC 8289) minds not how long a queue is but that it never empties.
type InFlight struct {
	mu                     sync.Mutex // for all below
	max, maxQueue, lifoLen int
	wait                   time.Duration

	inFlight     int
	queue        waitQueue
	waitingSince time.Time // when the line was last empty
	congested    time.Time // when the line was found long or somebody last had to make way; zero: it is fair
	stats        InFlightStats
}

// InFlightStats are the counts of an InFlight.
type InFlightStats struct {
	// InFlight and Waiting are how many are inside and waiting now.
	InFlight, Waiting int
	// Entered is how many were let in, at once or after waiting.
	Entered uint64
	// Full, Waited, Overtaken and Gone are how many were not: by ErrFull,
	// ErrWaited, ErrOvertaken, and because their context ended.
	Full, Waited, Overtaken, Gone uint64
	// NewestFirst tells that the queue has been long and the newest goes in first.
	NewestFirst bool
}

// NewInFlight returns an InFlight with nobody inside.
func NewInFlight(o InFlightOptions) *InFlight {
	f := new(InFlight)
	f.set(o)
	return f
}

// set takes the settings over. f.mu is held, unless nobody shares f yet.
func (f *InFlight) set(o InFlightOptions) {
	if o.Wait <= 0 {
		o.Wait = time.Second
	}
	// Newest first, a few are enough: if they are too few to keep all places
	// taken, the line runs empty and is soon a fair one again.
	f.max, f.maxQueue, f.wait, f.lifoLen = o.Max, o.Queue, o.Wait, min(o.Queue, 4+o.Max/16)
}

// Change gives f other settings. Whoever is inside stays and counts, so after a
// lower Max nobody goes in until enough have left; with a higher one, those who
// wait go in at once. Who waits already does so for as long as before.
func (f *InFlight) Change(o InFlightOptions) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(o)
	for f.free() && f.queue.len > 0 {
		f.inFlight++
		f.admitNext()
	}
}

// Enter returns nil once the caller is inside; it must call Leave, once. Else it
// returns ErrFull, ErrWaited, ErrOvertaken or the error of ctx, and the caller
// holds nothing.
func (f *InFlight) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		f.mu.Lock()
		f.stats.Gone++
		f.mu.Unlock()
		return err
	}
	f.mu.Lock()
	if f.free() && f.queue.len == 0 {
		f.inFlight++
		f.stats.Entered++
		f.mu.Unlock()
		return nil
	}
	w, err := f.enqueue(time.Now())
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.await(ctx, w)
}

// free reports whether another caller may go in. f.mu is held.
func (f *InFlight) free() bool { return f.max <= 0 || f.inFlight < f.max }

// enqueue puts a newcomer into the line. f.mu is held.
func (f *InFlight) enqueue(now time.Time) (*waiter, error) {
	if f.isCongested(now) {
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

// isLong tells whether more have come than left for some time. f.mu is held.
func (f *InFlight) isCongested(now time.Time) bool {
	if f.queue.len > 0 && now.Sub(f.waitingSince) > f.wait/2 {
		return true
	}
	if !f.congested.IsZero() && now.Sub(f.congested) > f.wait/2 {
		f.congested = time.Time{}
	}
	return !f.congested.IsZero()
}

// makeWay refuses those who have waited longest, to leave a place for a
// newcomer. f.mu is held.
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

// await waits for w's turn, at most for the waiting time.
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

// Policy returns a policy that rejects requests with 503. Their Retry-After is the
// waiting time.
func (f *InFlight) Policy(name string) Policy {
	leave := f.Leave
	return func(_ http.ResponseWriter, r *http.Request) (func(), *Refusal) {
		if err := f.Enter(r.Context()); err != nil {
			return nil, &Refusal{Limit: name, Status: http.StatusServiceUnavailable, RetryAfter: max(f.maxWait(), time.Second), Err: err}
		}
		return leave, nil
	}
}

// giveUp takes w out of the line. If it was answered in the meantime, that counts.
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

// Leave makes the caller's place free for another. It panics when nobody is inside.
func (f *InFlight) Leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inFlight == 0 {
		panic("limit: Leave without Enter")
	}
	if f.queue.len == 0 || f.inFlight > f.max {
		f.inFlight--
		return
	}
	f.admitNext()
}

// letIn gives a place to the next in the line. f.mu is held.
func (f *InFlight) admitNext() {
	next := f.queue.oldest
	if !f.congested.IsZero() {
		next = f.queue.newest
	}
	f.stats.Entered++
	f.queue.remove(next).answer <- nil
}

// waiting returns for how long one waits at most.
func (f *InFlight) maxWait() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wait
}

// Stats returns the counts of one instant: whoever called Enter is in one of them.
func (f *InFlight) Stats() InFlightStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.InFlight, s.Waiting, s.NewestFirst = f.inFlight, f.queue.len, !f.congested.IsZero()
	return s
}

// A waiter is a caller of Enter in the line.
type waiter struct {
	answer       chan error // gets one value when it is taken out by another
	wait         time.Duration
	older, newer *waiter
	queued       bool
}

// A line is who waits, by the time they came.
type waitQueue struct {
	oldest, newest *waiter
	len            int
}

func (l *waitQueue) push(w *waiter) {
	w.queued, w.older = true, l.newest
	if l.newest != nil {
		l.newest.newer = w
	} else {
		l.oldest = w
	}
	l.newest = w
	l.len++
}

func (l *waitQueue) remove(w *waiter) *waiter {
	if w.older != nil {
		w.older.newer = w.newer
	} else {
		l.oldest = w.newer
	}
	if w.newer != nil {
		w.newer.older = w.older
	} else {
		l.newest = w.older
	}
	w.queued, w.older, w.newer = false, nil, nil
	l.len--
	return w
}
