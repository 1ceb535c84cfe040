package load

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/send"
)

// A collector merges the threads' headlines ten times per second. It makes the series
// and calls the plan's Progress. Without Progress it merges once per second, since
// each merge has a cost: 1.5% of a CPU for two threads and ten per second.
type collector struct {
	run *execution
	now record.Tally

	second latencies.Times // of the current second
	last   record.Tally    // at the end of the last second
	since  time.Duration   // when the current second began
	series []Second
	ended  []int64 // the requests of the last second by latency, for Progress
	told   int     // seconds that a snapshot had

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
	return cmp.Or(c.run.plan.ProgressEvery, watchEvery)
}

func newCollector(e *execution) *collector {
	return &collector{run: e, second: latencies.NewTimes(), before: latencies.NewTimes()}
}

// collect merges until over is closed.
func (c *collector) collect(over <-chan struct{}) {
	every := time.NewTicker(c.every())
	defer every.Stop()
	atEnd := time.NewTimer(c.run.End() - c.run.Now())
	defer atEnd.Stop()
	next := c.run.Now().Truncate(time.Second) + time.Second
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
		now, end := c.run.Now(), c.run.End()
		whole := now >= next
		c.now = c.run.total.Take(&c.second, whole && c.run.plan.Snapshot != nil)
		switch {
		case now >= end:
			c.endSeries(end)
		case whole && next > 0: // else of the warm-up
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
	if c.run.plan.Progress != nil {
		c.ended = buckets(ended)
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

// endSeries ends the series at end, when the run stopped sending. Later responses and failures are
// not in it. A run of a number of requests ends with the last response: if the series is longer
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
	res := c.run.document(&n, c.since)
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
	now := c.run.Now()
	ended := c.run.total.Headline.Order()
	failures, _ := c.now.Failures.Maps()
	progress := Progress{
		Elapsed: now, Duration: p.Duration, Of: p.Requests,
		Asked: c.now.Asked, Sent: c.now.Sent, Requests: c.now.Answered, Errors: c.now.Failures.Sum(),
		Unsent: c.now.Unsent(), Late: c.now.LateConnections + c.now.LateGenerator, Failures: failures,
		Status:      statuses(c.now.Classes),
		FromDue:     p.Pace.Open(),
		Connections: int(c.now.Connections),
		InFlight:    c.now.Sent - c.now.Answered - c.now.Failed - c.now.Unanswered,
		Latency:     summarized(ended),
		Waiting:     now >= c.run.End(), Done: done,
	}
	if n := len(c.series); n > 0 {
		progress.Last, progress.Buckets = c.series[n-1], c.ended
	}
	p.Progress(progress)
}

// result returns the Result. The threads have ended.
func (c *collector) result(usage []send.Usage) *Result {
	r := c.run
	bins, points := r.total.Finish()
	window := r.window(&c.now, r.total.Last())
	res := r.document(&c.now, window)
	res.Series, res.Generator, res.Interrupted = c.series, generatorOf(usage), r.Interrupted()
	for _, p := range points {
		at, us := p.At.Seconds(), float64(p.Took)/1e3
		res.Points = append(res.Points, Point{At: at, Latency: us, Status: int(p.Status)})
	}
	if p := res.Pacing; p != nil {
		own := r.plan.Pace
		if r.plan.shared != nil {
			own = own.Scaled(1, r.plan.Share.Of)
			p.Sent10ms = bins.Counts
		}
		if r.feed == nil { // it is not known when how many requests of a log are due
			p.Mean10ms, p.Variance10ms = bins.Variance(own, window)
		}
	}
	res.Warnings = res.saturation()
	res.Saturated = len(res.Warnings) > 0
	res.judge(r.plan.MaxConnections)
	if r.rows != nil {
		if res.RowsDropped = r.rows.Dropped(); res.RowsDropped > 0 {
			res.warn("%s could not be written as fast as they ended, and are missing among the single requests",
				requests(res.RowsDropped))
		}
	}
	res.setWarmUp(r.plan.WarmUp, &c.now.WarmUp)
	r.feed.addTo(res)
	res.dropOthers()
	res.Warnings = append(res.Warnings, r.plan.Warnings...)
	return res
}
