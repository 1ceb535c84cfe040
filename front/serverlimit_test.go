package front_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// TestServerLimitIsNeverExceeded sends many requests at once to servers with few places each. No server has more
// than its limit at any time, and all requests are served.
func TestServerLimitIsNeverExceeded(t *testing.T) {
	t.Parallel()
	const most, requests = 2, 200
	up := upstreams.Upstream{Name: "site", Connections: upstreams.Limit{Max: most, Queue: requests, Wait: testTimeout}}
	var served atomic.Int64
	for range 2 {
		var now atomic.Int64
		up.Servers = append(up.Servers, upstreams.Server{URL: upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if n := now.Add(1); n > most {
				t.Errorf("%d requests at a server", n)
			}
			defer now.Add(-1)
			served.Add(1)
			io.WriteString(w, "hello")
		}).URL})
	}
	d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
	client := httpClient(t)
	var asking sync.WaitGroup
	for range requests / 4 {
		asking.Go(func() {
			for range 4 {
				if resp, _ := get(t, client, d.url("/")); resp.StatusCode != 200 {
					t.Errorf("status %d", resp.StatusCode)
				}
			}
		})
	}
	asking.Wait()
	if served.Load() != requests {
		t.Errorf("%d requests were served", served.Load())
	}
	if d.metric(t, `weir_upstream_queued_total{upstream="site"}`) == 0 {
		t.Error("no request has waited")
	}
	testkit.Await(t, "all places are free", func() bool {
		s := d.statuses(t)
		return s[0].InFlight+s[1].InFlight == 0 && d.metric(t, `weir_upstream_queued{upstream="site"}`) == 0
	})
}

// TestServerLimitRefusesBeyondItsQueue occupies the only place. The next request waits until its client
// disconnects or the waiting time ends, and further ones are refused.
func TestServerLimitRefusesBeyondItsQueue(t *testing.T) {
	t.Parallel()
	blocked, release := make(chan bool), make(chan bool)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/block" {
			blocked <- true
			<-release
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Upstreams[0].Connections = upstreams.Limit{Max: 1, Queue: 1, Wait: testTimeout}
	})
	var asking sync.WaitGroup
	asking.Go(func() { get(t, httpClient(t), d.url("/block")) })
	<-blocked
	queued := func(n float64) func() bool {
		return func() bool { return d.metric(t, `weir_upstream_queued{upstream="site"}`) == n }
	}
	ctx, cancel := context.WithCancel(t.Context())
	asking.Go(func() {
		r, err := http.NewRequestWithContext(ctx, "GET", d.url("/gone"), nil)
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := httpClient(t).Do(r); err == nil {
			resp.Body.Close()
			t.Errorf("the request that is cancelled: %d", resp.StatusCode)
		}
	})
	testkit.Await(t, "a request waits", queued(1))
	resp, _ := get(t, httpClient(t), d.url("/full"))
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("with a full queue: %d, %v", resp.StatusCode, resp.Header)
	}
	if e := d.completed(t, "/full"); e.Data["limit"] != "server_connections" || e.Data["failure"] != "queue_full" {
		t.Errorf("the event is %v", e.Data)
	}
	cancel()
	testkit.Await(t, "no request waits", queued(0))

	if _, err := d.Reload(doorConfig(back.URL, func(c *config.Config) {
		c.Upstreams[0].Connections = upstreams.Limit{Max: 1, Queue: 1, Wait: 50 * time.Millisecond}
	})); err != nil {
		t.Fatal(err)
	}
	if resp, _ := get(t, httpClient(t), d.url("/late")); resp.StatusCode != 503 {
		t.Errorf("after the waiting time: %d", resp.StatusCode)
	}
	if e := d.completed(t, "/late"); e.Data["limit"] != "server_queue" || e.Data["failure"] != "queue_timeout" {
		t.Errorf("the event is %v", e.Data)
	}
	for _, limit := range []string{"server_connections", "server_queue"} {
		if n := d.metric(t, `weir_limit_refusals_total{limit="`+limit+`",route="/{path...}"}`); n != 1 {
			t.Errorf("%v refusals by %s", n, limit)
		}
	}
	close(release)
	asking.Wait()
	if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 {
		t.Errorf("with a free place: %d", resp.StatusCode)
	}
}
