package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/pace"
)

// A run is the state that its threads share.
type run struct {
	plan    Plan
	program *program.Program
	server  string // the address to connect to
	watched *serverWatch

	created  time.Time
	began    time.Time      // the start
	zero     atomic.Int64   // the origin of all times, since created: first 0, then the start
	opening  sync.WaitGroup // one for each thread, until its first connections are made
	budget   atomic.Int64   // of the closed loop with a number of requests: those left
	started  atomic.Bool
	released chan struct{} // closed at the start
	endAt    atomic.Int64  // nothing more is sent after this time.Duration
	cut      atomic.Bool   // the run was interrupted
	cutAt    atomic.Int64  // when, a time.Duration; set before cut

	total *record.Total
}

const (
	mostOpening = 128 // connections opened at the same time, to fit into the server's accept queue
)

// interruptGrace is how long an interrupted run waits for answers.
const interruptGrace = time.Second

// now returns the time since the run began.
func (r *run) now() time.Duration { return time.Since(r.created) - time.Duration(r.zero.Load()) }

// end returns when the run stops sending; never if only a number of requests ends it.
func (r *run) end() time.Duration { return time.Duration(r.endAt.Load()) }

// deadline returns when the run stops waiting for answers.
func (r *run) deadline() time.Duration {
	end := r.end()
	if end == pace.Never {
		return pace.Never
	}
	deadline := end + r.plan.Timeout
	if r.cut.Load() {
		deadline = min(deadline, time.Duration(r.cutAt.Load())+interruptGrace)
	}
	return deadline
}

// start lets the threads send, and sets the origin of all times.
func (r *run) start(at time.Time) {
	r.began = at.Round(0)
	r.zero.Store(int64(at.Sub(r.created)))
	r.started.Store(true)
	close(r.released)
}

// stop interrupts the run: it sends nothing more, and soon stops waiting for answers.
func (r *run) stop() {
	now := int64(r.now())
	r.endAt.Store(min(r.endAt.Load(), now)) // no other goroutine changes it after the start
	r.cutAt.Store(now)
	r.cut.Store(true)
}
