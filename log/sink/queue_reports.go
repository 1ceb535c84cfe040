package sink

import (
	"io"
	"slices"
	"time"

	"github.com/weirhq/weir/log"
)

// The events that a queue writes itself.
const (
	eventDropped = "log events dropped"
	eventTotals  = "log totals"
)

// gapPause is the least time between two events that tell of dropped ones, for
// a log that is slower than its callers all the time.
const gapPause = time.Second

// reports are what a queue's goroutine knows of the events that it writes
// itself. They do not go through the backlog, which may be full.
type reports struct {
	line      lineKeeper
	heartbeat time.Duration
	opened    time.Time

	told     []Loss    // what was dropped when the last event told of it
	lastGap  time.Time // when that was
	totalsAt time.Time // when totals are due; zero: nothing happened since the last
}

func newReports(w io.Writer, heartbeat time.Duration) *reports {
	return &reports{line: lineKeeper{w: w}, heartbeat: heartbeat, opened: time.Now()}
}

// UseOptions sets the options of the events that the queue writes itself, apart
// from Level, Sampling and OnError. Only the first call counts. [log.New] calls
// it for the Logger that writes to the queue. Call it yourself when lines come
// from elsewhere, such as log/onslog: otherwise these events have no namespace.
func (q *Queue) UseOptions(o log.Options) {
	o.Level, o.Sampling, o.OnError = log.LevelInfo, nil, nil
	own := log.New(&q.reports.line, o)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.own == nil {
		q.own = own
	}
}

// ownEvents returns the logger of the events that the queue writes itself.
func (q *Queue) ownEvents() *log.Logger {
	q.mu.Lock()
	own := q.own
	q.mu.Unlock()
	if own == nil {
		return log.New(&q.reports.line, log.Options{})
	}
	return own
}

// A lineKeeper keeps the line that a logger writes, as a chunk.
type lineKeeper struct {
	w     io.Writer
	chunk chunk
}

func (k *lineKeeper) WriteEvent(level log.Level, line []byte) (int, error) {
	k.chunk.text = append(k.chunk.text[:0], line...)
	k.chunk.lines = append(k.chunk.lines[:0], queuedLine{end: len(line), level: level})
	k.chunk.settled = 0
	return len(line), nil
}

func (k *lineKeeper) Write(line []byte) (int, error) { return k.WriteEvent(log.LevelInfo, line) }

// Unwrap lets a logger ask whether the lines will be on a terminal.
func (k *lineKeeper) Unwrap() io.Writer { return k.w }

// untilReport returns how long it is until something is to be reported,
// negative for never. q.mu is held.
func (q *Queue) untilReport() time.Duration {
	r := q.reports
	if !q.works {
		return -1
	}
	var at time.Time
	if !q.gap.IsZero() {
		at = r.lastGap.Add(gapPause)
	}
	if !r.totalsAt.IsZero() && (at.IsZero() || r.totalsAt.Before(at)) {
		at = r.totalsAt
	}
	if at.IsZero() {
		return -1
	}
	return max(time.Until(at), 0)
}

// armTotals has the totals of what was just written told in time.
func (r *reports) armTotals() {
	if r.heartbeat > 0 && r.totalsAt.IsZero() {
		r.totalsAt = time.Now().Add(r.heartbeat)
	}
}

// report writes what is due, or at the end all that there is to say.
func (q *Queue) report(atEnd bool) {
	r := q.reports
	if q.gapSeen && q.works && !q.out.isClosed() && (atEnd || time.Since(r.lastGap) >= gapPause) {
		q.reportGap()
	}
	if r.totalsAt.IsZero() || !q.works || q.out.isClosed() {
		return
	}
	if atEnd || !time.Now().Before(r.totalsAt) {
		q.reportTotals()
	}
}

// reportGap tells what was dropped since the last time. If that fails, the next
// time is to tell of it.
func (q *Queue) reportGap() {
	r := q.reports
	q.mu.Lock()
	since, dropped := q.gap, slices.Clone(q.tally.stats.Dropped)
	q.gap, q.gapSeen = time.Time{}, false
	q.mu.Unlock()

	r.lastGap = time.Now()
	q.ownEvents().Warn(eventDropped).
		Object("count", func(e log.Event) { addLosses(e, lossesSince(r.told, dropped)) }).
		Time("since", since).
		Send()
	if q.writeReport() {
		r.told = dropped
		r.armTotals()
		return
	}
	q.mu.Lock()
	q.gap = since
	q.mu.Unlock()
}

// lossesSince returns by how much the counts of before, which are sorted as now
// is, have grown.
func lossesSince(before, now []Loss) []Loss {
	var grown []Loss
	for _, loss := range now {
		if len(before) > 0 && compareLosses(before[0], loss) == 0 {
			loss.Events -= before[0].Events
			before = before[1:]
		}
		if loss.Events > 0 {
			grown = append(grown, loss)
		}
	}
	return grown
}

// addLosses adds losses that are sorted by level, an object for each.
func addLosses(e log.Event, losses []Loss) {
	for len(losses) > 0 {
		n := 1
		for n < len(losses) && losses[n].Level == losses[0].Level {
			n++
		}
		e.Object(losses[0].Level.String(), func(e log.Event) {
			for _, loss := range losses[:n] {
				e.Uint64(string(loss.Reason), loss.Events)
			}
		})
		losses = losses[n:]
	}
}

// reportTotals tells what was counted up to here.
func (q *Queue) reportTotals() {
	r := q.reports
	s := q.Stats()
	q.ownEvents().Info(eventTotals).
		Time("since", r.opened).
		Uint64("emitted", s.Emitted).
		Uint64("written", s.Written).
		Uint64("dropped", s.Lost()).
		Uint64("waiting", s.Waiting).
		Send()
	if q.writeReport() {
		r.totalsAt = time.Time{}
	}
}

// writeReport writes the line that the logger has left, and reports whether
// that went well.
func (q *Queue) writeReport() bool {
	c := &q.reports.line.chunk
	q.mu.Lock()
	q.tally.emit(len(c.text))
	q.current = c
	q.mu.Unlock()
	q.settleWhole(c, q.writeChunk(c))
	return q.works
}
