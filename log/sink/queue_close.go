package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// lastWrite is the time that a write has to end after Close has given up. Most
// writes need a fraction of it, and their events then count as written.
const lastWrite = 250 * time.Millisecond

var errGaveUp = errors.New("a call of Close gave up")

// Close rejects further lines, and returns when all lines before it are written
// or dropped. A writer that waits for a retry tries again immediately. If ctx
// ends first, it gives up: no further write begins, and the remaining lines are
// dropped as "closed". The error says how many.
//
// The write in progress has 250 ms more. If it takes longer, its lines count as
// dropped, though a reader gets them if it ends after all. With [Std] they are
// at most 4,096 bytes.
//
// When Close returns, its error and Stats are final, except for lines that are
// handed to the queue later. Close may be called more than once.
func (q *Queue) Close(ctx context.Context) error {
	q.refuse()
	q.rouse()
	q.out.hurry()
	var gaveUp error
	select {
	case <-q.done:
	case <-ctx.Done():
		gaveUp = ctx.Err()
		q.giveUp()
	}
	if left := q.leftBehind(); left > 0 {
		return fmt.Errorf("%w with %d events to write", cmp.Or(gaveUp, errGaveUp), left)
	}
	return nil
}

// refuse makes the queue reject lines, and returns when no caller waits for
// space.
func (q *Queue) refuse() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.room.Broadcast()
	for q.callers > 0 {
		q.room.Wait()
	}
}

// giveUp returns when the goroutine has dropped the remaining lines. If the
// write in progress does not end, giveUp drops them itself.
func (q *Queue) giveUp() {
	q.out.giveUp()
	timer := time.NewTimer(lastWrite)
	defer timer.Stop()
	select {
	case <-q.done:
	case <-timer.C:
		q.abandon()
	}
}

// leftBehind returns how many events were dropped because Close gave up.
func (q *Queue) leftBehind() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.left
}

// abandon drops all lines that are not counted yet. The goroutine, which may be
// in a write that never returns, counts nothing from then on.
func (q *Queue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.abandoned {
		return
	}
	q.abandoned = true
	if q.current != nil {
		q.drop(q.current)
	}
	for c := q.backlog.take(); c != nil; c = q.backlog.take() {
		q.drop(c)
	}
	q.backlog.removed = q.backlog.added
	q.endFlushes()
	q.out.end()
}

// drop counts the unwritten lines of a chunk as dropped. q.mu is held.
func (q *Queue) drop(c *chunk) {
	begin := 0
	if c.settled > 0 {
		begin = c.lines[c.settled-1].end
	}
	for _, line := range c.lines[c.settled:] {
		q.tally.settle(line.level, line.end-begin, 0, Closed, nil)
		q.left++
		begin = line.end
	}
}
