package sink

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// DefaultQueueBytes is the size of a [Queue] that is asked for no other.
const DefaultQueueBytes = 8 << 20

// ErrFull is returned for a line that a [Queue] had no room for.
var ErrFull = errors.New("the log's queue is full")

// QueueOptions are the settings of a [Queue]. The zero value is ready for use.
type QueueOptions struct {
	// Bytes is how much memory lines may wait in; zero is DefaultQueueBytes.
	// What is about to be written next takes up to 64 KiB beyond that.
	Bytes int

	// WhenFull says what becomes of lines that there is no room for.
	WhenFull Policy

	// Wait is how long a caller waits for room under Block; then its line is
	// dropped. Zero is as long as it takes.
	Wait time.Duration

	// Linger is how long the writer, when it is free, waits for more lines to
	// write with those that there are. Zero is not at all: busy logs get large
	// writes all the same.
	Linger time.Duration

	// Heartbeat is how soon after an event the log tells how many there were,
	// in an event "log totals". Zero is never.
	Heartbeat time.Duration
}

// A Queue takes lines at the cost of a copy and has a goroutine of its own
// write them. Whatever arrives while one write runs goes out in the next, so
// the busier the log, the fewer the writes; nothing is held back for that, and
// no timer runs unless Linger asks for it. Make one with [NewQueue]. Any number
// of goroutines may use it; their lines keep the order in which they came.
//
// Lines that are not written yet take at most the queue's size in memory; what
// happens then is the [Policy]'s. What a caller was thanked for and is not
// written yet is lost when the process is killed, see [Queue.Flush].
//
// A Queue writes as a [Direct] does: it continues short writes and never lets
// the torn piece of a line run into the next. Beyond that it waits for what may
// pass, not only for room in a pipe: for a disk that is full (ENOSPC, EDQUOT,
// EFBIG), a device that fails (EIO), memory and files that are used up (ENOBUFS,
// ENOMEM, EMFILE, ENFILE). It tries again after 0.5 s at the latest, for as long
// as that takes, and goes on where it stopped; meanwhile the queue fills. After
// any other error (EPIPE, EBADF, os.ErrClosed) the line is dropped.
//
// # What it writes itself
//
// When lines were dropped and writing works again, the next line but a few is
// an event of [log.LevelWarn], at most one a second:
//
//	"log events dropped"  data.count.info.full: 4711 and so on, by level and
//	                      [Reason]; data.since: when the first was dropped
//
// With a Heartbeat there are events of [log.LevelInfo], the last one when the
// queue is closed. They prove a log complete without anything but the log:
//
//	"log totals"  data.since: when the queue was opened; data.emitted,
//	              data.written, data.dropped and data.waiting since then,
//	              before this event, so that data.written lines precede it
//
// Both are counted in [Stats] as every event is. They have the namespace and the
// format of the first Logger that [log.New] made for the queue, whatever its
// level; for lines that come from elsewhere, see [Queue.UseOptions].
type Queue struct {
	o    QueueOptions
	done chan struct{} // closed when the goroutine has ended
	wake chan struct{} // to the goroutine when it sleeps

	// The goroutine's own, but for what lineWriter says any may call.
	out     *lineWriter
	reports *reports
	works   bool // the last line was written
	gapSeen bool // there was a gap when q.mu was held last

	mu      sync.Mutex // guards what follows; never held during a write
	room    sync.Cond  // of callers, who wait for room
	backlog backlog
	tally   tally
	gap     time.Time // when the first event was dropped that no event tells of; zero: none
	flushes []flush
	sleep   sleep
	closed  bool
	callers int // that wait for room

	// The chunk that is being written, nil between two writes. Its lines up to
	// settled are accounted for.
	current   *chunk
	abandoned bool   // all lines are accounted for, and the goroutine's last write may go on
	left      uint64 // events that were dropped because Close gave up

	own *log.Logger // of the events that the queue writes itself; nil until UseOptions
}

// NewQueue returns a Queue that writes to w, which stays the caller's to close.
// Close ends its goroutine.
func NewQueue(w io.Writer, o QueueOptions) *Queue {
	if o.Bytes <= 0 {
		o.Bytes = DefaultQueueBytes
	}
	q := &Queue{
		o:       o,
		done:    make(chan struct{}),
		wake:    make(chan struct{}, 1),
		out:     newLineWriter(w, true),
		reports: newReports(w, o.Heartbeat),
		works:   true,
		backlog: newBacklog(o.Bytes),
	}
	q.room.L = &q.mu
	q.out.waits = q.noteError
	go q.run()
	return q
}

// Unwrap returns the writer, for who asks what kind it is.
func (q *Queue) Unwrap() io.Writer { return q.out.writer }

// WriteEvent queues a line, which ends in a newline, and returns len(line), or
// 0 and [ErrFull] for one that was dropped. A line that is longer than the
// queue goes through alone. After Close it drops the line and returns
// os.ErrClosed.
//
// After an event of [log.LevelFatal] the process is expected to end: WriteEvent
// then flushes before it returns, for a second at most.
func (q *Queue) WriteEvent(level log.Level, line []byte) (int, error) {
	if len(line) == 0 {
		return 0, nil
	}
	switch q.put(level, line) {
	case Full:
		return 0, ErrFull
	case Closed:
		return 0, os.ErrClosed
	}
	if level >= log.LevelFatal {
		q.flushFatal()
	}
	return len(line), nil
}

// Write is WriteEvent at [log.LevelInfo], for what writes lines without a
// level.
func (q *Queue) Write(line []byte) (int, error) {
	return q.WriteEvent(log.LevelInfo, line)
}

// Stats returns the counts so far. It never waits for a write.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tally.snapshot(q.out.longestWrite())
}

// put copies a line into the backlog and counts it, or tells why not.
func (q *Queue) put(level log.Level, line []byte) (dropped Reason) {
	q.mu.Lock()
	if q.closed || !q.hasRoom(level, len(line)) {
		if dropped = q.await(level, len(line)); dropped != "" {
			q.mu.Unlock()
			return dropped
		}
	} else {
		q.tally.emit(len(line))
	}
	filled := q.backlog.add(level, line)
	wakes := q.sleep == untilLine || q.sleep == untilFull && filled
	if wakes {
		q.sleep = awake
	}
	q.mu.Unlock()
	if wakes {
		q.rouse()
	}
	return ""
}

// hasRoom reports whether a line of n bytes may be added. Without any other
// it always may. q.mu is held.
func (q *Queue) hasRoom(level log.Level, n int) bool {
	b := &q.backlog
	return b.used == 0 || b.used+b.cost(n) <= q.o.WhenFull.share(level, q.o.Bytes)
}

// await counts a line for which there is no room at once. It returns when there
// is, or why the line is dropped. q.mu is held, but not while it waits.
func (q *Queue) await(level log.Level, n int) (dropped Reason) {
	switch {
	case q.closed:
		dropped = Closed
	case q.o.WhenFull != Block:
		dropped = Full
	default:
		q.tally.emit(n)
		q.callers++
		if dropped = q.waitForRoom(level, n); dropped != "" {
			q.tally.settle(level, n, 0, dropped, nil)
			q.openGap()
		}
		if q.callers--; q.closed {
			q.room.Broadcast() // Close waits for the last of them
		}
		return dropped
	}
	q.tally.refuse(level, dropped)
	q.openGap()
	return dropped
}

// waitForRoom waits as long as q.o.Wait allows. q.mu is held, but not while it
// waits.
func (q *Queue) waitForRoom(level log.Level, n int) (dropped Reason) {
	late := false // guarded by q.mu
	if q.o.Wait > 0 {
		timer := time.AfterFunc(q.o.Wait, func() {
			q.mu.Lock()
			late = true
			q.mu.Unlock()
			q.room.Broadcast()
		})
		defer timer.Stop()
	}
	for !q.hasRoom(level, n) {
		switch {
		case q.closed:
			return Closed
		case late:
			return Full
		}
		q.room.Wait()
	}
	if q.closed {
		return Closed
	}
	return ""
}

// openGap notes that something was dropped. q.mu is held.
func (q *Queue) openGap() {
	if q.gap.IsZero() {
		q.gap = time.Now()
	}
}
