package sink

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// DefaultQueueBytes is the size of a [Queue] if QueueOptions.Bytes is zero.
const DefaultQueueBytes = 8 << 20

// hurryShare is the part of a queue, its reciprocal, at which lines end Linger.
const hurryShare = 8

// ErrFull is the error for a line that did not fit into a [Queue].
var ErrFull = errors.New("the log's queue is full")

// QueueOptions are the settings of a [Queue]. The zero value is ready for use.
type QueueOptions struct {
	// Bytes limits the memory of waiting lines; zero means DefaultQueueBytes.
	// The lines that are written next take up to Batch more.
	Bytes int

	// Batch is the maximum size, in bytes, of lines that are written together,
	// apart from longer lines. It is at most an eighth of Bytes. Zero means
	// 56 KiB, which is best for files and pipes.
	Batch int

	// WhenFull is the policy for lines that do not fit.
	WhenFull Policy

	// Wait limits the time that a caller waits for space under Block; then its
	// line is dropped. Zero means no limit.
	Wait time.Duration

	// Linger is the time that the writer waits for more lines before it writes
	// all that have come, unless they take an eighth of the queue before. Zero
	// means none. A busy log gets large writes without it, but wakes the writer
	// for each of them.
	Linger time.Duration

	// Heartbeat is the interval at which totals are logged while there are
	// events, as "log totals". Zero means never.
	Heartbeat time.Duration

	// Quiet is for lines that are no events: the queue does not write the event "log events dropped".
	Quiet bool
}

// A Queue copies lines into memory and writes them in a goroutine of its own.
// Lines that arrive during one write go out together in the next, so a busier
// log needs fewer writes per line. Without Linger no line is held back and no
// timer runs. Make one with [NewQueue]. Any number of goroutines may use it;
// their lines are written in the order in which they arrive.
//
// Lines that are not written yet take at most the queue's size in memory. When
// it is full, the [Policy] applies. Lines in memory are lost when the process
// is killed; see [Queue.Flush].
//
// A Queue handles writes as a [Direct] does: it continues short writes, and
// starts a new line after a line that was torn. In addition it waits for errors
// that may pass: a full disk (ENOSPC, EDQUOT, EFBIG), a failing device (EIO),
// and exhausted memory or file descriptors (ENOBUFS, ENOMEM, EMFILE, ENFILE).
// It retries every 0.5 s or sooner, without a limit, and continues where the
// write stopped; meanwhile the queue fills. A writer can ask for a retry with a
// [RetryError], and report lines that are lost for good with a [RejectedError].
// After any other error (EPIPE, EBADF, os.ErrClosed) the queue drops the line.
//
// # Events of the queue
//
// When lines were dropped and writing works again, the queue writes an event of
// [log.LevelWarn] after the next lines, at most one per second:
//
//	"log events dropped"  data.count.info.full: 4711 and so on, by level and
//	                      [Reason]; data.since: when the first was dropped
//
// With a Heartbeat it writes events of [log.LevelInfo], the last one when it is
// closed. With them, a reader can prove from the log that it is complete:
//
//	"log totals"  data.since: when the queue was opened; data.emitted,
//	              data.written, data.dropped and data.waiting since then,
//	              before this event, so that data.written lines precede it
//
// Both are counted in [Stats] like other events. They have the namespace and
// the format of the first Logger that [log.New] made for the queue, whatever
// its level. For lines from other sources, see [Queue.UseOptions].
type Queue struct {
	o    QueueOptions
	done chan struct{} // closed when the goroutine has ended
	wake chan struct{} // wakes the goroutine when it sleeps

	// Used only by the goroutine, except for the methods of lineWriter that any
	// goroutine may call.
	out     *lineWriter
	reports *reports
	works   bool // whether the writer took a line in its last write
	wrote   bool // whether the last take returned a chunk
	gapSeen bool // whether gap was set when q.mu was last held

	mu      sync.Mutex // guards the fields below; never held during a write
	room    sync.Cond  // callers wait on it for space
	backlog backlog
	tally   tally
	gap     time.Time // when the first event was dropped that is not reported yet; zero: none
	flushes []flush
	sleep   sleep
	closed  bool
	next    log.EventWriter // set by Redirect
	callers int             // number of callers that wait for space

	// The chunk that is being written, or nil between two writes. Its first
	// settled lines are counted.
	current   *chunk
	abandoned bool   // all lines are counted, though the goroutine's last write may still run
	left      uint64 // events that were dropped because Close gave up

	own *log.Logger // logs the events that the queue writes itself; nil until UseOptions
}

// NewQueue returns a Queue that writes to w. Close ends its goroutine; the
// caller closes w.
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
		backlog: newBacklog(o),
	}
	q.room.L = &q.mu
	q.out.waits = q.noteError
	go q.run()
	return q
}

// Unwrap returns the writer, so that callers can check its type.
func (q *Queue) Unwrap() io.Writer { return q.out.writer }

// WriteEvent queues a line, which ends in a newline, and returns len(line), or
// 0 and [ErrFull] if the line was dropped. A line that is longer than the queue
// is accepted when the queue is empty. After Close, WriteEvent drops the line
// and returns os.ErrClosed.
//
// After an event of [log.LevelFatal] the process is expected to end, so
// WriteEvent then flushes for up to a second before it returns.
func (q *Queue) WriteEvent(level log.Level, line []byte) (int, error) {
	if len(line) == 0 {
		return 0, nil
	}
	switch q.put(level, line) {
	case Full:
		return 0, ErrFull
	case Closed:
		return 0, os.ErrClosed
	case redirected:
		return q.next.WriteEvent(level, line)
	}
	if level >= log.LevelFatal {
		q.flushFatal()
	}
	return len(line), nil
}

// Write is WriteEvent at [log.LevelInfo], for lines without a level.
func (q *Queue) Write(line []byte) (int, error) {
	return q.WriteEvent(log.LevelInfo, line)
}

// Stats returns the counts so far. It never waits for a write.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tally.snapshot(q.out.longestWrite())
}

// put copies a line into the backlog and counts it, or returns the reason why
// it was dropped.
func (q *Queue) put(level log.Level, line []byte) (dropped Reason) {
	q.mu.Lock()
	if !q.hasRoom(level, len(line)) {
		if dropped = q.await(level, len(line)); dropped != "" {
			q.mu.Unlock()
			return dropped
		}
	} else {
		q.tally.emit(len(line))
	}
	q.backlog.add(level, line)
	wakes := q.sleep == untilLine || q.sleep == untilFull && q.backlog.used >= q.o.Bytes/hurryShare
	if wakes {
		q.sleep = awake
	}
	q.mu.Unlock()
	if wakes {
		q.rouse()
	}
	return ""
}

// redirected is the result of put for a line that goes to the sink named by
// Redirect. It is no reason of a loss.
const redirected Reason = "redirected"

// hasRoom reports whether a line of n bytes may be added. A line may always be
// added to an empty queue that is open. q.mu is held.
func (q *Queue) hasRoom(level log.Level, n int) bool {
	b := &q.backlog
	if q.closed || q.next != nil {
		return false
	}
	return b.used == 0 || b.used+b.cost(n) <= q.o.WhenFull.share(level, q.o.Bytes)
}

// await counts a line that does not fit. It waits for space if the policy says
// so, and returns the reason if the line is dropped. q.mu is held, but not
// while it waits.
func (q *Queue) await(level log.Level, n int) (dropped Reason) {
	switch {
	case q.next != nil:
		return redirected
	case q.closed:
		dropped = Closed
	case q.o.WhenFull != Block:
		dropped = Full
	default:
		q.tally.emit(n)
		q.callers++
		switch dropped = q.waitForRoom(level, n); dropped {
		case "":
		case redirected:
			q.tally.withdraw(n)
		default:
			q.tally.settle(level, n, 0, dropped, nil)
			q.openGap()
		}
		if q.callers--; q.closed {
			q.room.Broadcast() // Close waits for the last caller
		}
		return dropped
	}
	q.tally.refuse(level, dropped)
	q.openGap()
	return dropped
}

// waitForRoom waits for space, at most for q.o.Wait. q.mu is held, but not
// while it waits.
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
		case q.next != nil:
			return redirected
		case q.closed:
			return Closed
		case late:
			return Full
		}
		q.room.Wait()
	}
	return ""
}

// openGap notes that an event was dropped, which is reported later. q.mu is held.
func (q *Queue) openGap() {
	if q.gap.IsZero() && !q.o.Quiet {
		q.gap = time.Now()
	}
}
