package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/line"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/pace"
)

// Run executes the plan and returns the measurements.
//
// When ctx is done, Run sends nothing more, waits up to a second for the answers
// under way, and returns a Result that is marked as interrupted. Run returns an
// error, and sends nothing, if the plan is invalid, if its connections need more
// files or ports than the machine has, or if none of the first connections can be
// made.
//
// Meanwhile runtime.GOMAXPROCS is higher by one for each thread, because a thread
// that waits in the kernel keeps its P.
func Run(ctx context.Context, p Plan) (*Result, error) {
	r, err := newRun(ctx, p)
	if err != nil {
		return nil, err
	}
	defer machine.LeaseProcessors(r.plan.Threads)()
	defer r.watched.close()
	return r.execute(ctx)
}

// Check returns the error of [Run] for an invalid plan. It reads the files of templates.
func (p Plan) Check() error {
	p, err := p.withDefaults()
	if err == nil {
		_, err = program.Compile(p.Targets, p.NoKeepAlive, p.Find)
	}
	return err
}

func newRun(ctx context.Context, p Plan) (*run, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	compiled, err := program.Compile(p.Targets, p.NoKeepAlive, p.Find)
	if err != nil {
		return nil, err
	}
	if p.shared != nil {
		compiled.Divide(p.Share.Number-1, p.Share.Of)
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
	r.budget.Store(p.Requests)
	r.endAt.Store(int64(pace.Never))
	if p.Duration > 0 {
		r.endAt.Store(int64(p.Duration))
	}
	var recorders []*record.Recorder
	for i := range p.Threads {
		recorders = append(recorders, record.New(record.Options{
			Open: p.Pace.Open(), End: &r.endAt, Timeout: p.Timeout, Endpoints: len(compiled.Endpoints),
			Points: p.Points, Random: random.New(p.Seed, uint64(i)),
			Handshakes: compiled.Origin.Scheme == "https", Streams: protocols[p.Protocol].streams,
		}))
	}
	r.total = record.NewTotal(recorders)
	return r, nil
}

// execute runs the threads to their end.
func (r *run) execute(ctx context.Context) (*Result, error) {
	if err := r.await(ctx, openAhead); err != nil {
		return nil, err
	}
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
	err = r.unreachable()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("load: ended before a connection was made: %w", context.Cause(ctx))
	}
	if err == nil {
		err = r.await(ctx, 0)
	}
	if err != nil {
		r.endAt.Store(0)
		r.start(time.Now())
		running.Wait()
		return nil, err
	}
	at := time.Now()
	if !r.plan.StartAt.IsZero() {
		at = r.plan.StartAt
	}
	r.start(at)
	c := newCollector(r)
	over := make(chan struct{})
	interrupted := context.AfterFunc(ctx, r.stop)
	var watching sync.WaitGroup
	watching.Go(func() { c.collect(over) })
	watching.Go(func() { r.watched.watch(r.now, over) })
	running.Wait()
	interrupted()
	close(over)
	watching.Wait()
	result := c.result(usage)
	result.Server = r.watched.result()
	return result, nil
}

// openAhead is how long before StartAt connections are opened. A server may close
// connections that are idle for longer.
const openAhead = 5 * time.Second

// await waits until shortly before StartAt. It returns an error if StartAt has passed.
func (r *run) await(ctx context.Context, ahead time.Duration) error {
	at := r.plan.StartAt
	if at.IsZero() {
		return nil
	}
	left := time.Until(at)
	if left < 0 {
		return &StartError{At: at, Late: -left}
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("load: ended before the start: %w", context.Cause(ctx))
	case <-time.After(left - ahead):
		return nil
	}
}

// A StartError reports that nothing was sent because StartAt passed before the connections
// were open.
type StartError struct {
	At   time.Time
	Late time.Duration // how long ago At was
}

func (e *StartError) Error() string {
	return fmt.Sprintf("load: the start at %s was %.1f s ago, before the connections were open", e.At.Format(time.RFC3339), e.Late.Seconds())
}

// unreachable returns an error if none of the first connections could be made.
func (r *run) unreachable() error {
	if r.plan.NoKeepAlive {
		return nil
	}
	all := r.total.Counts()
	if all.Made > 0 {
		return nil
	}
	kind, err, ok := all.Failures.First()
	if !ok {
		return nil
	}
	return &UnreachableError{Kind: kind.String(), Server: r.server,
		Reason: strings.TrimPrefix(err.Error(), r.server+": "), Err: err, CertificateRefused: failure.CertificateRefused(err)}
}

// An UnreachableError reports that no connection to the server could be made, so
// that nothing was sent.
type UnreachableError struct {
	Kind   string // a key of a Result's Errors
	Server string // host and port
	Reason string
	Err    error // cause of the first failure

	CertificateRefused bool // as in a Result
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("load: no connection to %s can be made: %s", e.Server, e.Reason)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// newThreads returns the senders: loops for plain HTTP/1.1 where the system has
// them, else workers.
func (r *run) newThreads() ([]thread, error) {
	config := r.tls()
	if config == nil && r.plan.Protocol == HTTP1 {
		if threads, err := r.newLoops(); threads != nil || err != nil {
			return threads, err
		}
	}
	newLine := func() line.Line { return protocols[r.plan.Protocol].newLine(r.server, config) }
	threads := make([]thread, r.plan.Threads)
	for i := range threads {
		threads[i] = newWorkers(r, i, newLine)
	}
	return threads, nil
}

// tls returns the configuration of TLS; nil if the origin is not https.
func (r *run) tls() *tls.Config {
	if r.program.Origin.Scheme != "https" {
		return nil
	}
	config := r.plan.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = r.program.Origin.Host
	}
	return config
}
