package load

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/random"
)

// result returns the Result. The threads have ended.
func (c *collector) result(usage []threadUsage) *Result {
	r := c.run
	var bins sendBins
	points := newThinner(r.plan.Points, random.New(r.plan.Seed, uint64(len(r.recorders))))
	for _, rec := range r.recorders {
		c.sum.merge(&rec.measures)
		bins.merge(&rec.bins)
		if rec.points != nil {
			points.merge(rec.points)
		}
	}
	window := r.window(&c.now, c.lastEvent())
	res := c.document(&c.now, window)
	res.Series, res.Points, res.Generator, res.Interrupted = c.series, points.points(), generatorOf(usage), r.cut.Load()
	if p := res.Pacing; p != nil {
		own := r.plan.Pace
		if r.plan.shared != nil {
			own = own.Scaled(1, r.plan.Share.Of)
			p.Sent10ms = bins.counts
		}
		p.Mean10ms, p.Variance10ms = bins.variance(own, window)
	}
	res.Warnings = res.saturation()
	res.Saturated = len(res.Warnings) > 0
	res.judge(r.plan.MaxConnections)
	res.Warnings = append(res.Warnings, r.plan.Warnings...)
	return res
}

// document returns a Result with the tally, the sum of the measures and the headline.
func (c *collector) document(n *tally, window time.Duration) *Result {
	r, sum := c.run, &c.sum
	seconds := max(window.Seconds(), 1e-9)
	res := &Result{
		Started: r.began, URL: r.plan.Targets[0].URL,
		Protocol: r.plan.Protocol.String(), Pace: r.plan.Pace.String(), Machine: Machine(machine.Describe()),
		Asked: n.asked, Sent: n.sent, Unsent: n.unsent(),
		Requests: n.answered, Failed: n.failed, Unanswered: n.unanswered,
		UnsentFor:         counts{"skipped": n.skipped, "no_connection": n.noConnection, "ended": n.ended}.some(),
		Late:              n.lateConnections + n.lateGenerator,
		LateFor:           counts{"connections": n.lateConnections, "generator": n.lateGenerator}.some(),
		RequestsPerSecond: float64(n.inTime) / seconds, BytesPerSecond: float64(n.readInTime) / seconds,
		DurationSeconds: window.Seconds(), BytesRead: n.read, BytesWritten: n.written,
		Connections: int(n.most), ConnectionsMade: n.made, Pipeline: r.plan.Pipeline, Threads: r.plan.Threads,
		TimeoutSeconds: r.plan.Timeout.Seconds(), Seed: r.plan.Seed,
		FirstByte: latencyOf(sum.firstByte), Connect: latencyOf(sum.connect), TLSHandshake: latencyOf(sum.handshake),
		StreamWait: latencyOf(sum.streamWait), LatencyByStatus: make(map[string]*Latency),
		Status: make(map[string]int64), StatusCodes: make(map[string]int64), Share: r.plan.shared,
	}
	res.Errors, res.ErrorExamples = n.failures.Maps()
	res.CertificateRefused = n.failures.CertificateRefused()
	sum.setLatencies(res)
	sum.setTargets(res, r.program, r.plan.Pace.Open())
	if r.plan.Pace.Open() {
		fromDue := c.all.Order()
		res.LatencyFromDue = newLatency(fromDue)
		res.Pacing = &Pacing{Lag: latencyOf(sum.lag)}
		if s := window.Seconds(); s > 0 {
			res.Pacing.AskedPerSecond, res.Pacing.SentPerSecond = float64(n.asked)/s, float64(n.sentInTime)/s
		}
	}
	return res
}

// window returns the time in which requests were sent: until the end of the run, or
// until its last answer or request if a number of requests ended it.
func (r *run) window(n *tally, last time.Duration) time.Duration {
	end := r.end()
	if r.plan.Requests > 0 && n.asked >= r.plan.Requests {
		return min(end, last)
	}
	return end
}

// counts has numbers by name.
type counts map[string]int64

// some returns the counts above 0.
func (c counts) some() map[string]int64 {
	for name, n := range c {
		if n == 0 {
			delete(c, name)
		}
	}
	return c
}

// setLatencies sets the Result's latencies from sent and its statuses.
func (m *measures) setLatencies(res *Result) {
	sent := latencies.NewTimes()
	sent.Misses = m.missed
	for class, d := range m.classes {
		if d == nil {
			continue
		}
		name := className(class)
		res.Status[name], res.LatencyByStatus[name] = d.Count(), latencyOf(d)
		sent.Answered.Merge(d)
	}
	all := sent.Order()
	res.Latency = newLatency(all)
	for code, n := range m.codes {
		if n > 0 {
			res.StatusCodes[strconv.Itoa(code)] = n
		}
	}
}

func generatorOf(usage []threadUsage) Generator {
	var g Generator
	for _, u := range usage {
		g.CPUSeconds += u.all.Seconds()
		if u.wall > 0 {
			g.Busy = max(g.Busy, u.cpu.Seconds()/u.wall.Seconds())
			g.Waited = max(g.Waited, u.waited.Seconds()/u.wall.Seconds())
		}
	}
	g.PeakRSS = peakRSS()
	return g
}

// Above these limits a run measures the generator as much as the server.
const (
	busyLimit   = 0.95 // of a CPU, by one thread
	waitedLimit = 0.10 // of the time, by one thread, for a CPU
	rateLimit   = 0.01 // of the pace, by which the sent rate may be lower
	lateLimit   = 0.01 // of the requests, late because of the generator
)

// requests returns a number of requests as text.
func requests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// judgedFrom is the shortest run whose CPU usage is judged.
const judgedFrom = 100 * time.Millisecond

// MachineBusy reports whether the run is Saturated because the machine was busy: the
// generator waited for a CPU or was stopped, without using one fully. Otherwise the
// generator of a Saturated run was at its limit.
func (r *Result) MachineBusy() bool {
	g := r.Generator
	return r.Saturated && g.Busy < busyLimit && (g.Waited >= waitedLimit || r.LateFor["generator"] > 0)
}

// MachineBusy is like that of a Result.
func (g *GeneratorShare) MachineBusy() bool { return g.Saturated && g.Generator.Busy < busyLimit }

// saturation returns the reasons why the generator may have been at its limit.
func (r *Result) saturation() []string {
	var reasons []string
	add := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	long := r.DurationSeconds >= judgedFrom.Seconds()
	if g := &r.Generator; long && g.Busy >= busyLimit {
		add("the generator used %.0f%% of a CPU in one of its %d threads: the rate may be its limit, and "+
			"latencies include its own", 100*g.Busy, r.Threads)
	}
	if g := &r.Generator; long && g.Waited >= waitedLimit {
		add("the generator waited for a CPU %.0f%% of the time: others, perhaps the server, used it", 100*g.Waited)
	}
	if n := r.LateFor["generator"]; float64(n) > lateLimit*float64(r.Sent) {
		add("the generator sent %d of %s more than a millisecond late, though it had connections", n, requests(r.Sent))
	}
	return reasons
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// judge adds the warnings about the run. Its plan has at most so many connections.
func (r *Result) judge(maxConnections int) {
	if g := r.Pacing; g != nil && g.SentPerSecond < (1-rateLimit)*g.AskedPerSecond {
		r.warn("%.5g requests per second were sent, of %.5g that the pace asked for", g.SentPerSecond, g.AskedPerSecond)
	}
	if n := r.LateFor["connections"]; n > 0 && r.Connections >= maxConnections {
		r.warn("as many connections were in use as there may be, which is %d", r.Connections)
	}
	if n := r.LateFor["connections"]; n > 0 {
		r.warn("%d of %s waited more than a millisecond for a connection: the server did not keep up with the pace, "+
			"or there were too few; latencies from due include that", n, requests(r.Sent))
	}
	if r.Unsent > 0 {
		r.warn("%d of %s went unsent", r.Unsent, requests(r.Asked))
	}
	if r.Unanswered > 0 {
		r.warn("%s had no answer yet when the run ended: the latencies count the time until then", requests(r.Unanswered))
	}
	if n := r.Status["4xx"] + r.Status["5xx"]; n > 0 && 2*n > r.Requests {
		r.warn("%d of %d answers were errors (4xx, 5xx): their latencies are in the tables too", n, r.Requests)
	}
	if r.Interrupted {
		r.warn("the run was interrupted after %.1f s", r.DurationSeconds)
	}
}
