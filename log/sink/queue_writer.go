package sink

import (
	"runtime"
	"time"

	"github.com/weirhq/weir/log"
)

// A sleep is the condition that the writing goroutine waits for.
type sleep int

const (
	awake     sleep = iota
	untilLine       // any line
	untilFull       // many lines, or the end of Linger
)

// run writes chunks until the queue is closed and empty, or Close gives up.
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
			q.abandon() // drops lines only if Close gave up
			return
		}
	}
}

// take waits for lines and returns the first chunk, or nil if a report is due
// instead. It reports whether more lines may come.
func (q *Queue) take(timer *time.Timer) (c *chunk, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reports.setHeartbeat(q.o.Heartbeat)
	lingered := q.backlog.head == nil && q.wrote && q.o.Linger > 0 && !q.isUrgent()
	if lingered {
		// A busy log has more lines soon, and none of them has to wake this goroutine.
		q.sleepUntil(untilFull, timer, q.o.Linger)
	}
	if q.backlog.head == nil && !q.closed {
		lingered = false
		q.sleepUntil(untilLine, timer, q.untilDue())
		if q.backlog.head == nil {
			q.backlog.trim()
		} else {
			// The caller that woke this goroutine often writes a second line,
			// and other runnable goroutines may write some too.
			q.mu.Unlock()
			runtime.Gosched()
			q.mu.Lock()
		}
	}
	if q.o.Linger > 0 && !lingered && q.backlog.head != nil && q.backlog.head == q.backlog.tail && !q.isUrgent() {
		q.sleepUntil(untilFull, timer, q.o.Linger)
	}
	c = q.backlog.take()
	q.current, q.wrote = c, c != nil
	q.gapSeen = !q.gap.IsZero()
	return c, !q.closed || q.backlog.head != nil
}

// trimAfter is the idle time after which a queue frees memory. The next burst
// may come sooner.
const trimAfter = time.Second

// untilDue returns how long the goroutine may sleep if no line comes, or a
// negative duration for no limit. q.mu is held.
func (q *Queue) untilDue() time.Duration {
	d := q.untilReport()
	if q.backlog.isFat() && (d < 0 || d > trimAfter) {
		d = trimAfter
	}
	return d
}

// isUrgent reports whether Flush or Close waits for lines to be written. q.mu
// is held.
func (q *Queue) isUrgent() bool { return q.closed || len(q.flushes) > 0 }

// sleepUntil returns when it is woken, or after d unless d is negative. q.mu is
// held, but not during the sleep.
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

// rouse wakes the writing goroutine. If it is awake already, its next sleep
// ends immediately.
func (q *Queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// release counts the written lines of a chunk. If all its lines are counted, it
// frees the chunk's memory for waiting callers.
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

// account counts written lines, and reports whether all lines of the chunk are
// counted now. q.mu is held.
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

// written counts lines that were written completely in one piece. They count as
// waiting until account counts them.
type written struct{ lines, bytes int }

// writeChunk writes lines, in one write if it succeeds and the writer takes any
// length. It drops a line that fails, and continues with the next. It returns
// the last lines, which the caller must count. If Close gives up, it stops
// early.
func (q *Queue) writeChunk(c *chunk) (whole written) {
	q.out.begin()
	defer q.out.end()
	begin := 0   // offset of the first line without an outcome
	reached := 0 // offset of the first byte to write; a line with inner newlines may take several writes
	lines := c.lines
	for len(lines) > 0 && !q.out.isClosed() {
		if q.out.torn {
			line := c.text[begin:lines[0].end]
			n, reason, err := q.out.writeLine(line)
			q.settle(c, lines[0].level, len(line), n, reason, err)
			begin, lines = lines[0].end, lines[1:]
			reached = begin
			continue
		}
		n, reason, err := q.out.writeAll(q.out.piece(c.text[reached:]))
		reached += n
		if reason == Rejected {
			q.settleWhole(c, whole)
			whole = written{}
			begin, lines = q.settleRejected(c, begin, lines, reached, rejectedBy(err))
			reached = begin
			continue
		}
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
			reached = begin
		}
	}
	return whole
}

// settleWhole counts written lines of a chunk that has other lines too.
func (q *Queue) settleWhole(c *chunk, whole written) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.account(c, whole)
}

// settleRejected counts the lines before the offset reached, of which the writer has
// rejected the last ones. It returns the offset of the next line, and the lines from there.
func (q *Queue) settleRejected(c *chunk, begin int, lines []queuedLine, reached int, err *RejectedError) (int, []queuedLine) {
	count := 0
	for count < len(lines) && lines[count].end <= reached {
		count++
	}
	for i, l := range lines[:count] {
		n, reason := l.end-begin, Reason("")
		if i >= count-err.Lines {
			n, reason = 0, Rejected
		}
		q.settle(c, l.level, l.end-begin, n, reason, err)
		begin = l.end
	}
	q.works = q.works || err.Lines < count
	return begin, lines[count:]
}

// settle counts the outcome of one line.
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

// noteError stores an error after which the writer retries.
func (q *Queue) noteError(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.abandoned {
		q.tally.stats.LastError = err
	}
}
