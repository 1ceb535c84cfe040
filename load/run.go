package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/request"
)

// Run does what the plan says, and returns what it has measured.
//
// When ctx is done nothing more is sent: answers under way are waited for a
// second, and the Result says that it was interrupted. Run fails, and sends
// nothing, when the plan makes no sense, when its connections would not fit
// into the files and ports of this machine, or when none of the first
// connections can be made.
//
// While it runs the process has a P more for each thread (runtime.GOMAXPROCS),
// since threads that wait in the kernel keep theirs.
func Run(ctx context.Context, p Plan) (*Result, error) {
	r, err := newRun(ctx, p)
	if err != nil {
		return nil, err
	}
	defer leaseProcessors(r.plan.Threads)()
	defer r.watched.close()
	return r.execute(ctx)
}

// A run is what its threads share.
type run struct {
	plan    Plan
	program *program.Program
	server  string // the address to connect to
	watched *serverWatch

	created  time.Time
	zero     atomic.Int64   // what times count from, since created: first that, then the start
	opening  sync.WaitGroup // one for each thread, until its first connections are made
	tickets  atomic.Int64   // of the closed loop, when it ends by number
	started  atomic.Bool
	released chan struct{} // closed when started
	end      atomic.Int64  // when nothing more is sent, a time.Duration
	cut      atomic.Bool   // the run was interrupted
	cutAt    atomic.Int64  // when, a time.Duration; set before cut

	recorders []*recorder
}

const (
	tick        = 20 * time.Millisecond // how often a thread looks up at least
	mostOpening = 128                   // connections at once, so that a server's queue of them holds
)

// interruptGrace is how long the answers of a run that was interrupted are
// waited for.
const interruptGrace = time.Second

func newRun(ctx context.Context, p Plan) (*run, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	compiled, err := program.Compile(p.Targets, p.NoKeepAlive, p.Folder)
	if err != nil {
		return nil, err
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	r := &run{plan: p, program: compiled, created: time.Now(), released: make(chan struct{})}
	if r.server, err = resolve(ctx, compiled.Origin.Address(), p.Timeout); err != nil {
		return nil, err
	}
	if r.watched, err = findServer(p.Process, r.server); err != nil {
		return nil, err
	}
	r.tickets.Store(p.Requests)
	r.end.Store(int64(never))
	if p.Duration > 0 {
		r.end.Store(int64(p.Duration))
	}
	for i := range p.Threads {
		rec := newRecorder(p.Pace.open(), &r.end)
		rec.timeout = p.Timeout
		rec.endpoints = newEndpointTallies(compiled.Endpoints)
		rec.points = newThinner(p.Points, request.NewRandom(p.Seed, uint64(i)))
		r.recorders = append(r.recorders, rec)
	}
	return r, nil
}

// now is the time since the run began.
func (r *run) now() time.Duration { return time.Since(r.created) - time.Duration(r.zero.Load()) }

// deadline is until when answers are waited for.
func (r *run) deadline() time.Duration {
	end := time.Duration(r.end.Load())
	if end == never {
		return never
	}
	deadline := end + r.plan.Timeout
	if r.cut.Load() {
		deadline = min(deadline, time.Duration(r.cutAt.Load())+interruptGrace)
	}
	return deadline
}

// execute runs the threads to their end.
func (r *run) execute(ctx context.Context) (*Result, error) {
	threads, err := r.newThreads()
	if err != nil {
		return nil, err
	}
	r.opening.Add(len(threads))
	var running sync.WaitGroup
	usage := make([]threadUsage, len(threads))
	for i, t := range threads {
		running.Go(func() { usage[i] = t.serve(ctx) })
	}
	r.opening.Wait()
	if err := r.unreachable(); err != nil {
		r.end.Store(0)
		r.start()
		running.Wait()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("load: ended before a connection was made: %w", context.Cause(ctx))
		}
		return nil, err
	}
	r.start()
	c := newCollector(r)
	over := make(chan struct{})
	interrupted := context.AfterFunc(ctx, r.stop)
	var watching sync.WaitGroup
	watching.Go(func() { c.collect(over) })
	watching.Go(func() { r.watched.watch(r, over) })
	running.Wait()
	interrupted()
	close(over)
	watching.Wait()
	result := c.result(usage)
	result.Server = r.watched.result()
	return result, nil
}

// start lets the threads go; times count from here.
func (r *run) start() {
	r.zero.Store(int64(time.Since(r.created)))
	r.started.Store(true)
	close(r.released)
}

// stop ends the run now, or the waiting for its last answers soon.
func (r *run) stop() {
	now := int64(r.now())
	r.end.Store(min(r.end.Load(), now)) // nobody else changes it any more
	r.cutAt.Store(now)
	r.cut.Store(true)
}

// unreachable returns why there is no connection at all, if there is none of
// those that were to be opened at the start.
func (r *run) unreachable() error {
	if r.plan.NoKeepAlive {
		return nil
	}
	var all tally
	for _, rec := range r.recorders {
		rec.mu.Lock()
		all.add(&rec.tally)
		rec.mu.Unlock()
	}
	if all.made > 0 {
		return nil
	}
	for k, err := range all.failures.errs {
		if err != nil {
			return &UnreachableError{Kind: kindNames[k], Server: r.server, Reason: strings.TrimPrefix(err.Error(), r.server+": "), Err: err}
		}
	}
	return nil
}

// An UnreachableError tells that no connection to the server could be made, so
// that nothing was sent.
type UnreachableError struct {
	Kind   string // as in a Result's Errors
	Server string // host and port
	Reason string
	Err    error // cause of the first failure
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("load: no connection to %s can be made: %s", e.Server, e.Reason)
}

func (e *UnreachableError) Unwrap() error { return e.Err }
