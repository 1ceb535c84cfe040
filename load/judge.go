package load

import (
	"fmt"
	"time"
)

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

// MachineBusy is as in a Result.
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
		r.warn("%s had no response yet when the run ended: the latencies count the time until then", requests(r.Unanswered))
	}
	if n := r.Status["4xx"] + r.Status["5xx"]; n > 0 && 2*n > r.Requests {
		r.warn("%d of %d responses were errors (4xx, 5xx): their latencies are in the tables too", n, r.Requests)
	}
	if r.Interrupted {
		r.warn("the run was interrupted after %.1f s", r.DurationSeconds)
	}
}
