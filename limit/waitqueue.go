package limit

import "time"

// A waiter is a waiting call of Enter or WaitN.
type waiter struct {
	answer       chan error    // receives one value when another goroutine removes it from the queue
	wait         time.Duration // of Enter: the longest time
	cost         int64         // of WaitN: the time in which its tokens are added, in nanoseconds
	older, newer *waiter
	queued       bool
}

// A waitQueue is a list of waiters, ordered by arrival.
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
