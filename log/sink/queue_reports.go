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

// gapPause is the minimum time between two reports of dropped events, for a log
// that is slower than its callers all the time.
const gapPause = time.Second

// reports holds the state of the events that a queue writes itself. It belongs
// to the queue's goroutine. These events bypass the backlog, which may be full.
type reports struct {
	line      lineKeeper
	heartbeat time.Duration // a copy of the queue's option
	opened    time.Time

	reported []Loss    // the losses that have been reported
	lastGap  time.Time // when dropped events were last reported
	totalsAt time.Time // when totals are due; zero: no event since the last totals
}

func newReports(w io.Writer, heartbeat time.Duration) *reports {
	return &reports{line: lineKeeper{w: w}, heartbeat: heartbeat, opened: time.Now()}
}

// UseOptions sets the options of the events that the queue writes itself,
// except Level, Sampling and OnError. Only the first call counts; see also
// [Queue.Change]. [log.New] calls it for the Logger that writes to the queue.
// Call it for lines from other sources, such as log/onslog; otherwise these
// events have no namespace.
func (q *Queue) UseOptions(o log.Options) {
	own := q.newOwn(o)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.own == nil {
		q.own = own
	}
}

func (q *Queue) newOwn(o log.Options) *log.Logger {
	o.Level, o.Sampling, o.OnError = log.LevelInfo, nil, nil
	return log.New(&q.reports.line, o)
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

// A lineKeeper keeps the line that a logger writes in a chunk.
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

// Unwrap lets a logger check whether the lines go to a terminal.
func (k *lineKeeper) Unwrap() io.Writer { return k.w }

// untilReport returns the time until the next report is due, or a negative
// duration for never. q.mu is held.
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

// armTotals schedules totals that count the lines just written.
func (r *reports) armTotals() {
	if r.heartbeat > 0 && r.totalsAt.IsZero() {
		r.totalsAt = time.Now().Add(r.heartbeat)
	}
}

// setHeartbeat sets the interval of totals from now on.
func (r *reports) setHeartbeat(d time.Duration) {
	if d == r.heartbeat {
		return
	}
	r.heartbeat = d
	if due := !r.totalsAt.IsZero(); due {
		r.totalsAt = time.Time{}
		r.armTotals()
	}
}

// report writes the reports that are due, or all of them at the end.
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

// reportGap reports the events that were dropped since the last report. If that
// fails, the next report includes them.
func (q *Queue) reportGap() {
	r := q.reports
	q.mu.Lock()
	since, dropped := q.gap, slices.Clone(q.tally.stats.Dropped)
	q.gap, q.gapSeen = time.Time{}, false
	q.mu.Unlock()

	r.lastGap = time.Now()
	q.ownEvents().Warn(eventDropped).
		Object("count", func(e log.Event) { addLosses(e, lossesSince(r.reported, dropped)) }).
		Time("since", since).
		Send()
	if q.writeReport() {
		r.reported = dropped
		r.armTotals()
		return
	}
	q.mu.Lock()
	q.gap = since
	q.mu.Unlock()
}

// lossesSince returns the increase of each count since before. Both lists are
// sorted.
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

// addLosses adds an object for each level. The losses are sorted by level.
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

// reportTotals reports the counts.
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

// writeReport writes the line that the logger wrote to the lineKeeper, and
// reports whether it was written.
func (q *Queue) writeReport() bool {
	c := &q.reports.line.chunk
	q.mu.Lock()
	q.tally.emit(len(c.text))
	q.current = c
	q.mu.Unlock()
	q.settleWhole(c, q.writeChunk(c))
	return q.works
}
