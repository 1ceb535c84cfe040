package main

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestRestartsOverlap restarts weir while the process before still drains: with a delay, in which the next
// process takes over the listeners, and without one. Each process has requests in flight, which complete.
func TestRestartsOverlap(t *testing.T) {
	t.Parallel()
	for _, delay := range []string{"off", "1s"} {
		t.Run(delay, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			file := restartable(t, fmt.Sprintf("drain: {delay: %s, timeout: 1h}\n", delay)+allTo(g.URL))
			var results []<-chan result
			var doors []*process
			for i := range 4 {
				p := start(t, "serve", "--config", file)
				admin := p.admin()
				testkit.Await(t, fmt.Sprintf("a request in flight in process %d", i), func() bool {
					results = append(results, send(t, p.url(), 1)) // the process before accepts some of them
					g.await(t, 1)
					return metric(t, admin, "weir_requests_in_flight") > 0
				})
				testkit.AwaitEqual(t, "/readyz", func() int { return get(t, client(t), admin+"/readyz").StatusCode }, 200)
				p.signal(syscall.SIGTERM)
				p.says("draining")
				doors = append(doors, p)
			}
			for _, p := range doors {
				p.alive()
			}
			close(g.open)
			for _, r := range results {
				checkGated(t, r)
			}
			for _, p := range doors {
				p.wait(0)
			}
		})
	}
}

// restartable writes a configuration with addresses that stay the same for the next process.
func restartable(t *testing.T, config string) (file string) {
	t.Helper()
	addresses := fmt.Sprintf("listen: %s\nadmin: %s\n", peer.FreeAddress(t), peer.FreeAddress(t))
	return testkit.TempFile(t, "weir.yaml", addresses+config)
}

// checkGated checks that a request through a gate has got its response.
func checkGated(t *testing.T, from <-chan result) {
	t.Helper()
	if r := testkit.Receive(t, "the response to a request in flight", from); r.err != nil || r.body != gateBody {
		t.Errorf("a request in flight: %+v with %d bytes, %v", r.Response, len(r.body), r.err)
	}
}
