package sink

import "github.com/weirhq/weir/log"

// Change replaces the options of the queue, and of the events that the queue writes
// itself; see [Queue.UseOptions]. Lines that wait stay in the queue, even if there are
// more of them than fit now. The counts continue.
func (q *Queue) Change(o QueueOptions, own log.Options) {
	if o.Bytes <= 0 {
		o.Bytes = DefaultQueueBytes
	}
	logger := q.newOwn(own)
	q.mu.Lock()
	q.o, q.own = o, logger
	q.backlog.resize(o)
	q.room.Broadcast()
	q.mu.Unlock()
	q.rouse() // it may sleep until totals are due
}

// Retry ends the wait for the next attempt of a failed write, or the next such wait if there is
// none. Use it when the cause of the failure is gone.
func (q *Queue) Retry() { q.out.hurry() }

// Redirect passes all later lines on to next, and the lines of callers that wait for
// space. Only next counts these lines. Lines in the queue are written. Use it before
// Close when next replaces the queue, so that no line in between is dropped. Redirect
// may be called once.
func (q *Queue) Redirect(next log.EventWriter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = next
	q.room.Broadcast()
}
