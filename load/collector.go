package load

import (
	"slices"
	"time"

	"github.com/weirhq/weir/load/internal/latencies"
)

// A collector merges the threads' headlines ten times per second. It makes the series
// and calls the plan's Progress. Without Progress it merges once per second, since
// each merge has a cost: 1.5% of a CPU for two threads and ten per second.
type collector struct {
	run *run

	all    latencies.Times   // of the whole run
	second latencies.Times   // of the current second
	spare  []latencies.Times // empty, to swap with the threads' headlines

	sum   measures   // of the run until the last snapshot
	fresh []measures // empty, to swap with those of the threads; nil without Snapshot

	last   tally         // at the end of the last second
	since  time.Duration // when the current second began
	series []Second
	told   int // seconds that a snapshot had
	now    tally

	// The last second of the series.
	before      latencies.Times
	beforeLast  tally
	beforeSince time.Duration
}

const watchEvery = 100 * time.Millisecond

// every returns how often the headlines are merged.
func (c *collector) every() time.Duration {
	if c.run.plan.Progress == nil {
		return time.Second
	}
	return watchEvery
}

func newCollector(r *run) *collector {
	c := &collector{run: r, all: latencies.NewTimes(), second: latencies.NewTimes(), before: latencies.NewTimes(),
		sum: r.recorders[0].empty()}
	for _, rec := range r.recorders {
		c.spare = append(c.spare, latencies.NewTimes())
		if r.plan.Snapshot != nil {
			c.fresh = append(c.fresh, rec.empty())
		}
	}
	return c
}

// collect merges until over is closed.
func (c *collector) collect(over <-chan struct{}) {
	every := time.NewTicker(c.every())
	defer every.Stop()
	atEnd := time.NewTimer(c.run.end() - c.run.now())
	defer atEnd.Stop()
	next := time.Second
	for {
		select {
		case <-over:
			c.take(false)
			c.endSeries(c.run.window(&c.now, c.lastEvent()))
			c.report(true)
			return
		case <-atEnd.C:
		case <-every.C:
		}
		now, end := c.run.now(), c.run.end()
		whole := now >= next
		c.take(whole && c.fresh != nil)
		switch {
		case now >= end:
			c.endSeries(end)
		case whole:
			c.endSecond(now)
		}
		if whole {
			next += time.Second * (1 + (now-next)/time.Second)
			c.snapshot()
		}
		c.report(false)
	}
}

// take swaps the threads' headlines, and their measures if all is set, and adds up their
// tallies.
func (c *collector) take(all bool) {
	c.now = tally{}
	for i, rec := range c.run.recorders {
		var m *measures
		if all {
			m = &c.fresh[i]
		}
		t, h := rec.swap(c.spare[i], m)
		if all {
			c.sum.merge(m)
			m.reset()
		}
		c.now.add(&t)
		c.second.Merge(&h)
		c.all.Merge(&h)
		h.Reset()
		c.spare[i] = h
	}
}

// endSecond adds the current second to the series.
func (c *collector) endSecond(now time.Duration) {
	length := now - c.since
	if length <= 0 {
		return
	}
	second := c.counts()
	second.Start, second.Seconds, second.Connections = c.since.Seconds(), length.Seconds(), int(c.now.connections)
	ended := c.second.Order()
	second.setQuantiles(ended)
	if c.run.plan.shared != nil {
		second.Latency = newLatency(ended)
	}
	c.series = append(c.series, second)
	c.beforeLast, c.beforeSince = c.last, c.since
	c.last, c.since = c.now, now
	c.before, c.second = c.second, c.before
	c.second.Reset()
}

// counts returns the counts since the last second.
func (c *collector) counts() Second {
	n, m := &c.now, &c.last
	return Second{Asked: n.asked - m.asked, Sent: n.sentInTime - m.sentInTime, Requests: n.inTime - m.inTime,
		Errors: n.errorsInTime - m.errorsInTime, Bytes: n.readInTime - m.readInTime}
}

// endSeries ends the series at end, when the run stopped sending. Later answers and failures are
// not in it. A run of a number of requests ends with the last answer: if the series is longer
// by then, because a request had none, it is cut.
func (c *collector) endSeries(end time.Duration) {
	n := len(c.series)
	if n == 0 || end-c.since >= shortest {
		c.endSecond(end)
		return
	}
	if end > c.since {
		c.reopenSecond()
		c.endSecond(end)
		return
	}
	rest := c.counts() // counted since, with an earlier time
	c.last = c.now
	for ; n > 1 && c.series[n-1].Start >= end.Seconds(); n-- {
		rest.add(&c.series[n-1])
	}
	c.series = c.series[:n]
	last := &c.series[n-1]
	last.add(&rest)
	last.Seconds = min(last.Seconds, end.Seconds()-last.Start)
}

// add adds the counts of another second.
func (s *Second) add(o *Second) {
	s.Asked += o.Asked
	s.Sent += o.Sent
	s.Requests += o.Requests
	s.Errors += o.Errors
	s.Bytes += o.Bytes
}

// snapshot calls the plan's Snapshot. Requests that have not ended are left out, so that the
// counts and the latencies are of the same requests.
func (c *collector) snapshot() {
	if c.fresh == nil {
		return
	}
	n := c.now
	underWay := n.sent - n.answered - n.failed - n.unanswered
	n.sent -= underWay
	n.sentInTime -= underWay
	n.asked = n.sent + n.unsent()
	res := c.document(&n, c.since)
	if len(res.Targets) > 1 {
		for i := range res.Targets {
			t := &res.Targets[i]
			t.Sent = t.Requests + t.Failed + t.Unanswered
		}
	}
	res.Series = slices.Clone(c.series[c.told:])
	c.told = len(c.series)
	c.run.plan.Snapshot(res)
}

// setQuantiles sets the quantiles of the requests that ended in the second.
func (s *Second) setQuantiles(ended *latencies.Order) {
	s.P50, _ = quantileOf(ended, 50)
	s.P90, _ = quantileOf(ended, 90)
	s.P99, _ = quantileOf(ended, 99)
	s.Max, _ = quantileOf(ended, 100)
}

// shortest is the minimum length of the last second, since rates of shorter ones are
// random.
const shortest = 500 * time.Millisecond

// reopenSecond removes the last second from the series and continues it.
func (c *collector) reopenSecond() {
	c.series = c.series[:len(c.series)-1]
	c.second.Merge(&c.before)
	c.last, c.since = c.beforeLast, c.beforeSince
}

// report calls the plan's Progress.
func (c *collector) report(done bool) {
	if c.run.plan.Progress == nil {
		return
	}
	p := &c.run.plan
	now := c.run.now()
	ended := c.all.Order()
	progress := Progress{
		Elapsed: now, Duration: p.Duration, Of: p.Requests,
		Asked: c.now.asked, Sent: c.now.sent, Requests: c.now.answered, Errors: c.now.failures.Sum(),
		Status:      c.now.statuses(),
		FromDue:     p.Pace.Open(),
		Connections: int(c.now.connections),
		InFlight:    c.now.sent - c.now.answered - c.now.failed - c.now.unanswered,
		Latency:     summarized(ended),
		Waiting:     now >= c.run.end(), Done: done,
	}
	if n := len(c.series); n > 0 {
		progress.Last = c.series[n-1]
	}
	p.Progress(progress)
}

// statuses returns the number of answers by class.
func (t *tally) statuses() map[string]int64 {
	counts := make(map[string]int64)
	for class, n := range t.classes {
		if n > 0 {
			counts[className(class)] = n
		}
	}
	return counts
}

func className(class int) string { return string(rune('0'+class)) + "xx" }

// lastEvent returns when the last request was sent or answered. The threads have ended.
func (c *collector) lastEvent() time.Duration {
	last := time.Duration(0)
	for _, rec := range c.run.recorders {
		last = max(last, rec.lastSent, rec.lastDone)
	}
	return last
}
