package lab

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// extension bounds the time by which a warm-up is extended if the load has no duration. Otherwise the duration is the
// bound, so that a run takes twice its time at most.
const extension = 10 * time.Second

// warmUp sends the load until the service no longer warms up, in rounds of the time that the experiment sets. It reports
// whether the service can be measured.
func (a *attempt) warmUp(ctx context.Context) bool {
	if a.Service.LinesPerRequest > 0 {
		a.awaitQuiet(ctx, readyQuiet, time.Second)
		a.linesAt = a.service.Lines()
	}
	each := a.experiment.WarmUp
	if each <= 0 {
		return true
	}
	a.reporter.step(Warming)
	most := 1 + int(cmp.Or(a.Load.Duration, extension)/each)
	began := time.Now()
	rounds, warming, ok := warmRounds(most, func(skip int) (falls, ok bool) { return a.warmRound(ctx, skip) })
	lasted := time.Duration(rounds) * each
	if !ok { // the last round may have ended early
		lasted = min(lasted, time.Since(began))
	}
	a.run.WarmUp = &results.WarmUp{Seconds: lasted.Seconds(), Warming: warming}
	return ok
}

// warmRound sends the load of one round, and reports whether the service still becomes faster, and whether it serves. The
// first windows are left out.
func (a *attempt) warmRound(ctx context.Context, skip int) (falls, ok bool) {
	plan, err := a.plan()
	if err != nil {
		a.failed(results.Failed, err)
		return false, false
	}
	plan.Duration, plan.Requests, plan.Points = a.experiment.WarmUp, 0, 0
	c := roundCosts{closed: !plan.Pace.Open(), cpu: a.watcher.Used, every: max(plan.Duration/roundWindows, shortestWindow),
		byTime: warmth{skip: skip}, byCPU: warmth{skip: skip}}
	plan.Progress, plan.ProgressEvery = c.look, c.every
	result, err := load.Run(ctx, plan)
	if err == nil && result.Sent == 0 && ctx.Err() == nil {
		return false, true // at this low rate, no request was due during the warm-up
	}
	if !a.answered(ctx, result, err, "while it was warmed up") {
		return false, false
	}
	a.warmed += result.Requests
	return c.byTime.falls() || c.byCPU.falls(), true
}

// shortestWindow is the shortest window in which costs are compared.
const shortestWindow = 20 * time.Millisecond

// A roundCosts measures the costs of a round of warm-up. In the open loop the pace determines the time for each response, and
// only the CPU time can fall. Its look is for one goroutine.
type roundCosts struct {
	closed bool
	cpu    func() time.Duration // of the service, so far
	every  time.Duration

	byTime, byCPU warmth
	last          load.Progress
	used          time.Duration // at the time of last
}

// look adds a window, unless it has no response or is too short.
func (c *roundCosts) look(p load.Progress) {
	responses, took := float64(p.Requests-c.last.Requests), p.Elapsed-c.last.Elapsed
	if responses <= 0 || took < c.every/2 || p.Waiting {
		return
	}
	used := c.cpu()
	if c.closed {
		c.byTime.add(took.Seconds() / responses)
	}
	if c.last.Requests > 0 {
		c.byCPU.add((used - c.used).Seconds() / responses)
	}
	c.last, c.used = p, used
}

// even reports whether the load and the sinks of the service are the same at each time, so that only the service can become
// faster.
func (a *attempt) even() bool {
	return len(a.Load.Stages) == 0 && a.Load.FromLog == "" && a.Service.Output.StopFor == 0 && a.Service.Stderr.StopFor == 0
}

// faster returns the ratio by which the service was faster in the second half of the load than in the first, or nil if
// that is not known. In the open loop it is the ratio of median latencies.
func faster(r *load.Result) *float64 {
	whole := r.Series
	if n := len(whole); n > 0 && whole[n-1].Seconds < 0.9 {
		whole = whole[:n-1]
	}
	half := len(whole) / 2
	if half == 0 {
		return nil
	}
	cost := func(seconds []load.Second) float64 {
		time, requests, latency := 0.0, 0.0, 0.0
		for _, s := range seconds {
			time, requests, latency = time+s.Seconds, requests+float64(s.Requests), latency+float64(s.P50)
		}
		if r.LatencyFromDue != nil {
			return latency
		}
		return time / requests
	}
	ratio := cost(whole[:half]) / cost(whole[len(whole)-half:])
	if ratio == 0 || math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return nil
	}
	return &ratio
}
