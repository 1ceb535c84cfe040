package load

import (
	"time"

	"github.com/weirhq/weir/load/internal/dispatch"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
)

// A part is one thread's part of a run. Both senders embed it: loop and workers.
// Its recorder's lock also guards the requests and the script.
type part struct {
	run      *run
	rec      *record.Recorder
	requests *dispatch.Dispatcher
	script   *program.Script
	usage    usageClock
	first    int // connections at the start
	most     int // connections
}

// newPart returns the part of a thread. perRequest is that of its dispatcher.
func newPart(r *run, thread int, perRequest bool) part {
	number, parts := r.plan.Share.part(thread, r.plan.Threads)
	o := dispatch.Options{Pace: r.plan.Pace, Part: number, Parts: parts, Seed: r.plan.Seed, Backlog: r.plan.Backlog,
		PerRequest: perRequest}
	if r.plan.Requests > 0 {
		o.Requests, o.Budget = share(r.plan.Requests, thread, r.plan.Threads), &r.budget
	}
	return part{
		run:      r,
		rec:      r.total.Recorders[thread],
		requests: dispatch.New(o),
		script:   r.program.Script(number, parts, r.plan.Seed),
		first:    share(r.plan.Connections, thread, r.plan.Threads),
		most:     share(r.plan.MaxConnections, thread, r.plan.Threads),
	}
}

// dispatch sends the open loop's requests that are due. The recorder's lock is held.
func (p *part) dispatch(now time.Duration, s dispatch.Sender) {
	p.rec.Skip(p.requests.Step(now, p.run.end(), s))
	if p.run.cut.Load() {
		p.endUnsent(now)
	}
	p.rec.Asked = p.requests.Asked()
}

// endUnsent counts the requests that wait and will not be sent. The recorder's lock
// is held.
func (p *part) endUnsent(now time.Duration) {
	for p.requests.Waiting() > 0 {
		due, _ := p.requests.Take()
		p.rec.EndUnsent(due, now)
	}
}

// backoff returns how long to wait before reconnecting after consecutive failures.
func backoff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures, 7), 100*time.Millisecond)
}
