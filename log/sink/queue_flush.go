package sink

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A flush waits until so many lines have gone that ever came.
type flush struct {
	lines uint64
	done  chan struct{}
}

// Flush returns when every line that was queued before it is written or
// dropped, or when ctx is done, with an error. It is for who is about to end
// the process in a way that leaves no time for Close, or has reason to think
// that somebody else is: after a panic that was caught, say.
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

// forget removes a flush that nobody waits for any more, and returns how many
// events wait to be written.
func (q *Queue) forget(f flush) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flushes = slices.DeleteFunc(q.flushes, func(other flush) bool { return other == f })
	return q.tally.stats.Waiting
}

// endFlushes lets those return that have what they waited for. q.mu is held.
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

// fatalWait is how long a fatal event may hold up the end of the process.
const fatalWait = time.Second

func (q *Queue) flushFatal() {
	ctx, cancel := context.WithTimeout(context.Background(), fatalWait)
	defer cancel()
	q.Flush(ctx) // what is left is counted as waiting, and Close tries again
}
