// Package send sends the requests of a load test and reads the responses, in threads.
//
// HTTP/1.1 is sent by one state machine per thread over the connections of package transport:
// on a loop on Linux, on goroutines elsewhere. HTTP/2 is sent by workers, with a goroutine for
// each request under way and the connections of package line. Both take the requests from a
// dispatcher and report to a recorder.
package send

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/pace"
)

// A Run is the state that the threads of a run share.
type Run struct {
	Settings
	EndAt atomic.Int64 // nothing more is sent after this time.Duration; others only read it

	created  time.Time
	zero     atomic.Int64   // the origin of all times, since created: first 0, then the start
	opening  sync.WaitGroup // one for each thread, until its first connections are made
	started  atomic.Bool
	released chan struct{} // closed at the start
	cut      atomic.Bool   // the run was interrupted
	cutAt    atomic.Int64  // when, a time.Duration; set before cut
}

// Settings are common to all threads, as in a Plan.
type Settings struct {
	Server      string // the address to connect to
	Threads     int
	Pipeline    int
	NoKeepAlive bool
	Timeout     time.Duration
	Duration    time.Duration // 0 if only a number of requests ends the run
	WarmUp      time.Duration // before 0
	Expect      []expect.Expectation
}

// UnixAddress returns the address of a Unix socket, for Settings.
func UnixAddress(path string) string { return transport.UnixPrefix + path }

// NewRun returns a run that has not started. Its clock begins now, and again at the start.
func NewRun(s Settings) *Run {
	r := &Run{Settings: s, created: time.Now(), released: make(chan struct{})}
	r.EndAt.Store(int64(cmp.Or(s.Duration, pace.Never)))
	return r
}

const mostOpening = 128 // connections opened at the same time, to fit into the server's accept queue

// interruptGrace is how long an interrupted run waits for responses.
const interruptGrace = time.Second

// Now returns the time since the measured part of the run began. It is negative during the warm-up.
func (r *Run) Now() time.Duration { return time.Since(r.created) - time.Duration(r.zero.Load()) }

// End returns when the run stops sending; never if only a number of requests ends it.
func (r *Run) End() time.Duration { return time.Duration(r.EndAt.Load()) }

// deadline returns when the run stops waiting for responses.
func (r *Run) deadline() time.Duration {
	end := r.End()
	if end == pace.Never {
		return pace.Never
	}
	deadline := end + r.Timeout
	if r.cut.Load() {
		deadline = min(deadline, time.Duration(r.cutAt.Load())+interruptGrace)
	}
	return deadline
}

// A Thread sends and receives until the run ends. It opens its first connections,
// calls the run's opening.Done, and waits for the start.
type Thread interface {
	// serve locks itself to a system thread, and returns its CPU usage. It waits for
	// the first connections until opening is done.
	serve(opening context.Context) Usage
}

// Open starts the threads, and waits until they have made their first connections or ctx is done.
// The function that it returns waits for the end of the threads, and returns their CPU usage.
func (r *Run) Open(ctx context.Context, threads []Thread) (await func() []Usage) {
	r.opening.Add(len(threads))
	var running sync.WaitGroup
	usage := make([]Usage, len(threads))
	for i, t := range threads {
		running.Go(func() { usage[i] = t.serve(ctx) })
	}
	r.opening.Wait()
	return func() []Usage {
		running.Wait()
		return usage
	}
}

// Start lets the threads send. The origin of all times is at, after the warm-up.
func (r *Run) Start(at time.Time) {
	r.zero.Store(int64(at.Sub(r.created)))
	r.started.Store(true)
	close(r.released)
}

// Fail ends a run that has not started.
func (r *Run) Fail() {
	r.EndAt.Store(0)
	r.Start(time.Now())
}

// Interrupted reports whether the run was stopped.
func (r *Run) Interrupted() bool { return r.cut.Load() }

// Stop interrupts the run: it sends nothing more, and soon stops waiting for responses.
func (r *Run) Stop() {
	now := int64(r.Now())
	r.EndAt.Store(min(r.EndAt.Load(), now)) // no other goroutine changes it after the start
	r.cutAt.Store(now)
	r.cut.Store(true)
}
