package load

import (
	"time"

	"github.com/weirhq/weir/load/internal/program"
)

// A part is one thread's part of a run. Both senders embed it: loop and workers.
// Its recorder's lock also guards the requests and the script.
type part struct {
	run      *run
	rec      *recorder
	requests *dispatcher
	script   *program.Script
	usage    usageClock
	first    int // connections at the start
	most     int // connections
}

func newPart(r *run, thread int) part {
	number, parts := r.plan.Share.part(thread, r.plan.Threads)
	return part{
		run:      r,
		rec:      r.recorders[thread],
		requests: newDispatcher(&r.plan, thread, &r.budget),
		script:   r.program.Script(number, parts, r.plan.Seed),
		first:    share(r.plan.Connections, thread, r.plan.Threads),
		most:     share(r.plan.MaxConnections, thread, r.plan.Threads),
	}
}

// dispatch sends the open loop's requests that are due. The recorder's lock is held.
func (p *part) dispatch(now time.Duration, s sender) {
	p.rec.skip(p.requests.step(now, p.run.end(), s))
	if p.run.cut.Load() {
		p.endUnsent(now)
	}
	p.rec.asked = p.requests.asked
}

// endUnsent counts the requests that wait and will not be sent. The recorder's lock
// is held.
func (p *part) endUnsent(now time.Duration) {
	for p.requests.waiting() > 0 {
		due, _ := p.requests.take()
		p.rec.endUnsent(due, now)
	}
}
