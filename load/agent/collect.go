package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load"
)

// receive handles a chunk of an agent's report. Its calls do not overlap.
func (c *coordinator) receive(msg *nats.Msg) {
	i := slices.IndexFunc(c.agents, func(r *remote) bool { return r.ID == msg.Header.Get(headerAgent) })
	if i < 0 {
		respond(msg, nil, fmt.Errorf("this agent does not work for run %s", c.run))
		return
	}
	c.mu.Lock()
	r := c.agents[i]
	before := r.failed
	err := r.receive(msg)
	if r.failed != before {
		c.lines = append(c.lines, fmt.Sprintf("agent %s does not run: %s", r.Name, r.failed))
	}
	c.mu.Unlock()
	respond(msg, nil, err)
	select {
	case c.reported <- struct{}{}:
	default:
	}
}

// receive adds a chunk. A part that was complete is ignored.
func (r *remote) receive(msg *nats.Msg) error {
	r.heard = time.Now()
	part, err := strconv.Atoi(msg.Header.Get(headerPart))
	if err != nil {
		return err
	}
	if part > r.part {
		r.part, r.complete, r.arriving = part, false, receiver{out: &r.text}
		r.text.Reset()
	}
	if part < r.part || r.complete {
		return nil
	}
	last, err := r.arriving.receive(msg)
	if err != nil || !last {
		return err
	}
	r.complete = true
	switch text := r.text.Bytes(); msg.Header.Get(headerOp) {
	case opReport:
		var now report
		if err := json.Unmarshal(text, &now); err != nil {
			return err
		}
		r.progress, r.partial = now.Progress, now.Result
		r.series = append(r.series, now.Result.Series...)
	case opResult:
		return json.Unmarshal(text, &r.result)
	case opFail:
		r.failed = string(text)
	}
	return nil
}

// over reports whether nothing more is expected of the agent. The coordinator's lock is held.
func (r *remote) over(now time.Time) bool {
	return r.result != nil || r.failed != "" || now.Sub(r.heard) > silence
}

const (
	showEvery = 200 * time.Millisecond
	quietFor  = 3 * time.Second // after which the screen names an agent
)

// await shows the progress until all agents have ended or are lost. When ctx is done, it stops
// them.
func (c *coordinator) await(ctx context.Context) {
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	c.mu.Lock()
	for _, r := range c.agents { // nothing was to be heard before
		r.heard = c.startAt
	}
	c.mu.Unlock()
	interrupted := ctx.Done()
	var shown load.Progress
	for !c.over() {
		select {
		case <-tick.C:
		case <-interrupted:
			interrupted = nil
			c.each(func(r *remote) error {
				// Its context is not done: the agents are to hear it.
				c.ask(context.WithoutCancel(ctx), r.ID, opStop, nil) // an agent that does not is lost, or has ended
				return nil
			})
		}
		select {
		case <-c.reported: // the reports since the last tick are merged together
			shown = c.merged()
		default:
		}
		c.show(shown, false)
	}
	c.show(c.merged(), true)
	c.warnNow()
}

func (c *coordinator) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	return !slices.ContainsFunc(c.agents, func(r *remote) bool { return !r.over(now) })
}

// show shows a progress with the present time.
func (c *coordinator) show(p load.Progress, done bool) {
	now := time.Now()
	if now.Before(c.startAt) {
		return
	}
	p.Elapsed, p.Done = now.Sub(c.startAt)-c.Settings.WarmUp, done
	p.Duration, p.Of = c.Settings.Duration, c.Settings.Requests
	p.Waiting = p.Duration > 0 && p.Elapsed > p.Duration
	c.mu.Lock()
	for _, r := range c.agents {
		if r.quiet(now) {
			p.Quiet = append(p.Quiet, r.Name)
		}
	}
	p.Agents, p.Reporting = c.Agents, len(c.agents)-len(p.Quiet)
	c.mu.Unlock()
	c.warnNow()
	c.Progress(p)
}

// merged returns the sum of the agents' reports.
func (c *coordinator) merged() load.Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := load.Progress{Status: make(map[string]int64), Failures: make(map[string]int64)}
	var shares []*load.Result
	unreadable := false
	last := c.lastSecond()
	for _, r := range c.agents {
		s, p := r.latest()
		if s == nil {
			continue
		}
		sum.Asked += p.Asked
		sum.Sent += p.Sent
		sum.Requests += p.Requests
		sum.Errors += p.Errors
		sum.Unsent += p.Unsent
		sum.Late += p.Late
		sum.Connections += p.Connections
		sum.InFlight += p.InFlight
		for class, n := range p.Status {
			sum.Status[class] += n
		}
		for kind, n := range p.Failures {
			sum.Failures[kind] += n
		}
		c.sign(r, s)
		s.Series = r.second(last)
		shares = append(shares, s)
		if err := addBuckets(&sum, s.Series); err != nil {
			unreadable = true
			c.once(fmt.Sprintf("agent %s: %v", r.Name, err))
		}
	}
	if unreadable { // some of the agents are not all
		sum.Buckets = nil
	}
	if len(shares) == 0 {
		return sum
	}
	result, err := load.Merge(shares)
	if err != nil {
		c.once(err.Error())
		return sum
	}
	if n := len(result.Series); n > 0 {
		sum.Last = result.Series[n-1]
	}
	sum.Latency, sum.FromDue = result.Latency, false
	if result.LatencyFromDue != nil {
		sum.Latency, sum.FromDue = result.LatencyFromDue, true
	}
	return sum
}

// addBuckets adds the latencies of an agent's seconds to those of all agents.
func addBuckets(sum *load.Progress, series []load.Second) error {
	for i := range series {
		counts, _, err := series[i].Latency.Buckets()
		if err != nil {
			return err
		}
		if sum.Buckets == nil {
			sum.Buckets = make([]int64, len(load.LatencyBounds())+1)
		}
		for b, n := range counts {
			sum.Buckets[b] += n
		}
	}
	return nil
}

// lastSecond returns when the last second began that all agents have reported which are not
// quiet. The coordinator's lock is held.
func (c *coordinator) lastSecond() float64 {
	last := math.Inf(1)
	now := time.Now()
	for _, r := range c.agents {
		n := len(r.series)
		switch {
		case n > 0 && !r.quiet(now):
			last = min(last, r.series[n-1].Start)
		case n == 0 && r.result == nil && !r.quiet(now):
			return math.Inf(-1)
		}
	}
	return last
}

// second returns the second that began at about the given time, or nothing. The coordinator's
// lock is held.
func (r *remote) second(start float64) []load.Second {
	for i := len(r.series) - 1; i >= 0 && r.series[i].Start > start-0.5; i-- {
		if r.series[i].Start < start+0.5 {
			return r.series[i : i+1]
		}
	}
	return nil
}

// quiet reports whether the agent has failed or not reported for some time. The coordinator's
// lock is held.
func (r *remote) quiet(now time.Time) bool {
	return r.result == nil && (r.failed != "" || now.Sub(r.heard) > quietFor)
}

// latest returns the headline of the last result of an agent, and its progress;
// nil before the first report. The coordinator's lock is held.
func (r *remote) latest() (*load.Result, load.Progress) {
	if r.result == nil && r.partial == nil {
		return nil, load.Progress{}
	}
	if r.result == nil {
		return headline(r.partial), r.progress
	}
	s := headline(r.result)
	p := load.Progress{Asked: s.Asked, Sent: s.Sent, Requests: s.Requests, Status: s.Status,
		Unsent: s.Unsent, Late: s.Late, Failures: s.Errors}
	for _, n := range s.Errors {
		p.Errors += n
	}
	return s, p
}

// headline returns a copy of a result with the latency that a progress has, and no other. The
// others would be most of the work of merging.
func headline(r *load.Result) *load.Result {
	s := *r
	s.FirstByte, s.Connect, s.TLSHandshake, s.StreamWait, s.LatencyByStatus, s.Targets, s.Pacing = nil, nil, nil, nil,
		nil, nil, nil
	s.Series, s.Points = nil, nil
	if s.LatencyFromDue != nil {
		s.Latency = nil
	}
	return &s
}
