package sink

import (
	"runtime"
	"time"

	"github.com/weirhq/weir/log"
)

// A sleep is what the goroutine that writes waits for.
type sleep int

const (
	awake     sleep = iota
	untilLine       // any line at all
	untilFull       // a chunk that is full, or the end of Linger
)

// run writes chunk after chunk until the queue is closed and empty, or Close
// gives up.
func (q *Queue) run() {
	defer close(q.done)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		c, open := q.take(timer)
		if c != nil {
			q.release(c, q.writeChunk(c))
			q.reports.armTotals()
		}
		q.report(!open)
		if !open || q.out.isClosed() {
			q.abandon() // nothing is left, unless Close gave up
			return
		}
	}
}

// take waits for lines, and returns the first chunk of them; nil when there is
// something to report instead. It reports whether more may come.
func (q *Queue) take(timer *time.Timer) (c *chunk, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.backlog.head == nil && !q.closed {
		q.sleepUntil(untilLine, timer, q.untilDue())
		if q.backlog.head == nil {
			q.backlog.trim()
		} else {
			// Whoever woke this has often a second line coming, and others
			// that are ready to run may have some, too.
			q.mu.Unlock()
			runtime.Gosched()
			q.mu.Lock()
		}
	}
	if q.o.Linger > 0 && q.backlog.head != nil && q.backlog.head == q.backlog.tail && !q.isUrgent() {
		q.sleepUntil(untilFull, timer, q.o.Linger)
	}
	c = q.backlog.take()
	q.current = c
	q.gapSeen = !q.gap.IsZero()
	return c, !q.closed || q.backlog.head != nil
}

// trimAfter is how long a queue must have nothing to do before it lets go of
// memory: the next flood may be near.
const trimAfter = time.Second

// untilDue returns how long the goroutine may sleep if no line comes, negative
// for ever. q.mu is held.
func (q *Queue) untilDue() time.Duration {
	d := q.untilReport()
	if q.backlog.isFat() && (d < 0 || d > trimAfter) {
		d = trimAfter
	}
	return d
}

// isUrgent reports whether somebody waits for lines to be written. q.mu is
// held.
func (q *Queue) isUrgent() bool { return q.closed || len(q.flushes) > 0 }

// sleepUntil returns when it is woken or after that time, unless it is
// negative. q.mu is held, but not while it sleeps.
func (q *Queue) sleepUntil(what sleep, timer *time.Timer, d time.Duration) {
	q.sleep = what
	q.mu.Unlock()
	if d >= 0 {
		timer.Reset(d)
		select {
		case <-q.wake:
			timer.Stop()
		case <-timer.C:
		}
	} else {
		<-q.wake
	}
	q.mu.Lock()
	q.sleep = awake
}

// rouse wakes the goroutine that writes. It may have woken by itself: then it
// will find that it was woken for nothing.
func (q *Queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// release counts the lines of a chunk that are written, and gives the memory of
// a chunk without any others to callers that wait.
func (q *Queue) release(c *chunk, whole written) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.account(c, whole) {
		return
	}
	q.gapSeen = !q.gap.IsZero()
	q.backlog.release(c)
	q.room.Broadcast()
	q.endFlushes()
}

// account counts lines that were written, and reports whether all lines of the
// chunk are accounted for now. q.mu is held.
func (q *Queue) account(c *chunk, whole written) bool {
	if q.abandoned {
		return false
	}
	q.tally.wroteMany(whole.lines, whole.bytes)
	c.settled += whole.lines
	if c.settled < len(c.lines) {
		return false
	}
	q.current = nil
	return true
}

// written counts lines that were written as they are, to the last byte. They
// count as waiting until account gets them.
type written struct{ lines, bytes int }

// writeChunk writes lines, in one write when all goes well and the writer takes
// any length. A line that fails is dropped, and the next one has its own chance.
// It returns the lines at the end that are still to be counted. When Close gives
// up it leaves lines out.
func (q *Queue) writeChunk(c *chunk) (whole written) {
	q.out.begin()
	defer q.out.end()
	begin := 0 // of the first line that has no outcome yet
	lines := c.lines
	for len(lines) > 0 && !q.out.isClosed() {
		if q.out.torn {
			line := c.text[begin:lines[0].end]
			n, reason, err := q.out.writeBehindTorn(line)
			q.settle(c, lines[0].level, len(line), n, reason, err)
			begin, lines = lines[0].end, lines[1:]
			continue
		}
		n, reason, err := q.out.writeAll(q.out.piece(c.text[begin:]))
		reached := begin + n
		for len(lines) > 0 && lines[0].end <= reached {
			whole.lines++
			whole.bytes += lines[0].end - begin
			begin, lines = lines[0].end, lines[1:]
			q.works = true
		}
		if len(lines) == 0 {
			return whole
		}
		q.settleWhole(c, whole)
		whole = written{}
		if reason != "" {
			line := c.text[begin:lines[0].end]
			n, reason := wholeBut(line, reached-begin, reason)
			q.settle(c, lines[0].level, len(line), n, reason, err)
			begin, lines = lines[0].end, lines[1:]
		}
	}
	return whole
}

// settleWhole counts lines of a chunk that has others.
func (q *Queue) settleWhole(c *chunk, whole written) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.account(c, whole)
}

// settle counts the outcome of a line.
func (q *Queue) settle(c *chunk, level log.Level, bytes, taken int, dropped Reason, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.abandoned {
		return
	}
	c.settled++
	q.tally.settle(level, bytes, taken, dropped, err)
	if dropped == Closed {
		q.left++
	}
	if q.works = dropped == ""; !q.works {
		q.openGap()
	}
}

// noteError keeps an error that is waited for.
func (q *Queue) noteError(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.abandoned {
		q.tally.stats.LastError = err
	}
}
