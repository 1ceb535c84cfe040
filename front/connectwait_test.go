package front_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// TestTooManyWaitingRequestsAreRefused sends more requests to an unavailable upstream than may
// wait for a connection. The surplus is refused immediately, and counted.
func TestTooManyWaitingRequestsAreRefused(t *testing.T) {
	t.Parallel()
	const most, more = 1000, 20
	d := openDoor(t, "http://"+testkit.ClosedAddress(t), func(c *config.Config) { c.Upstreams[0].ConnectWait = testTimeout })
	ctx, leave := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	refused := make(chan int, most+more)
	clients := make([]*http.Client, 20) // a connection limits the number of its streams
	for i := range clients {
		clients[i] = h2cClient(t)
	}
	for i := range most + more {
		req, err := http.NewRequestWithContext(ctx, "GET", d.url("/waiting"), nil)
		if err != nil {
			t.Fatal(err)
		}
		asking.Go(func() {
			if resp, err := clients[i%len(clients)].Do(req); err == nil {
				resp.Body.Close()
				refused <- resp.StatusCode
			}
		})
	}
	for range more {
		if status := <-refused; status != 502 {
			t.Errorf("status %d, want 502", status)
		}
	}
	if n := d.metric(t, `weir_upstream_waiting{upstream="site"}`); n != most {
		t.Errorf("%v requests wait, want %d", n, most)
	}
	testkit.AwaitEqual(t, "the refusals", func() float64 {
		return d.metric(t, `weir_limit_refusals_total{limit="upstream_waiting",route="/{path...}"}`)
	}, more)
	leave()
	asking.Wait()
	e := d.log.find(t, func(e event) bool { return e.HTTP.StatusCode == 502 })
	if e.Data["limit"] != "upstream_waiting" || e.Data["failure"] != "refused" {
		t.Errorf("the event does not name the limit: %s", e.raw)
	}
}
