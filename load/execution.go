package load

import (
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/send"
)

// An execution is a run of a plan.
type execution struct {
	*send.Run
	plan    Plan // with its defaults
	program *program.Program
	feed    *logFeed     // nil without a log
	budget  atomic.Int64 // of the closed loop with a number of requests: those left
	total   *record.Total
	rows    *record.Rows // nil if nothing gets them
	watched *serverWatch
	began   time.Time // the start, after the warm-up
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
