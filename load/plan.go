package load

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/flow"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/replay"
	"github.com/weirhq/weir/load/target"
)

// A Plan describes a run. Targets is required. The zero value of every other field is
// a default, which its comment names. Run does not change a Plan, and several Runs may
// share it.
type Plan struct {
	// Targets are sent in turn, unless there is a Log. All must have the same origin: scheme, host and port.
	Targets []target.Target

	// Pace is the schedule of the requests. With the zero Pace the loop is closed.
	Pace pace.Pace

	// Log, if not nil, has the requests, which are due when they were in it. Then there is one Target, whose origin and
	// header all requests have, and Pace is [pace.OfLog]. Without Duration and Requests the run ends with the log. A Log
	// is read once: the plan can be run once, and Run closes it.
	Log *replay.Log

	// Flows, if not nil, is what users do. Each connection is a user, or each stream that may be under way on one. Then
	// there is one Target, which has the server, a prefix of the paths and the header of all requests. The loop is closed.
	Flows *flow.Page

	// Connections are opened at the start; 0 is 64, but at most Requests. The open
	// loop opens more if a request is due and all are in use, up to MaxConnections; 0
	// is 10,000, or fewer if open files or ports limit them.
	Connections, MaxConnections int

	// Pipeline is the number of requests that may be under way on one connection; 0
	// is 1. With HTTP/2 they are streams. Over HTTP/1.1 those behind a response with
	// Connection: close are sent again, and count from the first time.
	Pipeline int

	// Backlog is how many requests may wait for a connection in the open loop. 0 is no
	// limit: all are sent as soon as possible. Requests beyond the limit are not sent,
	// and count as skipped. With a negative Backlog no request waits.
	Backlog int

	// The run ends after Duration, after Requests were sent, or with the last stage of
	// the Pace, whichever is first. Without any of them it ends after 10 seconds.
	Duration time.Duration
	Requests int64

	// WarmUp is how long requests are sent before Duration and Requests begin to count. They are in no measurement, except
	// the Result's WarmUp. The open loop then has the rate with which the Pace begins, and a Log its first requests.
	WarmUp time.Duration

	// Timeout limits a response, and the opening of a connection; 0 is 10 s. It is also
	// how long the run waits for responses after its end.
	Timeout time.Duration

	// NoKeepAlive sends each request over a new connection.
	NoKeepAlive bool

	// Protocol is the protocol of the requests; the zero Protocol is HTTP/1.1.
	Protocol Protocol

	// Unix is the path of a socket that the requests are sent to, in place of the address of the Targets' origin; "" sends
	// them there. Host and the name for TLS are those of the origin.
	Unix string

	// TLS is for https. Nil is the default of crypto/tls, which verifies the server.
	TLS *tls.Config

	// Share is the part of the plan that the run executes. It divides the schedule,
	// Requests, Connections, MaxConnections, Backlog, Points and the lines of files. It
	// needs StartAt and Seed, which all shares have in common.
	Share Share

	// StartAt is when the run begins, with its warm-up. The connections are opened shortly before. The zero
	// time is as soon as they are open.
	StartAt time.Time

	// Threads is the number of threads that send; 0 is one per CPU that the process may
	// use, but at most MaxConnections.
	Threads int

	// Process is the id of the server's process. Its CPU, memory, files and threads are
	// sampled. 0 finds the process if the address belongs to this machine. With a
	// negative id no process is sampled.
	Process int

	// Seed determines the random values of templates and the random arrivals. 0 is a
	// random seed, which the Result has.
	Seed uint64

	// Warnings are about the making of the plan. The Result has them, too.
	Warnings []string

	// Find returns the path of a file that a template names. Nil opens files by their
	// names.
	Find func(name string) (path string, err error)

	// Expect are the expectations of responses. A response that does not meet one counts as failed. Empty accepts every response.
	Expect []expect.Expectation

	// Points limits the Result's Points; 0 is none. Each needs about 60 bytes per
	// thread.
	Points int

	// Each, if not nil, gets every request that has ended, was abandoned at the end, or could not be sent because its
	// connection failed, in any order. It is called from one goroutine, which the threads do not wait for: if it is too
	// slow, requests are left out, and the Result has their number. started is the origin of their times. Each does not
	// keep the rows.
	Each func(started time.Time, rows []Row)

	// Progress, if not nil, is called every ProgressEvery and once at the end, always from the
	// same goroutine. It may keep its argument. A ProgressEvery of 0 is 100 ms; a longer time
	// needs less of a CPU.
	Progress      func(Progress)
	ProgressEvery time.Duration

	// Snapshot, if not nil, is called each second with the measurements so far, from the
	// goroutine of Progress. Its Series begins after the Series of the last call. Requests
	// under way, Points, Generator and Server are left out. Snapshot may keep its
	// argument.
	Snapshot func(*Result)

	fitted bool         // MaxConnections was not set, and may be reduced
	shared *ShareResult // describes the whole plan; nil without a Share

	onGoroutines bool // tests do not use the loops that the system may have
}

// A Row is a request for Plan.Each. Its times count from the start of the run.
type Row = record.Row

// The defaults of zero fields.
const (
	defaultConnections    = 64
	defaultMaxConnections = 10_000
	defaultTimeout        = 10 * time.Second
	defaultDuration       = 10 * time.Second
)

// withDefaults returns the plan with the defaults set, or an error if the plan is
// invalid.
func (p Plan) withDefaults() (Plan, error) {
	if len(p.Targets) == 0 {
		return p, errors.New("load: the plan has no Targets")
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"Connections", int64(p.Connections)}, {"MaxConnections", int64(p.MaxConnections)},
		{"Pipeline", int64(p.Pipeline)}, {"Threads", int64(p.Threads)}, {"Points", int64(p.Points)},
		{"Duration", int64(p.Duration)}, {"Requests", p.Requests}, {"Timeout", int64(p.Timeout)},
		{"WarmUp", int64(p.WarmUp)},
		{"ProgressEvery", int64(p.ProgressEvery)},
	} {
		if n.value < 0 {
			return p, fmt.Errorf("load: the plan's %s is %d; it may not be negative", n.name, n.value)
		}
	}
	p.Expect = expect.Sort(p.Expect)
	if err := p.Pace.Check(); err != nil {
		return p, fmt.Errorf("load: %w", err)
	}
	if (p.Log != nil) != (p.Pace.Speed > 0) || p.Log != nil && len(p.Targets) != 1 {
		return p, errors.New("load: a plan with a Log has the Pace of a log and one target, and others have neither")
	}
	if p.Flows != nil && (len(p.Flows.Flows) == 0 || len(p.Targets) != 1 || p.Pace.Open() || p.Protocol == HTTP1 && p.Pipeline > 1) {
		return p, errors.New("load: a plan with Flows has at least one, one target, a closed loop, and no pipeline of HTTP/1.1")
	}
	if !p.Protocol.known() {
		return p, fmt.Errorf("load: the plan's Protocol is %d, which is not known", uint8(p.Protocol))
	}
	if p.WarmUp > 0 && len(p.Pace.Stages) > 0 && p.Pace.Stages[0].From == 0 {
		return p, errors.New("load: the warm-up has the rate with which the pace begins, and that is 0; begin with a higher one")
	}
	setZero(&p.Timeout, defaultTimeout)
	setZero(&p.Pipeline, 1)
	if p.NoKeepAlive {
		p.Pipeline = 1
	}
	p.setConnections()
	if length := p.Pace.Length(); length > 0 && (p.Duration == 0 || length < p.Duration) {
		p.Duration = length
	}
	if p.Duration == 0 && p.Requests == 0 && p.Log == nil {
		p.Duration = defaultDuration
	}
	if err := p.divide(); err != nil {
		return p, err
	}
	setZero(&p.Seed, 1+uint64(rand.Uint32())) // short enough to be typed
	setZero(&p.Threads, machine.Processors())
	p.Threads = min(p.Threads, p.MaxConnections)
	if p.Requests > 0 { // each thread sends one or more
		p.Threads = int(min(int64(p.Threads), p.Requests))
	}
	return p, nil
}

// setConnections sets Connections and MaxConnections for both loops.
func (p *Plan) setConnections() {
	if !p.Pace.Open() {
		setZero(&p.Connections, defaultConnections)
		if p.Requests > 0 {
			p.Connections = int(min(int64(p.Connections), p.Requests))
		}
		p.MaxConnections = p.Connections
		return
	}
	p.fitted = p.MaxConnections == 0
	setZero(&p.Connections, defaultConnections)
	setZero(&p.MaxConnections, max(defaultMaxConnections, p.Connections))
	p.Connections = min(p.Connections, p.MaxConnections)
}

func setZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// divide reduces the numbers of the plan to those of its share.
func (p *Plan) divide() error {
	if p.Share == (Share{}) {
		return nil
	}
	switch {
	case !p.Share.valid():
		return fmt.Errorf("load: there is no share %v of a plan", p.Share)
	case p.StartAt.IsZero():
		return errors.New("load: the plan has a Share and no StartAt, by which all shares start together")
	case p.Seed == 0:
		return errors.New("load: the plan has a Share and no Seed; all shares need the same")
	}
	p.shared = &ShareResult{
		Share: p.Share, StartAt: p.StartAt, Connections: p.Connections, MaxConnections: p.MaxConnections,
		DurationSeconds: p.Duration.Seconds(), Requests: p.Requests, Backlog: p.Backlog, NoKeepAlive: p.NoKeepAlive,
	}
	if n := int64(p.Share.Of); int64(p.Connections) < n || 0 < p.Requests && p.Requests < n {
		return fmt.Errorf("load: a plan with %d connections and %s cannot have %d shares", p.Connections,
			limit(p.Requests), n)
	}
	i, n := p.Share.Number-1, p.Share.Of
	p.Connections, p.MaxConnections = share(p.Connections, i, n), share(p.MaxConnections, i, n)
	p.Requests = share(p.Requests, i, n)
	p.Points = share(p.Points, i, n)
	p.Backlog = shareBacklog(p.Backlog, i, n)
	return nil
}

// share returns part i of n that is divided into so many parts, which differ by 1 at most.
func share[N int | int64](n N, i, parts int) N {
	return (n - N(i) + N(parts) - 1) / N(parts)
}

// shareBacklog is share for a Backlog: its 0 is no limit.
func shareBacklog(n, i, parts int) int {
	if n <= 0 {
		return n
	}
	return cmp.Or(share(n, i, parts), -1)
}

// limit returns a limit of requests as text.
func limit(n int64) string {
	if n == 0 {
		return "any number of requests"
	}
	return requests(n)
}
