package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// TestUpstreamRestartGivesNo502 kills the upstream under load and starts it again after a
// gap. Clients wait and get no 502, except for POSTs that the upstream had
// received.
func TestUpstreamRestartGivesNo502(t *testing.T) {
	t.Parallel()
	const gap = 300 * time.Millisecond
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	url := b.url()
	p := door(t, "log: {level: error}\nupstreams: {site: {servers: ["+url+
		"], connect_wait: 1m}}\nroutes: [{match: '/{path...}', to: site, timeout: 2m}]\n")
	var answered, posts, failed atomic.Int64
	front := p.url()
	stop := repeatedly(t, 32, func(c *http.Client) bool {
		method := "GET"
		if answered.Add(1)%10 == 0 {
			method = "POST"
		}
		req, err := http.NewRequestWithContext(t.Context(), method, front, nil)
		if err != nil {
			t.Error(err)
			return false
		}
		a, err := try(c, req)
		switch {
		case err != nil:
			t.Error(err)
			return false
		case a.StatusCode != 200 && method == "POST":
			posts.Add(1)
		case a.StatusCode != 200:
			failed.Add(1)
		}
		return true
	})
	for range inSoak(2, 5) {
		more := answered.Load() + 2000
		testkit.Await(t, "load", func() bool { return answered.Load() >= more })
		b.signal(syscall.SIGKILL)
		<-b.exited
		time.Sleep(gap)
		b = start(t, "backend", "--listen", strings.TrimPrefix(url, "http://"))
		b.url()
	}
	more := answered.Load() + 2000
	testkit.Await(t, "load", func() bool { return answered.Load() >= more })
	stop()
	n := answered.Load()
	if failed.Load() > 0 {
		t.Errorf("%d of %d GETs failed", failed.Load(), n)
	}
	if n := metric(t, p.admin(), "weir_upstream_errors_total", `kind="refused"`); n != 0 {
		t.Errorf("%v requests failed without a connection", n)
	}
	// A failure after which the request was sent again counts, too.
	if n := metric(t, p.admin(), "weir_upstream_errors_total"); n < float64(failed.Load()+posts.Load()) {
		t.Errorf("%v failures are counted, the clients saw %d", n, failed.Load()+posts.Load())
	}
	if n := metric(t, p.admin(), "weir_upstream_waits_total"); n == 0 {
		t.Error("no request waited")
	}
}
