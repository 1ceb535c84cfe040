package load

import (
	"slices"
	"time"

	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/record"
)

// A collector merges the threads' headlines ten times per second. It makes the series
// and calls the plan's Progress. Without Progress it merges once per second, since
// each merge has a cost: 1.5% of a CPU for two threads and ten per second.
type collector struct {
	run *run
	now record.Tally

	second latencies.Times // of the current second
	last   record.Tally    // at the end of the last second
	since  time.Duration   // when the current second began
	series []Second
	told   int // seconds that a snapshot had

	// The last second of the series.
	before      latencies.Times
	beforeLast  record.Tally
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
	return &collector{run: r, second: latencies.NewTimes(), before: latencies.NewTimes()}
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
			c.now = c.run.total.Take(&c.second, false)
			c.endSeries(c.run.window(&c.now, c.run.total.Last()))
			c.report(true)
			return
		case <-atEnd.C:
		case <-every.C:
		}
		now, end := c.run.now(), c.run.end()
		whole := now >= next
		c.now = c.run.total.Take(&c.second, whole && c.run.plan.Snapshot != nil)
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

// endSecond adds the current second to the series.
func (c *collector) endSecond(now time.Duration) {
	length := now - c.since
	if length <= 0 {
		return
	}
	second := c.counts()
	second.Start, second.Seconds, second.Connections = c.since.Seconds(), length.Seconds(), int(c.now.Connections)
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
	return Second{Asked: n.Asked - m.Asked, Sent: n.SentInTime - m.SentInTime, Requests: n.InTime - m.InTime,
		Errors: n.ErrorsInTime - m.ErrorsInTime, Bytes: n.ReadInTime - m.ReadInTime}
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
	if c.run.plan.Snapshot == nil {
		return
	}
	n := c.now
	underWay := n.Sent - n.Answered - n.Failed - n.Unanswered
	n.Sent -= underWay
	n.SentInTime -= underWay
	n.Asked = n.Sent + n.Unsent()
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
	ended := c.run.total.Headline.Order()
	progress := Progress{
		Elapsed: now, Duration: p.Duration, Of: p.Requests,
		Asked: c.now.Asked, Sent: c.now.Sent, Requests: c.now.Answered, Errors: c.now.Failures.Sum(),
		Status:      statuses(c.now.Classes),
		FromDue:     p.Pace.Open(),
		Connections: int(c.now.Connections),
		InFlight:    c.now.Sent - c.now.Answered - c.now.Failed - c.now.Unanswered,
		Latency:     summarized(ended),
		Waiting:     now >= c.run.end(), Done: done,
	}
	if n := len(c.series); n > 0 {
		progress.Last = c.series[n-1]
	}
	p.Progress(progress)
}
