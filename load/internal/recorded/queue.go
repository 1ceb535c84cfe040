// Package recorded has the requests of a log that one thread of a load test sends, with the times at which they are due.
package recorded

import (
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/pace"
)

// A Request is a message and the time at which it is due.
type Request struct {
	Due     time.Duration // since the start
	Message program.Message
}

// capacity is the number of requests that a Queue holds. The others wait in the log, so that a server that stalls costs
// no memory.
const capacity = 4096

// A Queue holds the next requests of a thread: those that were asked for and wait, and then those that will be due. One
// goroutine adds requests, and the thread takes them.
type Queue struct {
	current program.Message // the last that was taken; only the thread uses it

	mu     sync.Mutex // guards the fields below
	change *sync.Cond // a request was added or taken, or the queue was closed
	ring   []Request
	first  int
	n      int
	asked  int // of n
	closed bool
	missed bool // Await has reached its limit
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	q := &Queue{ring: make([]Request, capacity)}
	q.change = sync.NewCond(&q.mu)
	return q
}

// Add adds a request. It waits while the queue is full, and returns false if the queue was closed.
func (q *Queue) Add(r Request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.n == len(q.ring) && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return false
	}
	q.ring[(q.first+q.n)%len(q.ring)] = r
	q.n++
	q.change.Broadcast()
	return true
}

// Close ends the queue. No more requests are added.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}

// Next returns the message of the last request that was taken. It is a thread's script.
func (q *Queue) Next() *program.Message { return &q.current }

// Await waits until it is known when the next request is due, or that there is none. It waits once as long as the limit:
// the log may be a pipe, to which nothing is written.
func (q *Queue) Await(limit time.Duration) {
	over := time.AfterFunc(limit, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.change.Broadcast()
	})
	defer over.Stop()
	until := time.Now().Add(limit)
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.asked == q.n && !q.closed && !q.missed {
		q.change.Wait()
		q.missed = !time.Now().Before(until)
	}
}

// unknown is when the next request is due as long as it was not read. It is not Never, so that the run goes on.
const unknown = pace.Never - 1

// Asking is the cursor of the requests that are asked for.
type Asking struct{ *Queue }

// Due returns when the next request is due; Never after the last one.
func (q Asking) Due() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.asked < q.n:
		return q.ring[(q.first+q.asked)%len(q.ring)].Due
	case q.closed:
		return pace.Never
	}
	return unknown
}

// Advance asks for the next request.
func (q Asking) Advance() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
}

// Taking is the cursor of the requests that are taken.
type Taking struct{ *Queue }

// Due returns when the request was due that has waited longest.
func (q Taking) Due() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ring[q.first].Due
}

// Advance takes that request. Next returns its message.
func (q Taking) Advance() {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := &q.ring[q.first]
	q.current, *r = r.Message, Request{}
	q.first = (q.first + 1) % len(q.ring)
	q.n--
	q.asked--
	q.change.Broadcast()
}
