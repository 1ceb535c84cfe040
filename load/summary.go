package load

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
)

// result returns the Result. The threads have ended.
func (c *collector) result(usage []threadUsage) *Result {
	r := c.run
	bins, points := r.total.Finish()
	window := r.window(&c.now, r.total.Last())
	res := c.document(&c.now, window)
	res.Series, res.Generator, res.Interrupted = c.series, generatorOf(usage), r.cut.Load()
	for _, p := range points {
		res.Points = append(res.Points, Point{At: p.At.Seconds(), Latency: float64(p.Took) / 1e3, Status: int(p.Status)})
	}
	if p := res.Pacing; p != nil {
		own := r.plan.Pace
		if r.plan.shared != nil {
			own = own.Scaled(1, r.plan.Share.Of)
			p.Sent10ms = bins.Counts
		}
		p.Mean10ms, p.Variance10ms = bins.Variance(own, window)
	}
	res.Warnings = res.saturation()
	res.Saturated = len(res.Warnings) > 0
	res.judge(r.plan.MaxConnections)
	res.Warnings = append(res.Warnings, r.plan.Warnings...)
	return res
}

// document returns a Result with the tally, the sum of the measures and the headline.
func (c *collector) document(n *record.Tally, window time.Duration) *Result {
	r, sum := c.run, &c.run.total.Measures
	seconds := max(window.Seconds(), 1e-9)
	res := &Result{
		Started: r.began, URL: r.plan.Targets[0].URL,
		Protocol: r.plan.Protocol.String(), Pace: r.plan.Pace.String(), Machine: Machine(machine.Describe()),
		Asked: n.Asked, Sent: n.Sent, Unsent: n.Unsent(),
		Requests: n.Answered, Failed: n.Failed, Unanswered: n.Unanswered,
		UnsentFor:         counts{"skipped": n.Skipped, "no_connection": n.NoConnection, "ended": n.Ended}.some(),
		Late:              n.LateConnections + n.LateGenerator,
		LateFor:           counts{"connections": n.LateConnections, "generator": n.LateGenerator}.some(),
		RequestsPerSecond: float64(n.InTime) / seconds, BytesPerSecond: float64(n.ReadInTime) / seconds,
		DurationSeconds: window.Seconds(), BytesRead: n.Read, BytesWritten: n.Written,
		Connections: int(n.Most), ConnectionsMade: n.Made, Pipeline: r.plan.Pipeline, Threads: r.plan.Threads,
		TimeoutSeconds: r.plan.Timeout.Seconds(), Seed: r.plan.Seed,
		FirstByte: latencyOf(sum.FirstByte), Connect: latencyOf(sum.Connect), TLSHandshake: latencyOf(sum.Handshake),
		StreamWait: latencyOf(sum.StreamWait), LatencyByStatus: make(map[string]*Latency),
		Status: make(map[string]int64), StatusCodes: make(map[string]int64), Share: r.plan.shared,
	}
	res.Errors, res.ErrorExamples = n.Failures.Maps()
	res.CertificateRefused = n.Failures.CertificateRefused()
	res.setLatencies(sum)
	res.setTargets(sum, r.program, r.plan.Pace.Open())
	if r.plan.Pace.Open() {
		fromDue := r.total.Headline.Order()
		res.LatencyFromDue = newLatency(fromDue)
		res.Pacing = &Pacing{Lag: latencyOf(sum.Lag)}
		if s := window.Seconds(); s > 0 {
			res.Pacing.AskedPerSecond, res.Pacing.SentPerSecond = float64(n.Asked)/s, float64(n.SentInTime)/s
		}
	}
	return res
}

// window returns the time in which requests were sent: until the end of the run, or
// until its last answer or request if a number of requests ended it.
func (r *run) window(n *record.Tally, last time.Duration) time.Duration {
	end := r.end()
	if r.plan.Requests > 0 && n.Asked >= r.plan.Requests {
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
func (res *Result) setLatencies(m *record.Measures) {
	sent := latencies.NewTimes()
	sent.Misses = m.Missed
	for class, d := range m.Classes {
		if d == nil {
			continue
		}
		name := className(class)
		res.Status[name], res.LatencyByStatus[name] = d.Count(), latencyOf(d)
		sent.Answered.Merge(d)
	}
	all := sent.Order()
	res.Latency = newLatency(all)
	for code, n := range m.Codes {
		if n > 0 {
			res.StatusCodes[strconv.Itoa(code)] = n
		}
	}
}

// targetResult returns the tally of an endpoint for a Result.
func targetResult(t *record.EndpointTally, e program.Endpoint, open bool) TargetResult {
	r := TargetResult{
		Method: e.Method, Path: e.Path, Targets: e.Targets, BodyBytes: e.BodyBytes,
		Sent: t.Sent, Failed: t.Failed, Unanswered: t.Unanswered, Status: statuses(t.Classes),
	}
	for _, n := range r.Status {
		r.Requests += n
	}
	if l := newLatency(t.Times.Order()); open {
		r.LatencyFromDue = l
	} else {
		r.Latency = l
	}
	return r
}

// setTargets sets the Result's fields about targets.
func (res *Result) setTargets(m *record.Measures, p *program.Program, open bool) {
	first := p.First()
	res.Method, res.BodyBytes, res.RequestsHash = first.Method, first.BodyBytes, p.Hash
	if m.Endpoints == nil {
		only := p.Endpoints[0]
		res.Targets = []TargetResult{{
			Method: only.Method, Path: only.Path, Targets: only.Targets, BodyBytes: only.BodyBytes,
			Sent: res.Sent, Requests: res.Requests, Failed: res.Failed, Unanswered: res.Unanswered, Status: res.Status,
		}}
		return
	}
	for i := range m.Endpoints {
		res.Targets = append(res.Targets, targetResult(&m.Endpoints[i], p.Endpoints[i], open))
	}
}

// statuses returns the number of answers by class.
func statuses(classes [10]int64) map[string]int64 {
	counts := make(map[string]int64)
	for class, n := range classes {
		if n > 0 {
			counts[className(class)] = n
		}
	}
	return counts
}

func className(class int) string { return string(rune('0'+class)) + "xx" }

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
