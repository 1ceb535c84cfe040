package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// A gate is an upstream that holds every request until it is opened: before the
// response, or in the middle of it if the query says so.
type gate struct {
	*httptest.Server
	arrived chan struct{} // receives a value for each request
	open    chan struct{} // closed to release all requests
}

// gateBody is the response body of a gate.
var gateBody = strings.Repeat("through the gate\n", 100)

const inTheMiddle = "in-the-middle"

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{arrived: make(chan struct{}, 1000), open: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := gateBody
		if r.URL.RawQuery == inTheMiddle {
			io.WriteString(w, body[:len(body)/2])
			http.NewResponseController(w).Flush()
			body = body[len(body)/2:]
		}
		select {
		case g.arrived <- struct{}{}:
		case <-r.Context().Done():
		}
		select {
		case <-g.open:
			io.WriteString(w, body)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	return g
}

// await waits until n requests have arrived.
func (g *gate) await(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		testkit.Receive(t, fmt.Sprintf("request %d of %d at the upstream", i+1, n), g.arrived)
	}
}

// A result is the outcome of a request sent in the background.
type result struct {
	answer
	err error
}

// send sends n requests in parallel and returns the channel of their results. The
// gate holds every other one in the middle of its response.
func send(t *testing.T, url string, n int) <-chan result {
	t.Helper()
	results := make(chan result, n)
	c := client(t)
	for i := range n {
		query := []string{"", "?" + inTheMiddle}[i%2]
		req, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s/slow/%d%s", url, i, query), nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			a, err := try(c, req)
			results <- result{a, err}
		}()
	}
	return results
}

func TestDrainWaitsForRequestsInFlight(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			p := door(t, "drain: 1h\n"+allTo(g.URL)) // longer than the test waits
			checkDrain(t, p, g, sig, 200)
		})
	}
}

// checkDrain sends n requests, ends the process while they are in flight, and
// checks that no response and no event is lost.
func checkDrain(t *testing.T, p *process, g *gate, sig syscall.Signal, n int) {
	t.Helper()
	if a := get(t, client(t), p.admin()+"/readyz"); a.StatusCode != 200 {
		t.Errorf("/readyz before: %s", a.Status)
	}
	results := send(t, p.url(), n)
	g.await(t, n)
	p.signal(sig)
	p.says("draining")
	testkit.AwaitNoListener(t, strings.TrimPrefix(p.url(), "http://"))
	if a := get(t, client(t), p.admin()+"/readyz"); a.StatusCode != 503 {
		t.Errorf("/readyz while draining: %s, want 503", a.Status)
	}
	p.alive()
	close(g.open)

	paths := map[string]string{} // by trace id
	for range n {
		r := <-results
		if r.err != nil || r.StatusCode != 200 || r.body != gateBody {
			t.Fatalf("a response of %d bytes: %+v, %v", len(r.body), r.Response, r.err)
		}
		if begun := r.Request.URL.RawQuery == inTheMiddle; !begun && !r.Close {
			t.Error("a response that began while draining is without Connection: close")
		}
		paths[r.Header.Get("X-Request-Id")] = r.Request.URL.Path
	}
	p.wait(0)
	checkThreeEach(t, p.events(3*n), paths)
}

// checkThreeEach checks that the log has the three events of each request, with
// its trace id.
func checkThreeEach(t *testing.T, events []event, paths map[string]string) {
	t.Helper()
	names := map[string][]string{}
	for _, e := range events {
		names[e.TraceID] = append(names[e.TraceID], e.Event)
		if e.HTTP.Path != paths[e.TraceID] {
			t.Errorf("the path of %s is %q, and the log says:\n%s", e.TraceID, paths[e.TraceID], e.line)
		}
	}
	for id := range paths {
		if want := []string{received, proxying, completed}; !slices.Equal(names[id], want) {
			t.Errorf("the events of %s are %q, want %q", id, names[id], want)
		}
	}
}

func TestSecondSignalEndsTheDrain(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	p := door(t, "drain: 1h\n"+allTo(g.URL))
	results := send(t, p.url(), 1)
	g.await(t, 1)
	p.signal(syscall.SIGTERM)
	p.says("draining")
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("weir: error: terminated while draining: 1 request was cut")
	if r := <-results; r.err == nil {
		t.Errorf("the request was answered: %+v", r.Response)
	}
}

func TestDrainDeadlineCutsRequests(t *testing.T) {
	t.Parallel()
	const n = 3
	g := newGate(t)
	p := door(t, "drain: 50ms\n"+allTo(g.URL))
	results := send(t, p.url(), n)
	g.await(t, n)
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("weir: error: 3 requests were cut after 50ms")
	for range n {
		if r := <-results; r.err == nil {
			t.Errorf("the request was answered: %+v", r.Response)
		}
	}
	var ended int
	for _, e := range p.events(3 * n) {
		if e.Event == completed {
			ended++
			begun := e.HTTP.Query == inTheMiddle
			if e.Data["cut"] != begun || (e.status() == 200) != begun || len(e.Errors) == 0 {
				t.Errorf("the log does not say how the request was cut:\n%s", e.line)
			}
		}
	}
	if ended != n {
		t.Errorf("%d completed events, want %d", ended, n)
	}
}

// TestIdleConnectionsDoNotHoldTheDrain ends a door whose clients have idle
// connections.
func TestIdleConnectionsDoNotHoldTheDrain(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	c := client(t)
	get(t, c, p.url()+"/")
	get(t, c, p.url()+"/")
	p.signal(syscall.SIGTERM)
	p.wait(0)
	p.events(6)
}

// TestDrainDelayServesUntilItEnds ends a door whose clients keep their connections. It serves them
// until the second signal, and its responses ask them to close.
func TestDrainDelayServesUntilItEnds(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	p := door(t, "drain: {delay: 1h, timeout: 1h}\n"+allTo(g.URL))
	addr := strings.TrimPrefix(p.url(), "http://")
	slow, idle := &pooledConn{addr: addr}, &pooledConn{addr: addr}
	idle.ask(t, "OPTIONS * ")
	if idle.conn == nil {
		t.Error("a connection is closed before the drain")
	}
	posted := make(chan error, 1)
	go func() { posted <- slow.post() }()
	g.await(t, 1)
	p.signal(syscall.SIGTERM)
	p.says("draining")
	testkit.AwaitEqual(t, "503 from /readyz", func() int { return get(t, client(t), p.admin()+"/readyz").StatusCode }, 503)

	late := &pooledConn{addr: addr}
	late.ask(t, "OPTIONS * ")
	idle.ask(t, "OPTIONS * ")
	close(g.open)
	if err := testkit.Receive(t, "the response to the slow request", posted); err != nil {
		t.Errorf("the request in flight: %v", err)
	}
	for name, c := range map[string]*pooledConn{"in flight": slow, "idle": idle, "late": late} {
		if c.conn != nil {
			t.Errorf("the response to the %s request is without Connection: close", name)
			c.close()
		}
	}
	p.alive()
	// A response arrives before its request has ended.
	testkit.AwaitEqual(t, "no request in flight", func() float64 { return metric(t, p.admin(), "weir_requests_in_flight") }, 0)
	p.signal(syscall.SIGTERM)
	p.wait(0)
	p.says("weir: terminated while draining: the process ends; no request was cut")
}

// ask sends a request without a body, and closes the connection if the response
// asks for it.
func (c *pooledConn) ask(t *testing.T, what string) {
	t.Helper()
	if err := c.roundTrip(what + "HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestPortIsSharedOnlyWhileDraining starts a second process on the port of a door
// that is not draining.
func TestPortIsSharedOnlyWhileDraining(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	second := start(t, "serve", "--listen", strings.TrimPrefix(p.url(), "http://"), "--admin", "off")
	second.wait(1)
	second.says("weir: error: listen: .*address already in use")
}
