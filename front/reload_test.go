package front_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// TestReloadFailsNoRequest swaps the tables many times while requests are in flight
// and new ones arrive.
func TestReloadFailsNoRequest(t *testing.T) {
	t.Parallel()
	const held, swaps = 200, 50
	g := newGate(t)
	var backs [2]string
	for i := range backs {
		backs[i] = upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/held" {
				<-g.ch
			}
			fmt.Fprintf(w, "from %d", i)
		}).URL
	}
	d := openDoor(t, backs[0])
	inFlight := make([]*rawConn, held)
	for i := range inFlight {
		inFlight[i] = dial(t, d.addr)
		inFlight[i].send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	testkit.AwaitEqual(t, "all in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, held)

	var load sync.WaitGroup
	var stop atomic.Bool
	var answered [2]atomic.Int64
	for range 4 {
		client := httpClient(t)
		load.Go(func() {
			for !stop.Load() {
				resp, body := get(t, client, d.url("/new"))
				var from int
				if _, err := fmt.Sscanf(body, "from %d", &from); err != nil || resp.StatusCode != 200 {
					t.Errorf("%d, %q", resp.StatusCode, body)
					return
				}
				answered[from].Add(1)
			}
		})
	}
	for i := range swaps {
		unchanged, err := d.Reload(doorConfig(backs[(i+1)%2]))
		if err != nil || len(unchanged) != 0 {
			t.Errorf("Reload: %q, %v", unchanged, err)
		}
		before := answered[(i+1)%2].Load()
		testkit.Await(t, "answers from the new upstream", func() bool { return answered[(i+1)%2].Load() > before })
	}
	stop.Store(true)
	load.Wait()
	g.open()
	for i, c := range inFlight {
		if resp, body := c.response("GET"); resp.StatusCode != 200 || body != "from 0" {
			t.Errorf("request %d: %d, %q", i, resp.StatusCode, body)
		}
	}
}

func TestInvalidReloadKeepsTheTables(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	for name, adjust := range map[string]func(*config.Config){
		"an upstream that is not there": func(c *config.Config) { c.Routes[0].To = "nowhere" },
		"a bad pattern":                 func(c *config.Config) { c.Routes[0].Match = "/{" },
		"a conflict":                    func(c *config.Config) { c.Routes = append(c.Routes, c.Routes[0]) },
		"a bad constraint":              func(c *config.Config) { c.Constraints["x"] = "(" },
		"a bad server":                  func(c *config.Config) { c.Upstreams[0].Servers = []upstreams.Server{{URL: "ftp://x"}} },
	} {
		if _, err := d.Reload(doorConfig("http://127.0.0.1:1", adjust)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if resp, body := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 || body != "hello" {
			t.Errorf("after %s: %d, %q", name, resp.StatusCode, body)
		}
	}
}
