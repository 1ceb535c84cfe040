package front_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/redisstore"
	"github.com/weirhq/weir/log/otlpsink"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// engines are those of all doors of tests.
var engines = front.Engines{
	Limits: func(url string) (lease.Store, error) { return redisstore.Open(url) },
	Traces: func(url string) (stream.Destination, error) { return otlpsink.NewSpans(url) },
}

// replicas starts several front doors with the same configuration, and waits until they know each
// other.
func replicas(t *testing.T, n int, upstream string, adjust func(*config.Config)) (doors []*testDoor) {
	t.Helper()
	for range n {
		doors = append(doors, openDoor(t, upstream, adjust))
	}
	for _, d := range doors {
		testkit.AwaitEqual(t, "all replicas", func() float64 { return sumMetric(t, d, "weir_shared_limits_replicas") }, float64(n))
	}
	return doors
}

// sumMetric returns the sum of a metric with any labels.
func sumMetric(t *testing.T, d *testDoor, name string) (sum float64) {
	t.Helper()
	for _, m := range d.families(t)[name].GetMetric() {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return sum
}

// TestRateIsSharedByReplicas uses up a rate at one replica and is refused by another.
func TestRateIsSharedByReplicas(t *testing.T) {
	t.Parallel()
	back, server := upstream(t, hello), peer.StartRedis(t, peer.RedisOptions{})
	for _, per := range []string{config.RatePerRoute, config.RatePerClient, config.RatePerHeader + "X-Key"} {
		t.Run(per, func(t *testing.T) {
			doors := replicas(t, 2, back.URL, func(c *config.Config) {
				c.Namespace = per // other replicas than those of the test before
				c.Routes[0].Limits.Rate = config.Rate{
					Per: per, Every: time.Minute, Burst: 10, Shared: "redis://" + server.Address,
				}
			})
			ask := func(d *testDoor, key string) *http.Response {
				r, err := http.NewRequest("GET", d.url("/"), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("X-Key", key)
				resp, _ := do(t, httpClient(t), r)
				return resp
			}
			admitted := 0
			testkit.AwaitEqual(t, "requests that are admitted", func() int {
				if ask(doors[0], "a").StatusCode == 200 {
					admitted++
				}
				return admitted
			}, 10)
			testkit.AwaitEqual(t, "a refusal by the other replica", func() int { return ask(doors[1], "a").StatusCode }, 429)
			resp := ask(doors[1], "a")
			doors[1].refusedBy(t, resp, 429, "rate", "/{path...}")
			policy, state := resp.Header.Get("RateLimit-Policy"), resp.Header.Get("RateLimit")
			if policy != `"rate";q=10;w=600` || !strings.HasPrefix(state, `"rate";r=0;t=`) {
				t.Errorf("RateLimit-Policy %q, RateLimit %q", policy, state)
			}
			if other := ask(doors[1], "b").StatusCode; (other == 200) != (per == config.RatePerHeader+"X-Key") {
				t.Errorf("%d for another key", other)
			}
		})
	}
}

// TestSlotsAreSharedByReplicas uses all slots of two replicas at one of them, and then those of a replica
// that has left.
func TestSlotsAreSharedByReplicas(t *testing.T) {
	t.Parallel()
	const slots = 6
	g := newGate(t)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		g.await(t)
		io.WriteString(w, "hello")
	})
	server := peer.StartRedis(t, peer.RedisOptions{})
	doors := replicas(t, 2, back.URL, func(c *config.Config) {
		c.Routes[0].Limits.InFlight, c.Routes[0].Limits.InFlightShared = slots, "redis://"+server.Address
	})
	value := func(d *testDoor, name string) float64 {
		return d.metric(t, fmt.Sprintf(`weir_limit_%s{limit="in_flight",route="/{path...}"}`, name))
	}
	testkit.Await(t, "equal parts", func() bool {
		return value(doors[0], "value") == slots/2 && value(doors[1], "value") == slots/2
	})
	var asking sync.WaitGroup
	defer asking.Wait()
	defer g.open()
	inFlight := func() float64 { return value(doors[0], "in_use") + value(doors[1], "in_use") }
	fill := func(d *testDoor, until float64) {
		for inFlight() < until {
			c := dial(t, d.addr)
			c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			time.Sleep(20 * time.Millisecond)
		}
	}
	fill(doors[0], slots-1) // a replica keeps one slot
	if n := value(doors[1], "value"); n != 1 {
		t.Errorf("the replica without requests has %v slots, want 1", n)
	}
	fill(doors[1], slots)
	for _, d := range doors {
		resp, _ := get(t, httpClient(t), d.url("/"))
		d.refusedBy(t, resp, 503, "in_flight", "/{path...}")
	}
	if n := inFlight(); n != slots {
		t.Errorf("%v requests in flight, want %d", n, slots)
	}
	g.open()
	doors[1].close()
	testkit.AwaitEqual(t, "all slots", func() float64 { return value(doors[0], "value") }, slots)
}

// TestLostStoreFailsNoRequest kills the store of shared limits. No request fails, and the log and a metric
// report it.
func TestLostStoreFailsNoRequest(t *testing.T) {
	t.Parallel()
	back, server := upstream(t, hello), peer.StartRedis(t, peer.RedisOptions{})
	d := replicas(t, 1, back.URL, func(c *config.Config) {
		shared := "redis://" + server.Address
		c.Limits.InFlight, c.Limits.InFlightShared = 100, shared
		c.Limits.Rate = config.Rate{Every: time.Millisecond, Burst: 100, Shared: shared}
	})[0]
	up := fmt.Sprintf(`weir_shared_limits_up{store=%q}`, server.Address)
	stop := repeat(t, 2, func(c *http.Client) {
		if resp, _ := get(t, c, d.url("/")); resp.StatusCode != 200 {
			t.Errorf("status %d", resp.StatusCode)
		}
		time.Sleep(5 * time.Millisecond)
	})
	testkit.Await(t, "an exchange", func() bool { return sumMetric(t, d, "weir_shared_limits_exchanges_total") > 0 })
	server.Stop()
	testkit.AwaitEqual(t, "failures", func() float64 { return d.metric(t, up) }, 0)
	failing := d.log.find(t, func(e event) bool { return e.Event == "store of shared limits fails" })
	if failing.Data["store"] != server.Address || len(failing.Errors) == 0 {
		t.Errorf("the event has no store or no error: %s", failing.raw)
	}
	testkit.Await(t, "own tokens", func() bool {
		return d.metric(t, fmt.Sprintf(`weir_shared_limits_tokens_total{from="replica",store=%q}`, server.Address)) > 10
	})
	server.Start()
	testkit.AwaitEqual(t, "the recovery", func() float64 { return d.metric(t, up) }, 1)
	d.log.find(t, func(e event) bool { return e.Event == "store of shared limits recovered" })
	stop()
}

func TestReloadChangesSharedLimits(t *testing.T) {
	back, server := upstream(t, hello), peer.StartRedis(t, peer.RedisOptions{})
	shared := "redis://" + server.Address
	rate := func(c *config.Config) {
		c.Routes[0].Limits.Rate = config.Rate{Per: config.RatePerRoute, Every: time.Minute, Burst: 4, Shared: shared}
	}
	slots := func(c *config.Config) {
		c.Routes[0].Limits.InFlight, c.Routes[0].Limits.InFlightShared = 7, shared
	}
	d := openDoor(t, back.URL, rate, slots)
	reload := func(adjust ...func(*config.Config)) {
		t.Helper()
		if _, err := d.Reload(doorConfig(back.URL, adjust...)); err != nil {
			t.Fatal(err)
		}
	}
	status := func() int {
		resp, _ := get(t, httpClient(t), d.url("/"))
		return resp.StatusCode
	}
	for i := range 5 {
		if got, want := status(), 200; i < 4 && got != want {
			t.Errorf("request %d: status %d, want %d", i, got, want)
		}
	}
	reload(rate, slots, func(c *config.Config) { c.Routes[0].Limits.InFlight = 9 })
	testkit.AwaitEqual(t, "the new number of slots", func() float64 { return d.metric(t, `weir_limit_value{limit="in_flight",route="/{path...}"}`) }, 9)
	if got := status(); got != 429 {
		t.Errorf("status %d after a reload that keeps the rate, want 429", got)
	}
	reload()
	if got := status(); got != 200 {
		t.Errorf("status %d without a limit", got)
	}
	if d.families(t)["weir_shared_limits_up"] != nil {
		t.Error("the store that is not in use any more has a metric")
	}
	reload(rate)
	testkit.AwaitEqual(t, "the rate that the store has kept", status, 429)
}

// TestMissingClientOfStoreIsAnError configures shared limits of a front door without engines.
func TestMissingClientOfStoreIsAnError(t *testing.T) {
	t.Parallel()
	cfg := doorConfig("http://127.0.0.1:1", func(c *config.Config) {
		c.Limits.Rate = config.Rate{Every: time.Second, Shared: "redis://127.0.0.1:1"}
	})
	if _, err := front.New(cfg, sink.NewDirect(io.Discard)); err == nil || !strings.Contains(err.Error(), "no client") {
		t.Errorf("New: %v, want an error about the missing client", err)
	}
}
