package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// TestOverloadKeepsAdmittedRequestsFast sends a multiple of the requests that a backend can serve. The
// backend never has more in flight than the limit, accepted requests are as fast
// as without overload, and the others are refused within the waiting time.
func TestOverloadKeepsAdmittedRequestsFast(t *testing.T) {
	parallel(t)
	limit, clients := inSoak(20, 100), inSoak(400, 2000)
	needFiles(t, uint64(2*clients+500))
	const latency, wait = 100 * time.Millisecond, 80 * time.Millisecond
	var inside, most atomic.Int64
	overloaded := make(chan struct{}) // closed by the first refusal: a busy machine may have too few clients at a time
	refuses := sync.OnceFunc(func() { close(overloaded) })
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := inside.Add(1)
		defer inside.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		time.Sleep(latency)
		select {
		case <-overloaded:
		case <-r.Context().Done():
		}
	}))
	defer back.Close()
	p := door(t, fmt.Sprintf("log: {events: completed}\nlimits: {in_flight: %d, queue: {length: %d, wait: %v}}\n",
		limit, limit, wait)+allTo(back.URL))
	addr := strings.TrimPrefix(p.url(), "http://")

	var mu sync.Mutex
	var admitted, refused []time.Duration
	var failed outcomes
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		select {
		case <-overloaded:
		case <-time.After(patience):
		}
		pause(ctx, inSoak(2*time.Second, 20*time.Second))
		stop()
	}()
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
					refuses()
				default:
					failed.fail(fmt.Errorf("%d %w", status, err))
				}
				mu.Unlock()
				pause(ctx, 200*time.Millisecond) // otherwise the test measures the CPU use of the clients
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
	if !soaking { // other tests disturb the times
		return
	}
	if got := p99(admitted); got > 2*latency+slack {
		t.Errorf("p99 of those admitted is %v, want %v at most", got, 2*latency)
	}
	if got := p99(refused); got > wait+slack {
		t.Errorf("p99 of those refused is %v, want %v at most", got, wait)
	}
}

// TestSlowUpstreamStaysWithinItsLimits sends 5,000 requests per second to a route whose upstream takes
// 10 s. The limits of requests in flight and waiting hold, the others are refused
// immediately, and requests to another route are not affected.
func TestSlowUpstreamStaysWithinItsLimits(t *testing.T) {
	parallel(t)
	const inFlight, queue, wait = 100, 50, 200 * time.Millisecond
	slow := fmt.Sprintf("/slow?latency=%v", inSoak(2*time.Second, 10*time.Second))
	perSecond, clients := inSoak(500.0, 5000), inSoak(200, 400)
	needFiles(t, uint64(2*clients+500))
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	events := filepath.Join(t.TempDir(), "events.log")
	p := door(t, fmt.Sprintf("log: {events: completed, to: %q}\nupstreams: {site: {servers: [%q]}}\nroutes:\n"+
		"- {match: '/slow', to: site, limits: {in_flight: %d, queue: {length: %d, wait: %v}}}\n"+
		"- {match: '/{path...}', to: site}\n", events, b.url(), inFlight, queue, wait))
	addr := strings.TrimPrefix(p.url(), "http://")
	stop := goodClients(t, p)
	pause(t.Context(), inSoak(100*time.Millisecond, 10*time.Second))
	before := stop()

	checkRetryAfter(t, addr, slow, inFlight+queue+1)

	stop = goodClients(t, p)
	flood := make(chan *load.Result, 1)
	ctx, over := context.WithCancel(t.Context())
	defer over()
	go func() {
		defer over()
		r, err := load.Run(ctx, load.Plan{
			Targets: []target.Target{{URL: p.url() + slow}},
			Pace:    pace.Rate(perSecond), Duration: inSoak(2*time.Second, 30*time.Second), Timeout: 2 * patience,
			Connections: clients, MaxConnections: clients, Backlog: -1, Threads: 1, Process: -1,
		})
		if err != nil {
			t.Error(err)
		}
		flood <- r
	}()
	var inside, waiting float64
	for ctx.Err() == nil {
		inside = max(inside, metric(t, p.admin(), "weir_limit_in_use", `limit="in_flight"`, `route="/slow"`))
		waiting = max(waiting, metric(t, p.admin(), "weir_limit_in_use", `limit="queue"`, `route="/slow"`))
		pause(ctx, 100*time.Millisecond)
	}
	y := <-flood
	during := stop()
	if y == nil {
		return
	}
	refused := y.LatencyByStatus["5xx"]
	if refused == nil || y.StatusCodes["503"] != y.Status["5xx"] {
		t.Fatalf("refusals are %v", y.StatusCodes)
	}
	t.Logf("good requests: p50 %v and p99 %v before (of %d), %v and %v meanwhile (of %d); of %d asked for, %d "+
		"slow ones answered, %d refused, p50 %.0f us, p99 %.0f us, %d failed; %v in flight, %v waiting at most",
		quantile(before, 50), p99(before), len(before), quantile(during, 50), p99(during), len(during), y.Asked,
		y.Status["2xx"], refused.Count, refused.P50, refused.P99, y.Failed, inside, waiting)
	if y.Failed > 0 || y.Unanswered > 0 {
		t.Errorf("%d requests failed and %d had no response: %v", y.Failed, y.Unanswered, y.ErrorExamples)
	}
	if inside > inFlight || waiting > queue || inside == 0 {
		t.Errorf("%v were in flight and %v waiting, want %d and %d at most", inside, waiting, inFlight, queue)
	}
	if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="queue"`,
		`route="/slow"`); n < float64(refused.Count) {
		t.Errorf("%v refusals are counted, %d were received", n, refused.Count)
	}
	if soaking {
		checkUnmoved(t, before, during, 99)
		p.signal(syscall.SIGTERM)
		p.wait(0) // its log is complete
		checkRefusals(t, events)
	}
}

// checkRefusals checks that refusals take at most 5 ms by the door's own clock:
// the client's time includes waiting for a core. A request that finds the queue
// full is refused immediately. A queued request is refused when the queue has been
// long for a while and newer requests arrive.
func checkRefusals(t *testing.T, events string) {
	t.Helper()
	const soon = 5 * time.Millisecond
	full, others := refusalTimes(t, events)
	t.Logf("by the door's clock: p99 %v of %d refused at once, p50 %v and p99 %v of %d who waited",
		p99(full), len(full), quantile(others, 50), p99(others), len(others))
	if len(full) == 0 || len(others) == 0 {
		t.Fatal("want refusals of both kinds in the log")
	}
	for who, times := range map[string][]time.Duration{"refused at once": full, "who waited": others} {
		if got := p99(times); got > soon {
			t.Errorf("p99 of those %s is %v, want %v at most", who, got, soon)
		}
	}
}

// refusalTimes returns the times until the refusals in a log, of requests that
// found the queue full and of the others.
func refusalTimes(t *testing.T, events string) (full, others []time.Duration) {
	t.Helper()
	f, err := os.Open(events)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for dec := json.NewDecoder(f); ; {
		var e struct {
			HTTP struct {
				StatusCode int           `json:"status_code"`
				Duration   time.Duration `json:"duration"`
			} `json:"http"`
			Data struct {
				Refused string `json:"refused"`
			} `json:"data"`
		}
		switch err := dec.Decode(&e); {
		case err == io.EOF:
			return full, others
		case err != nil:
			t.Fatal(err)
		case e.HTTP.StatusCode != http.StatusServiceUnavailable:
		case e.Data.Refused == "too many requests in flight and waiting":
			full = append(full, e.HTTP.Duration)
		default:
			others = append(others, e.HTTP.Duration)
		}
	}
}

// checkRetryAfter sends more requests at a time than the limits allow, and checks
// that a refusal has Retry-After.
func checkRetryAfter(t *testing.T, addr, target string, requests int) {
	t.Helper()
	answers := make(chan *http.Response, requests)
	for range requests {
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() {
			for r := bufio.NewReader(c); ; { // until the end of the test: a busy machine sends the first ones one by one
				resp, err := exchangeAt(c, r, target)
				if err != nil {
					return
				}
				if resp.StatusCode == http.StatusServiceUnavailable {
					answers <- resp
					return
				}
			}
		}()
	}
	select {
	case resp := <-answers:
		if resp.Header.Get("Retry-After") == "" {
			t.Fatal("a refusal has no Retry-After")
		}
	case <-time.After(patience):
		t.Fatalf("none of %d requests was refused", requests)
	}
}
