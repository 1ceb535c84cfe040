package load

import (
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/send"
	"github.com/weirhq/weir/load/internal/users"
)

// An execution is a run of a plan.
type execution struct {
	*send.Run
	plan    Plan // with its defaults
	program *program.Program
	flows   *users.Flows // nil without flows
	feed    *logFeed     // nil without a log
	budget  atomic.Int64 // of the closed loop with a number of requests: those left
	total   *record.Total
	rows    *record.Rows // nil if nothing gets them
	watched *serverWatch
	began   time.Time // the start, after the warm-up
}

// compile compiles the targets. The frame is nil without a log, and the flows are without flows.
func (p *Plan) compile() (compiled *program.Program, frame *program.Frame, flows *users.Flows, err error) {
	switch {
	case p.Log != nil:
		compiled, frame, err = p.compileLog()
	case p.Flows != nil:
		flows, err = users.Compile(p.Flows, users.Options{Base: p.Targets[0], NoKeepAlive: p.NoKeepAlive, Find: p.Find,
			Expect: p.Expect, Seed: p.Seed, Part: max(0, p.Share.Number-1), Of: p.Share.Of})
		if err == nil {
			compiled = flows.Program
		}
	default:
		compiled, err = program.Compile(p.Targets, p.NoKeepAlive, p.Find)
	}
	return compiled, frame, flows, err
}

// reasons returns the number of reasons why a response counts as failed.
func (e *execution) reasons() int {
	if e.flows != nil {
		return len(e.flows.Reasons)
	}
	return len(e.plan.Expect)
}

// window returns the time in which requests were sent: until the end of the run, or
// until its last response or request if a number of requests, or the end of a log, ended it.
func (e *execution) window(n *record.Tally, last time.Duration) time.Duration {
	end := max(0, e.End()) // it is negative if the warm-up was interrupted
	if e.plan.Requests > 0 && n.Asked >= e.plan.Requests || e.feed.endedBefore(end) {
		return min(end, last)
	}
	return end
}
