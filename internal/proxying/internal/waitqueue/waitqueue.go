// Package waitqueue lets exchanges wait until a server has a free place, in the order of their
// arrival. It knows neither exchanges nor servers.
//
// No free place is overlooked: an exchange first becomes a waiter, with Push, and then examines
// the servers, with Dispatch. One that leaves a server first frees its place, and then calls
// Dispatch if Waiting is not 0.
package waitqueue

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// recheck is the interval at which the first waiter looks for a server that can be used again. No
// call of Dispatch announces such a server.
const recheck = 100 * time.Millisecond

// A Queue holds waiters. The zero value is empty. Goroutines may share it.
type Queue struct {
	waiting atomic.Int32 // len(waiters)
	total   atomic.Uint64

	mu      sync.Mutex // guards the following field, and is held while a waiter tries
	waiters []*Waiter
}

// A Waiter is an exchange that waits. It may be pushed once.
type Waiter struct {
	try  func(now time.Time) Result
	done chan struct{} // receives a value when the waiter need not wait any longer
}

// A Result is the result of an attempt to find a place.
type Result uint8

const (
	Done  Result = iota // the waiter need not wait any longer
	Wait                // it waits for something that others need not wait for
	Taken               // it waits, and so do all others
)

// New returns a waiter. try looks for a place. It may be called by any goroutine between Push and
// the end of Await, but only by one at a time.
func New(try func(now time.Time) Result) *Waiter {
	return &Waiter{try: try, done: make(chan struct{}, 1)}
}

// Push adds a waiter and reports true, unless max others wait.
func (q *Queue) Push(w *Waiter, max int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiters) >= max {
		return false
	}
	q.waiters = append(q.waiters, w)
	q.waiting.Add(1)
	q.total.Add(1)
	return true
}

// Waiting returns the number of waiters.
func (q *Queue) Waiting() int { return int(q.waiting.Load()) }

// Total returns the number of waiters that were ever added.
func (q *Queue) Total() uint64 { return q.total.Load() }

// Dispatch lets the waiters try to find a place, in the order of their arrival, until all places
// are taken.
func (q *Queue) Dispatch() {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for i := 0; i < len(q.waiters); {
		w := q.waiters[i]
		switch w.try(now) {
		case Done:
			q.remove(i)
			w.done <- struct{}{}
		case Wait:
			i++
		case Taken:
			return
		}
	}
}

// remove removes the waiter at an index. The caller holds mu.
func (q *Queue) remove(i int) {
	q.waiters = slices.Delete(q.waiters, i, i+1)
	q.waiting.Add(-1)
}

// Await waits until a waiter need not wait any longer, or ctx is done. It reports false in the
// second case, in which the waiter has left the queue.
func (q *Queue) Await(ctx context.Context, w *Waiter) bool {
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	for {
		select {
		case <-w.done:
			return true
		case <-tick.C:
			if q.isFirst(w) {
				q.Dispatch()
			}
		case <-ctx.Done():
			return !q.giveUp(w)
		}
	}
}

// isFirst reports whether a waiter has waited for longest.
func (q *Queue) isFirst(w *Waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters) > 0 && q.waiters[0] == w
}

// giveUp removes a waiter. It reports false if the waiter has left the queue in the meantime.
func (q *Queue) giveUp(w *Waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiters, w)
	if i >= 0 {
		q.remove(i)
	}
	return i >= 0
}
