package watch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/lab/results"
)

const (
	pollTimeout = time.Second
	countEvery  = time.Second // goroutines, if another page counts them
)

// A goService polls a Go service for its runtime statistics. It has its own
// goroutine, so a service that does not respond delays no sample.
type goService struct {
	root   string // /debug/vars, /metrics and /debug/pprof are below it
	client *http.Client
	meter  *machine.Meter
	last   atomic.Pointer[goState] // nil until it has answered

	marks   chan mark
	cancel  context.CancelFunc
	stopped chan struct{}

	// Owned by the goroutine until it has stopped.
	source      *goSource // the one that has answered; nil until one has
	noIndex     bool      // the number of goroutines is not available
	goroutines  int       // the last known number, at countedAt
	countedAt   time.Time
	load        goLoad
	asked, lost int   // requests, and those of them without a response
	failure     error // of the last lost request
}

// goRoot returns the URL below which /debug/vars and the others are, given that
// URL or one of those below it. The result has no slash at its end.
func goRoot(u string) string {
	u = strings.TrimRight(u, "/")
	for _, known := range []string{"/debug/pprof", "/debug/vars", "/debug", "/metrics"} {
		if root, ok := strings.CutSuffix(u, known); ok {
			return root
		}
	}
	return u
}

// startGoService polls until stop, and adds the cost to a meter.
func startGoService(at string, meter *machine.Meter) *goService {
	ctx, cancel := context.WithCancel(context.Background())
	transport := trusting()
	transport.MaxConnsPerHost, transport.DisableCompression = 1, true
	g := &goService{
		root:    goRoot(at),
		client:  &http.Client{Transport: transport},
		meter:   meter,
		marks:   make(chan mark),
		cancel:  cancel,
		stopped: make(chan struct{}),
	}
	go g.run(ctx)
	return g
}

func (g *goService) stop() {
	g.cancel()
	<-g.stopped
	g.client.CloseIdleConnections()
}

func (g *goService) run(ctx context.Context) {
	defer close(g.stopped)
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-g.marks:
			var now *goState
			g.meter.Measure(func() { now = g.poll(ctx) })
			g.load.mark(m.begins, now)
			close(m.answered)
		case <-next.C:
			g.meter.Measure(func() { g.poll(ctx) })
		}
		next.Reset(g.every())
	}
}

func (g *goService) every() time.Duration {
	if g.source == nil {
		return pollEvery
	}
	return g.source.every
}

// poll asks once and returns the response, or nil. Without a response the last
// state does not change.
func (g *goService) poll(ctx context.Context) *goState {
	limited, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	g.asked++
	state, err := g.state(limited)
	if err != nil {
		if ctx.Err() == nil {
			g.lost++
			g.failure = err
		}
		return nil
	}
	state.follow(g.last.Load())
	g.load.add(state)
	g.last.Store(state)
	return state
}

// state asks the source that has answered before, or all of them in turn.
func (g *goService) state(ctx context.Context) (*goState, error) {
	if g.source != nil {
		return g.from(ctx, g.source)
	}
	var failures []error
	for i := range goSources {
		state, err := g.from(ctx, &goSources[i])
		if err == nil {
			g.source = &goSources[i]
			return state, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

func (g *goService) from(ctx context.Context, source *goSource) (*goState, error) {
	state := new(goState)
	if err := g.get(ctx, source.path, func(r io.Reader) error { return source.read(r, state) }); err != nil {
		return nil, err
	}
	if state.goroutines == 0 {
		state.goroutines = g.countGoroutines(ctx)
	}
	return state, nil
}

// countGoroutines asks only every countEvery, and returns the last response.
func (g *goService) countGoroutines(ctx context.Context) int {
	if now := time.Now(); !g.noIndex && now.Sub(g.countedAt) >= countEvery {
		err := g.get(ctx, "/debug/pprof/", func(r io.Reader) (err error) {
			g.goroutines, err = readIndex(r)
			return err
		})
		g.countedAt = now
		g.noIndex = err != nil && ctx.Err() == nil // its other responses remain valid
	}
	return g.goroutines
}

// get reads the body of a page.
func (g *goService) get(ctx context.Context, path string, read func(io.Reader) error) error {
	const most = 32 << 20
	req, err := http.NewRequestWithContext(ctx, "GET", g.root+path, nil)
	if err != nil {
		return err
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, most)
	if resp.StatusCode != http.StatusOK {
		io.Copy(io.Discard, io.LimitReader(body, 64<<10)) // lets the connection be used again
		return fmt.Errorf("GET %s: %s", req.URL, resp.Status)
	}
	if err := read(body); err != nil {
		return fmt.Errorf("GET %s: %w", req.URL, err)
	}
	io.Copy(io.Discard, body)
	return nil
}

// used returns the work of the runtime during the load, or nil if it is not
// known. It must be called after stop.
func (g *goService) used() *results.GoUsage { return g.load.usage() }

// warnings returns a warning for each kind of request without a response. It
// must be called after stop.
func (g *goService) warnings() (all []string) {
	switch {
	case g.lost > 0 && g.last.Load() == nil:
		all = append(all, fmt.Sprintf("the Go service does not report its runtime: %s; set service.go to the URL "+
			"below which it serves /debug/vars, /metrics or /debug/pprof",
			strings.ReplaceAll(g.failure.Error(), "\n", "; ")))
	case g.lost > 0:
		all = append(all, fmt.Sprintf("the Go service left %d of %d questions about its runtime without a response; "+
			"the last: %v", g.lost, g.asked, g.failure))
		if at := g.load.unanswered(); at != "" {
			all = append(all, fmt.Sprintf("the Go service did not respond when the load %s: its collections and "+
				"allocations are not known", at))
		}
	}
	if g.load.missed {
		all = append(all,
			"the collector ran more often than its pauses were asked for: the longest of them may be missing")
	}
	return all
}

// trusting accepts any certificate of the service. The load decides whether to
// trust it.
func trusting() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
}
