package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/weirhq/weir/load/target"
)

// A Plan says what to send, when, for how long and by what. Targets is the one
// field that has to be set; what the zero of each other field means stands
// beside it. Run does not change it, and several Runs may share it.
type Plan struct {
	// Targets are sent in turn. All belong to one origin: scheme, host and port.
	Targets []target.Target

	// Pace says when requests are due. With the zero Pace the loop is closed.
	Pace Pace

	// Connections are opened at the start; 0 is 64, but no more than Requests. In the open loop more are
	// opened when all are in use and a request is due, up to MaxConnections; 0
	// there is 10,000, or as many as files and ports allow when that is less.
	Connections, MaxConnections int

	// Pipeline is how many requests may be under way on one connection: 0 is 1.
	// With HTTP/2 these are streams.
	Pipeline int

	// Backlog bounds how many requests that are due may wait for a connection
	// in the open loop. 0 sets no bound: all are sent as soon as they can be.
	// What comes beyond the bound is not sent, and counted as skipped; with a
	// negative Backlog nothing waits.
	Backlog int

	// The run ends after Duration or after Requests were sent, whichever comes
	// first, or with the Pace's last stage. If none of them says so, it takes 10
	// seconds.
	Duration time.Duration
	Requests int64

	// Timeout is how long an answer, or a connection, may take: 0 is 10 s. After
	// the end, answers that are still due are waited for as long.
	Timeout time.Duration

	// NoKeepAlive has each request go over a connection of its own.
	NoKeepAlive bool

	// Protocol is spoken with the server; the zero Protocol is HTTP/1.1.
	Protocol Protocol

	// TLS is for https. Nil verifies the server as crypto/tls does.
	TLS *tls.Config

	// Threads send; 0 is one for each CPU that the process may use, but no more
	// than Connections.
	Threads int

	// Process is the id of the server's process, whose CPU, memory, files and
	// threads are sampled. 0 looks for it when the address is this machine's,
	// and a negative one does not.
	Process int

	// Seed makes what is random in templates and arrivals repeatable. 0 chooses
	// one at random; the Result has it.
	Seed uint64

	// Folder is where relative names of files in templates are; "" is the working
	// folder.
	Folder string

	// Points is how many of the Result's Points there are at most; 0 is none.
	// They take about 60 bytes for each thread.
	Points int

	// Progress, if not nil, is called by one goroutine every 100 ms, and once at
	// the end. What it is given is its own.
	Progress func(Progress)

	fitted bool // MaxConnections was not set: it may be less
}

// A Protocol is how requests are carried.
type Protocol uint8

// The protocols. HTTP2 over http is spoken without an upgrade (h2c, "with prior
// knowledge").
const (
	HTTP1 Protocol = iota
	HTTP2
)

func (p Protocol) String() string {
	if p == HTTP2 {
		return "HTTP/2"
	}
	return "HTTP/1.1"
}

// The settings that stand for a zero.
const (
	defaultConnections    = 64
	defaultMaxConnections = 10_000
	defaultTimeout        = 10 * time.Second
	defaultDuration       = 10 * time.Second
)

// withDefaults returns the plan with every zero that stands for something
// replaced by it, or what is wrong with the plan.
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
	} {
		if n.value < 0 {
			return p, fmt.Errorf("load: the plan's %s is %d; it may not be negative", n.name, n.value)
		}
	}
	if err := p.Pace.check(); err != nil {
		return p, err
	}
	if p.Protocol > HTTP2 {
		return p, fmt.Errorf("load: the plan's Protocol is %d; there are HTTP1 and HTTP2", p.Protocol)
	}
	setZero(&p.Timeout, defaultTimeout)
	setZero(&p.Seed, 1+uint64(rand.Uint32())) // short enough to be typed
	setZero(&p.Pipeline, 1)
	if p.NoKeepAlive {
		p.Pipeline = 1
	}
	p.setConnections()
	setZero(&p.Threads, runtime.GOMAXPROCS(0))
	p.Threads = min(p.Threads, p.MaxConnections)
	if length := p.Pace.length(); length > 0 && (p.Duration == 0 || length < p.Duration) {
		p.Duration = length
	}
	if p.Duration == 0 && p.Requests == 0 {
		p.Duration = defaultDuration
	}
	return p, nil
}

// setConnections makes MaxConnections what holds in either loop.
func (p *Plan) setConnections() {
	if !p.Pace.open() {
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
