package send

import (
	"time"

	"github.com/weirhq/weir/load/internal/dispatch"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/recorded"
	"github.com/weirhq/weir/load/internal/users"
)

// A Part is one thread's part of a run. Both senders embed it: loop and workers.
// Its recorder's lock also guards the requests and the script.
type Part struct {
	Run      *Run
	Rec      *record.Recorder
	Requests *dispatch.Dispatcher
	Script   Script
	Flows    *users.Flows    // are executed in place of the Script; nil without flows
	Log      *recorded.Queue // the requests of a log, which is the Script; nil without one
	First    int             // connections at the start
	Most     int             // connections

	measured bool // the warm-up is over
}

// A Script has the messages of a thread, in the order in which they are sent. A message that is not fixed is valid until
// the next call.
type Script interface{ Next() *program.Message }

// dispatch sends the open loop's requests that are due. The recorder's lock is held.
func (p *Part) dispatch(now time.Duration, s dispatch.Sender) {
	p.Rec.Skip(p.Requests.Step(now, p.Run.End(), s))
	if p.Run.cut.Load() {
		p.endUnsent(now)
	}
	p.Rec.Asked, p.Rec.WarmUp.Asked = p.Requests.Asked()
}

// measure is called in each turn. In the first one after the warm-up the bytes that are written and the CPU time begin to
// count. The recorder's lock is held.
func (p *Part) measure(now time.Duration, usage *usageClock) {
	if p.measured || now < 0 {
		return
	}
	p.measured = true
	if p.Run.WarmUp > 0 {
		p.Rec.Written = 0
		usage.begin()
	}
}

// endUnsent counts the requests that wait and will not be sent. The recorder's lock
// is held.
func (p *Part) endUnsent(now time.Duration) {
	for p.Requests.Waiting() > 0 || p.Log != nil && p.Requests.More(p.Run.End()) {
		due, _ := p.Requests.Take()
		p.Rec.EndUnsent(due, now)
	}
	if p.Log != nil {
		p.Rec.Asked, p.Rec.WarmUp.Asked = p.Requests.Asked()
	}
}

// backoff returns how long to wait before reconnecting after consecutive failures.
func backoff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures, 7), 100*time.Millisecond)
}
