package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestOverload sends many times what a backend can take: it never sees more at
// once than it should, who is let in is served as fast as ever, and who is not
// knows within the waiting time.
func TestOverload(t *testing.T) {
	limit, clients := inSoak(20, 100), inSoak(400, 2000)
	needFiles(t, uint64(2*clients+500))
	const latency, wait = 100 * time.Millisecond, 80 * time.Millisecond
	var inside, most atomic.Int64
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := inside.Add(1)
		defer inside.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		time.Sleep(latency)
	}))
	defer back.Close()
	p := door(t, fmt.Sprintf("log: {events: completed}\nlimits: {in_flight: %d, queue: {length: %d, wait: %v}}\n", limit, limit, wait)+allTo(back.URL))
	addr := strings.TrimPrefix(p.url(), "http://")

	var mu sync.Mutex
	var admitted, refused []time.Duration
	var failed outcomes
	ctx, stop := context.WithTimeout(t.Context(), inSoak(2*time.Second, 20*time.Second))
	defer stop()
	var running sync.WaitGroup
	for range clients {
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			defer c.Close()
			r := bufio.NewReader(c)
			for ctx.Err() == nil {
				began := time.Now()
				status, _, err := exchange(c, r)
				took := time.Since(began)
				mu.Lock()
				switch {
				case status == 200 && err == nil:
					admitted = append(admitted, took)
				case status == 503 && err == nil:
					refused = append(refused, took)
				default:
					failed.fail(fmt.Errorf("%d %w", status, err))
				}
				mu.Unlock()
				pause(ctx, 200*time.Millisecond) // else the clients' own CPU is what is measured
			}
		})
	}
	running.Wait()
	t.Logf("%d admitted, p99 %v; %d refused, p99 %v; the backend saw %d at once",
		len(admitted), p99(admitted), len(refused), p99(refused), most.Load())
	if failed.failed.Load() > 0 {
		t.Errorf("%d requests failed: %v", failed.failed.Load(), failed.why)
	}
	if len(admitted) == 0 || len(refused) == 0 {
		t.Fatal("want some to be admitted and some to be refused")
	}
	if most.Load() > int64(limit) {
		t.Errorf("the backend saw %d requests at once, want %d at most", most.Load(), limit)
	}
	counted := metric(t, p.admin(), "weir_limit_refusals_total", `limit="queue"`)
	if counted != float64(len(refused)) {
		t.Errorf("%v refusals are counted, %d were received", counted, len(refused))
	}
	if !soaking { // beside other tests, times say what those are doing
		return
	}
	if got := p99(admitted); got > 2*latency+slack {
		t.Errorf("p99 of those admitted is %v, want %v at most", got, 2*latency)
	}
	if got := p99(refused); got > wait+slack {
		t.Errorf("p99 of those refused is %v, want %v at most", got, wait)
	}
}

// TestSlowUpstream has a route whose upstream takes 10 s be asked 5,000 times a
// second: no more than the limits allow are in flight and wait, the others know
// at once, and who asks another route notices nothing.
func TestSlowUpstream(t *testing.T) {
	const inFlight, queue, wait = 100, 50, 200 * time.Millisecond
	perSecond, clients := inSoak(500, 5000), inSoak(200, 400)
	needFiles(t, uint64(2*clients+500))
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, fmt.Sprintf("log: {events: completed}\nupstreams: {site: {servers: [%q]}}\nroutes:\n"+
		"- {match: '/slow', to: site, limits: {in_flight: %d, queue: {length: %d, wait: %v}}}\n"+
		"- {match: '/{path...}', to: site}\n", b.url(), inFlight, queue, wait))
	addr := strings.TrimPrefix(p.url(), "http://")
	stop := goodClients(t, p)
	pause(t.Context(), inSoak(100*time.Millisecond, 10*time.Second))
	before := stop()

	stop = goodClients(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), inSoak(2*time.Second, 30*time.Second))
	defer cancel()
	var y outcomes
	var running sync.WaitGroup
	turns := make(chan time.Time, 100) // each is of one request
	running.Go(func() { takeTurns(ctx, turns, perSecond) })
	for range clients {
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		defer context.AfterFunc(ctx, func() { c.Close() })()
		running.Go(func() { askSlow(ctx, c, turns, &y) })
	}
	var inside, waiting float64
	for ctx.Err() == nil {
		inside = max(inside, metric(t, p.admin(), "weir_limit_in_use", `limit="in_flight"`, `route="/slow"`))
		waiting = max(waiting, metric(t, p.admin(), "weir_limit_in_use", `limit="queue"`, `route="/slow"`))
		pause(ctx, 100*time.Millisecond)
	}
	running.Wait()
	during := stop()
	t.Logf("p99 of good requests: %v before (of %d), %v meanwhile (of %d); %d slow ones answered, %d refused, p50 %v, p99 %v, %d failed; %v in flight, %v waiting at most",
		p99(before), len(before), p99(during), len(during), y.ok.Load(), y.refused.Load(), quantile(y.refusedAfter, 50), p99(y.refusedAfter), y.failed.Load(), inside, waiting)
	if y.failed.Load() > 0 {
		t.Errorf("%d requests were neither answered nor refused: %v", y.failed.Load(), y.why)
	}
	if inside > inFlight || waiting > queue || inside == 0 {
		t.Errorf("%v were in flight and %v waiting, want %d and %d at most", inside, waiting, inFlight, queue)
	}
	if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="queue"`, `route="/slow"`); y.refused.Load() == 0 || n < float64(y.refused.Load()) {
		t.Errorf("%v refusals are counted, %d were received", n, y.refused.Load())
	}
	if soaking {
		checkUnmoved(t, before, during)
		if got := p99(y.refusedAfter); got > 5*time.Millisecond {
			t.Errorf("p99 of refusals is %v, want 5ms at most", got)
		}
	}
}

// takeTurns sends so many turns a second until ctx ends, and closes the channel.
// A turn that nobody can take is lost.
func takeTurns(ctx context.Context, turns chan<- time.Time, perSecond int) {
	defer close(turns)
	const step = 2 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	began, sent := time.Now(), 0
	for ctx.Err() == nil {
		for due := int(time.Since(began).Seconds() * float64(perSecond)); sent < due; sent++ {
			select {
			case turns <- time.Now():
			default:
			}
		}
		<-tick.C
	}
}

// askSlow asks for what takes 10 s, at each turn that it gets. Closing c, when
// ctx ends, ends what is under way.
func askSlow(ctx context.Context, c net.Conn, turns <-chan time.Time, y *outcomes) {
	defer c.Close()
	r := bufio.NewReader(c)
	for range turns {
		began := time.Now()
		resp, err := exchangeAt(c, r, "/slow?latency=10s")
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			y.fail(err)
			return
		case resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "":
			y.refuse(time.Since(began))
		case resp.StatusCode == 200:
			y.ok.Add(1)
		default:
			y.fail(fmt.Errorf("%s, Retry-After: %s", resp.Status, resp.Header.Get("Retry-After")))
		}
	}
}
