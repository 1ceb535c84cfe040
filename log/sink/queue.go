package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// DefaultQueueBytes is the size of a [Queue] that is asked for no other.
const DefaultQueueBytes = 8 << 20

// QueueOptions are the settings of a [Queue]. The zero value is ready for use.
type QueueOptions struct {
	// Bytes is how much may wait, in memory; zero is DefaultQueueBytes.
	Bytes int

	// WhenFull says what becomes of lines there is no room for.
	WhenFull Policy

	// Wait is how long a caller waits for room under Block; then its line is
	// dropped. Zero is for as long as it takes.
	Wait time.Duration

	// Linger is how long a line may wait for others to be written with it.
	// Zero writes it as soon as the write before it has ended.
	Linger time.Duration

	// Heartbeat is how often the log says how much of it there is. Zero is
	// never.
	Heartbeat time.Duration

	// Events are the namespace and format of the events that the queue itself
	// writes, "log events dropped" and "log totals".
	Events log.Options
}

// A Queue takes lines at the cost of a copy and has a goroutine of its own
// write them. Whatever arrives while one write runs goes out in the next, so
// the busier the log, the fewer the writes; nothing is held back for that, and
// no timer runs. Make one with [NewQueue]. Any number of goroutines may use it;
// their lines keep the order in which they came.
//
// Lines that are not written yet take at most the queue's size. When they do,
// WriteEvent waits until there is room: nothing is lost, and callers are as
// slow as the writer. What a caller was thanked for and is not written yet is
// lost when the process is killed.
//
// A Queue writes as a [Direct] does: it continues short writes, waits for room
// in a non-blocking pipe, drops what fails, and never lets the torn piece of a
// line run into the next.
type Queue struct {
	out  *Direct // the writer and the counts
	o    QueueOptions
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	some   sync.Cond // of the goroutine, which waits for lines
	room   sync.Cond // of callers, who wait for room
	next   batch     // guarded by mu: what goes out next
	held   int       // guarded by mu: bytes of next and of what is being written
	closed bool      // guarded by mu
}

// A batch is lines that go out in one write.
type batch struct {
	text  []byte
	lines []queued
}

type queued struct {
	end   int // in text
	level log.Level
}

// NewQueue returns a Queue that writes to w, which stays the caller's to close.
// Close ends its goroutine.
func NewQueue(w io.Writer, o QueueOptions) *Queue {
	if o.Bytes <= 0 {
		o.Bytes = DefaultQueueBytes
	}
	q := &Queue{out: NewDirect(w), o: o, done: make(chan struct{})}
	q.some.L, q.room.L = &q.mu, &q.mu
	go q.run()
	return q
}

// Unwrap returns the writer, for who asks what kind it is.
func (q *Queue) Unwrap() io.Writer { return q.out.Unwrap() }

// WriteEvent queues a line, which ends in a newline, and returns len(line). It
// waits while the queue is full; a line that is longer than the queue goes
// through alone. After Close it drops the line and returns os.ErrClosed.
func (q *Queue) WriteEvent(level log.Level, line []byte) (int, error) {
	if len(line) == 0 {
		return 0, nil
	}
	q.out.counts.emit(len(line))
	if reason := q.put(level, line); reason != "" {
		err := ErrFull
		if reason == Closed {
			err = os.ErrClosed
		}
		q.out.counts.drop(len(line), 0, reason, level, err)
		return 0, err
	}
	return len(line), nil
}

// ErrFull is returned for a line that a [Queue] had no room for.
var ErrFull = errors.New("the log's queue is full")

// Write is WriteEvent at [log.LevelInfo], for what writes lines without a
// level.
func (q *Queue) Write(line []byte) (int, error) {
	return q.WriteEvent(log.LevelInfo, line)
}

// put copies a line into the next batch, or tells why not.
func (q *Queue) put(level log.Level, line []byte) Reason {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.held > 0 && q.held+len(line) > q.o.WhenFull.share(level, q.o.Bytes) {
		if q.o.WhenFull != Block {
			return Full
		}
		q.room.Wait()
	}
	if q.closed {
		return Closed
	}
	q.next.text = append(q.next.text, line...)
	q.next.lines = append(q.next.lines, queued{end: len(q.next.text), level: level})
	q.held += len(line)
	if len(q.next.lines) == 1 {
		q.some.Signal()
	}
	return ""
}

// Stats returns the counts so far. It never waits for a write.
func (q *Queue) Stats() Stats { return q.out.counts.snapshot() }

// Flush returns when every line that was queued before it is written or
// dropped, or with an error when ctx is done first.
func (q *Queue) Flush(ctx context.Context) error {
	for q.Stats().Waiting > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// Close refuses what comes after it, and returns when all that came before is
// written or dropped. When ctx is done first it gives up: a wait for room in a
// pipe ends, what is left is dropped as "closed", and the error says how much
// was left; only a write that never returns is then left behind. Close may be
// called more than once.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	q.closed = true
	q.some.Signal()
	q.room.Broadcast()
	q.mu.Unlock()
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
	}
	left := q.Stats().Waiting
	q.out.giveUp()
	return fmt.Errorf("%w with %d events to write", ctx.Err(), left)
}

// run writes batch after batch until the queue is closed and empty.
func (q *Queue) run() {
	defer close(q.done)
	var current batch
	for q.take(&current) {
		q.out.writeBatch(&current)
		q.mu.Lock()
		q.held -= len(current.text)
		q.room.Broadcast()
		q.mu.Unlock()
	}
}

// take waits for lines and exchanges the batch that was written for them.
func (q *Queue) take(b *batch) bool {
	b.empty()
	q.mu.Lock()
	if len(q.next.lines) == 0 && !q.closed {
		for len(q.next.lines) == 0 && !q.closed {
			q.some.Wait()
		}
		// Others that are ready to run may have lines, too.
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	defer q.mu.Unlock()
	*b, q.next = q.next, *b
	return len(b.lines) > 0
}

// empty makes a batch ready to be filled, and lets go of what a flood left.
func (b *batch) empty() {
	if cap(b.text) > maxKeptBatch {
		*b = batch{}
	}
	b.text, b.lines = b.text[:0], b.lines[:0]
}

const maxKeptBatch = 1 << 20

// writeBatch writes lines that were counted as emitted, in one write when all
// goes well. A line that fails is dropped, and the next one has its own chance.
func (d *Direct) writeBatch(b *batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	begin := 0 // of the first line that is not accounted for
	lines := b.lines
	for len(lines) > 0 {
		if d.torn {
			line := b.text[begin:lines[0].end]
			n, reason, err := d.writeBehindTorn(line)
			d.counts.settle(lines[0].level, len(line), n, reason, err)
			begin, lines = lines[0].end, lines[1:]
			continue
		}
		n, reason, err := d.writeAll(b.text[begin:])
		written := begin + n
		whole := 0
		for whole < len(lines) && lines[whole].end <= written {
			whole++
		}
		if whole > 0 {
			end := lines[whole-1].end
			d.counts.wroteMany(whole, end-begin)
			begin, lines = end, lines[whole:]
		}
		if reason != "" && len(lines) > 0 {
			line := b.text[begin:lines[0].end]
			n, reason := wholeBut(line, written-begin, reason)
			d.counts.settle(lines[0].level, len(line), n, reason, err)
			begin, lines = lines[0].end, lines[1:]
		}
	}
}
