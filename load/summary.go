package load

import (
	"os"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/send"
)

// document returns a Result with the tally, the sum of the measures and the headline.
func (e *execution) document(n *record.Tally, window time.Duration) *Result {
	sum := &e.total.Measures
	seconds := max(window.Seconds(), 1e-9)
	res := &Result{
		Started: e.began, URL: e.plan.Targets[0].URL, Unix: e.plan.Unix, Version: version.String(),
		Protocol: e.plan.Protocol.String(), Pace: e.plan.Pace.String(), Machine: Machine(machine.Describe()),
		Asked: n.Asked, Sent: n.Sent, Unsent: n.Unsent(),
		Requests: n.Answered, Failed: n.Failed, Unanswered: n.Unanswered,
		UnsentFor:         counts{"skipped": n.Skipped, "no_connection": n.NoConnection, "ended": n.Ended}.some(),
		Late:              n.LateConnections + n.LateGenerator,
		LateFor:           counts{"connections": n.LateConnections, "generator": n.LateGenerator}.some(),
		RequestsPerSecond: float64(n.InTime) / seconds, BytesPerSecond: float64(n.ReadInTime) / seconds,
		DurationSeconds: window.Seconds(), BytesRead: n.Read, BytesWritten: n.Written,
		Connections: int(n.Most), ConnectionsMade: n.Made, Pipeline: e.plan.Pipeline, Threads: e.plan.Threads,
		TimeoutSeconds: e.plan.Timeout.Seconds(), Seed: e.plan.Seed,
		FirstByte: latencyOf(sum.FirstByte), Connect: latencyOf(sum.Connect), TLSHandshake: latencyOf(sum.Handshake),
		StreamWait: latencyOf(sum.StreamWait), LatencyByStatus: make(map[string]*Latency),
		Status: make(map[string]int64), StatusCodes: make(map[string]int64), Share: e.plan.shared,
	}
	res.Errors, res.ErrorExamples = n.Failures.Maps()
	if e.flows != nil {
		res.setWrongSteps(sum.Wrong, e.flows.Reasons)
	} else {
		res.setWrong(sum.Wrong, e.plan.Expect)
	}
	res.CertificateRefused = n.Failures.CertificateRefused()
	res.setLatencies(sum)
	res.setTargets(sum, e.program, e.plan.Pace.Open())
	if e.plan.Pace.Open() {
		fromDue := e.total.Headline.Order()
		res.LatencyFromDue = newLatency(fromDue)
		res.Pacing = &Pacing{Lag: latencyOf(sum.Lag)}
		if s := window.Seconds(); s > 0 {
			res.Pacing.AskedPerSecond, res.Pacing.SentPerSecond = float64(n.Asked)/s, float64(n.SentInTime)/s
		}
	}
	return res
}

// setWarmUp sets the counts of the warm-up, and warns if it has a failure: the service may not have been ready.
func (res *Result) setWarmUp(length time.Duration, n *record.WarmUp) {
	if length == 0 {
		return
	}
	res.WarmUp = &WarmUpResult{Seconds: length.Seconds(), Asked: n.Asked, Sent: n.Sent, Requests: n.Answered, Failed: n.Failed}
	res.warnAboutWarmUp()
}

// warnAboutWarmUp adds a warning if a request of the warm-up was not answered.
func (res *Result) warnAboutWarmUp() {
	if w := res.WarmUp; w != nil && w.Requests < w.Asked {
		res.warn("%d of %s of the warm-up got no response, or not as expected; the numbers have none of them",
			w.Asked-w.Requests, requests(w.Asked))
	}
}

// setWrong sets the fields about responses that are not as expected.
func (res *Result) setWrong(w *record.Wrong, expected []expect.Expectation) {
	if w == nil {
		return
	}
	res.countWrong(w)
	for code, n := range w.Codes {
		if n > 0 && !expect.MeetsStatus(expected, code) {
			res.Errors[expect.StatusFailure(code)] = n
		}
	}
	for i, e := range expected {
		res.Expect = append(res.Expect, e.String())
		if r := w.Reasons[i]; r.N > 0 && !e.OfStatus() {
			res.Errors[e.Failure()] += r.N
			res.ErrorExamples[e.Failure()] = r.Example
		}
	}
}

// setWrongSteps sets the fields about responses of flows that are not as expected, or lack a value for a later step.
func (res *Result) setWrongSteps(w *record.Wrong, reasons []string) {
	if w == nil {
		return
	}
	res.countWrong(w)
	for i, r := range w.Reasons {
		if r.N > 0 {
			res.Errors[reasons[i]] += r.N
			res.ErrorExamples[reasons[i]] = r.Example
		}
	}
}

// countWrong counts the responses that are not as expected. Their reasons replace their common kind.
func (res *Result) countWrong(w *record.Wrong) {
	res.WrongStatusCodes = make(map[string]int64)
	delete(res.Errors, failure.Unexpected.String())
	delete(res.ErrorExamples, failure.Unexpected.String())
	for code, n := range w.Codes {
		if n > 0 {
			res.Wrong += n
			res.WrongStatusCodes[strconv.Itoa(code)] = n
		}
	}
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
		Step: e.Step, Method: e.Method, Path: e.Path, Targets: e.Targets, BodyBytes: e.BodyBytes,
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
			Step: only.Step, Method: only.Method, Path: only.Path, Targets: only.Targets, BodyBytes: only.BodyBytes,
			Sent: res.Sent, Requests: res.Requests, Failed: res.Failed, Unanswered: res.Unanswered, Status: res.Status,
		}}
		return
	}
	for i := range m.Endpoints {
		res.Targets = append(res.Targets, targetResult(&m.Endpoints[i], p.Endpoints[i], open))
	}
}

// dropOthers removes the sum of the other targets of a log if there were none. Shares keep it, because all have the same
// targets.
func (res *Result) dropOthers() {
	last := len(res.Targets) - 1
	if res.Log == nil || res.Share != nil || last == 0 || res.Targets[last].Sent > 0 {
		return
	}
	if res.Targets = res.Targets[:last]; last == 1 {
		res.Targets[0].Latency, res.Targets[0].LatencyFromDue = nil, nil
	}
}

// statuses returns the number of responses by class.
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

func generatorOf(usage []send.Usage) Generator {
	var g Generator
	for _, u := range usage {
		g.CPUSeconds += u.All.Seconds()
		if u.Wall > 0 {
			g.Busy = max(g.Busy, u.CPU.Seconds()/u.Wall.Seconds())
			g.Waited = max(g.Waited, u.Waited.Seconds()/u.Wall.Seconds())
		}
	}
	g.PeakRSS = peakRSS()
	return g
}

// peakRSS returns the largest resident memory of this process; 0 if the system does
// not have it.
func peakRSS() int64 {
	p, err := process.Open(os.Getpid())
	if err != nil {
		return 0
	}
	defer p.Close()
	s, err := p.Sample()
	if err != nil {
		return 0
	}
	return s.PeakRSS
}
