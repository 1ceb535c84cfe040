package sink

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A flush waits until backlog.removed reaches lines.
type flush struct {
	lines uint64
	done  chan struct{}
}

// Flush returns when every line that was queued before it is written or
// dropped, or with an error when ctx ends. Call it before the process may end
// without a call of Close, for example after a recovered panic.
func (q *Queue) Flush(ctx context.Context) error {
	f := flush{done: make(chan struct{})}
	q.mu.Lock()
	if f.lines = q.backlog.added; q.backlog.removed >= f.lines {
		q.mu.Unlock()
		return nil
	}
	q.flushes = append(q.flushes, f)
	q.mu.Unlock()
	q.rouse()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w with %d events to write", ctx.Err(), q.forget(f))
	}
}

// forget removes a flush whose caller has stopped waiting, and returns the
// number of waiting events.
func (q *Queue) forget(f flush) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flushes = slices.DeleteFunc(q.flushes, func(other flush) bool { return other == f })
	return q.tally.stats.Waiting
}

// endFlushes ends the flushes whose lines are written or dropped. q.mu is held.
func (q *Queue) endFlushes() {
	if len(q.flushes) == 0 {
		return
	}
	q.flushes = slices.DeleteFunc(q.flushes, func(f flush) bool {
		ended := q.backlog.removed >= f.lines
		if ended {
			close(f.done)
		}
		return ended
	})
}

// fatalWait is the longest time by which a fatal event delays the end of the
// process.
const fatalWait = time.Second

func (q *Queue) flushFatal() {
	ctx, cancel := context.WithTimeout(context.Background(), fatalWait)
	defer cancel()
	q.Flush(ctx) // the remaining lines count as waiting, and Close tries again
}
