package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/load/internal/dispatch"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/recorded"
	"github.com/weirhq/weir/load/internal/send"
	"github.com/weirhq/weir/load/internal/users"
)

// Run executes the plan and returns the measurements.
//
// When ctx is done, Run sends nothing more, waits up to a second for the responses
// under way, and returns a Result that is marked as interrupted. Run returns an
// error, and sends nothing, if the plan is invalid, if its connections need more
// files or ports than the machine has, or if none of the first connections can be
// made.
//
// Meanwhile runtime.GOMAXPROCS is higher by one for each thread, because a thread
// that waits in the kernel keeps its P.
func Run(ctx context.Context, p Plan) (*Result, error) {
	e, err := newExecution(ctx, p)
	if err != nil {
		return nil, err
	}
	defer machine.LeaseProcessors(e.plan.Threads)()
	defer e.watched.close()
	return e.execute(ctx)
}

// Check returns the error of [Run] for an invalid plan. It reads the files of templates.
func (p Plan) Check() error {
	p, err := p.withDefaults()
	if err == nil {
		_, _, _, err = p.compile()
	}
	return err
}

func newExecution(ctx context.Context, p Plan) (*execution, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	compiled, frame, flows, err := p.compile()
	if err != nil {
		return nil, err
	}
	if p.shared != nil {
		compiled.Divide(p.Share.Number-1, p.Share.Of)
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	server, err := p.server(ctx, compiled.Origin.Address())
	if err != nil {
		return nil, err
	}
	e := &execution{plan: p, program: compiled, flows: flows, Run: send.NewRun(send.Settings{
		Server: server, Threads: p.Threads, Pipeline: p.Pipeline, NoKeepAlive: p.NoKeepAlive, Timeout: p.Timeout,
		Duration: p.Duration, WarmUp: p.WarmUp, Expect: p.Expect,
	})}
	e.feed = newLogFeed(&e.plan, frame)
	if e.watched, err = findServer(p.Process, server); err != nil {
		return nil, err
	}
	e.budget.Store(p.Requests)
	if p.Each != nil {
		e.rows = record.NewRows()
	}
	var recorders []*record.Recorder
	for i := range p.Threads {
		recorders = append(recorders, record.New(record.Options{
			Open: p.Pace.Open(), End: &e.EndAt, Timeout: p.Timeout, Endpoints: len(compiled.Endpoints),
			Expected: e.reasons(), Rows: e.rows,
			Points: p.Points, Random: random.New(p.Seed, uint64(i)),
			Handshakes: compiled.Origin.Scheme == "https", Streams: protocols[p.Protocol].streams,
		}))
	}
	e.total = record.NewTotal(recorders)
	return e, nil
}

// execute runs the threads to their end.
func (e *execution) execute(ctx context.Context) (*Result, error) {
	if e.flows != nil {
		if err := e.SetUp(ctx, e.flows, e.tls(), e.plan.Protocol == HTTP1); err != nil {
			return nil, err
		}
	}
	if err := e.await(ctx, openAhead); err != nil {
		return nil, err
	}
	threads, err := e.newThreads()
	if err != nil {
		return nil, err
	}
	stopFeed := e.feed.start()
	defer stopFeed()
	running := e.Open(ctx, threads)
	err = e.unreachable()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("load: ended before a connection was made: %w", context.Cause(ctx))
	}
	if err == nil {
		err = e.await(ctx, 0)
	}
	if err != nil {
		e.Fail()
		running()
		return nil, err
	}
	at := e.measuredFrom()
	e.began = at.Round(0)
	e.Start(at)
	c := newCollector(e)
	over := make(chan struct{})
	interrupted := context.AfterFunc(ctx, e.Stop)
	var watching sync.WaitGroup
	watching.Go(func() { c.collect(over) })
	if e.rows != nil {
		watching.Go(func() { e.rows.Read(func(rows []Row) { e.plan.Each(e.began, rows) }) })
	}
	watching.Go(func() {
		select {
		case <-over:
		case <-time.After(-e.Now()): // after the warm-up
			e.watched.watch(e.Now, over)
		}
	})
	usage := running()
	stopFeed()
	interrupted()
	close(over)
	if e.rows != nil {
		e.rows.Close(e.total.Recorders)
	}
	watching.Wait()
	result := c.result(usage)
	result.Server = e.watched.result()
	return result, nil
}

// measuredFrom returns the end of the warm-up.
func (e *execution) measuredFrom() time.Time {
	at := time.Now()
	if !e.plan.StartAt.IsZero() {
		at = e.plan.StartAt
	}
	return at.Add(e.plan.WarmUp)
}

// openAhead is how long before StartAt connections are opened. A server may close
// connections that are idle for longer.
const openAhead = 5 * time.Second

// await waits until shortly before StartAt. It returns an error if StartAt has passed.
func (e *execution) await(ctx context.Context, ahead time.Duration) error {
	at := e.plan.StartAt
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
	return fmt.Sprintf("load: the start at %s was %.1f s ago, before the setup had ended and the connections were open",
		e.At.Format(time.RFC3339), e.Late.Seconds())
}

// A SetupError reports that a step of the setup of flows has failed, so that no load was sent.
type SetupError = users.SetupError

// unreachable returns an error if none of the first connections could be made.
func (e *execution) unreachable() error {
	if e.plan.NoKeepAlive {
		return nil
	}
	all := e.total.Counts()
	if all.Made > 0 {
		return nil
	}
	kind, err, ok := all.Failures.First()
	if !ok {
		return nil
	}
	return &UnreachableError{
		Kind: kind.String(), Server: e.Server, Reason: strings.TrimPrefix(err.Error(), e.Server+": "), Err: err,
		CertificateRefused: failure.CertificateRefused(err),
	}
}

// newThreads returns the threads of the protocol.
func (e *execution) newThreads() ([]send.Thread, error) {
	config := e.tls()
	if e.plan.Protocol == HTTP1 && e.flows == nil {
		return send.NewHTTP1(e.parts(e.plan.NoKeepAlive), config, e.plan.onGoroutines)
	}
	return send.NewWorkers(e.parts(false), config, e.plan.Protocol == HTTP1), nil
}

// parts divides the run among its threads. perRequest is that of their dispatchers.
func (e *execution) parts(perRequest bool) []send.Part {
	p := &e.plan
	parts := make([]send.Part, p.Threads)
	for i := range parts {
		number, of := p.Share.part(i, p.Threads)
		o := dispatch.Options{Pace: p.Pace, Part: number, Parts: of, Seed: p.Seed, WarmUp: p.WarmUp,
			Backlog: shareBacklog(p.Backlog, i, p.Threads), PerRequest: perRequest}
		log := e.feed.queue(number, of)
		script := send.Script(log)
		if log != nil {
			o.Asking, o.Taking = recorded.Asking{Queue: log}, recorded.Taking{Queue: log}
		} else {
			script = e.program.Script(p.Seed)
		}
		if p.Requests > 0 {
			o.Requests, o.Budget = share(p.Requests, i, p.Threads), &e.budget
		}
		parts[i] = send.Part{
			Run:      e.Run,
			Rec:      e.total.Recorders[i],
			Requests: dispatch.New(o),
			Script:   script,
			Flows:    e.flows,
			Log:      log,
			First:    share(p.Connections, i, p.Threads),
			Most:     share(p.MaxConnections, i, p.Threads),
		}
	}
	return parts
}

// tls returns the configuration of TLS; nil if the origin is not https.
func (e *execution) tls() *tls.Config {
	if e.program.Origin.Scheme != "https" {
		return nil
	}
	config := e.plan.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = e.program.Origin.Host
	}
	return config
}
