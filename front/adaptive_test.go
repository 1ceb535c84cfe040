package front_test

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// TestAutomaticLimitFollowsTheService sends more requests than a service can serve, to a route with an automatic limit.
// The limit follows the service, refuses the others with 503, and ignores slow clients.
func TestAutomaticLimitFollowsTheService(t *testing.T) {
	t.Parallel()
	const takes = 10 * time.Millisecond
	slots := make(chan struct{}, 8)
	var served, refused atomic.Int64
	full := make(chan struct{}) // closed when enough requests have been refused, so that some are, however slow the machine
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			io.Copy(io.Discard, r.Body)
			return
		}
		<-full
		slots <- struct{}{}
		time.Sleep(takes)
		<-slots
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes[0].Limits.InFlight = config.InFlightAuto
		c.Routes[0].Timeout, c.Limits.HeaderTimeout = testTimeout, testTimeout // a busy machine needs more than usual
	})
	value := func() float64 { return d.metric(t, `weir_limit_value{limit="in_flight",route="/{path...}"}`) }
	settled := func() float64 {
		t.Helper()
		// The response arrives before the request leaves the limit, which may end a window.
		testkit.AwaitEqual(t, "no request is in flight", func() float64 { return d.metric(t, `weir_limit_in_use{limit="in_flight",route="/{path...}"}`) }, 0)
		return value()
	}
	if v := value(); v != 100 {
		t.Errorf("the limit begins with %v", v)
	}
	var clients sync.WaitGroup
	for range 200 {
		c := httpClient(t)
		clients.Go(func() {
			for served.Load() < 500 {
				resp, err := c.Get(d.url("/"))
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
				switch {
				case resp.StatusCode == 200:
					served.Add(1)
				case resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "":
					if refused.Add(1) == 100 {
						close(full)
					}
					time.Sleep(takes)
				default:
					t.Errorf("%d with Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
				}
			}
		})
	}
	clients.Wait()
	before := settled()
	if before < 25 || before > 200*1.6*1.6 { // package limit tests where it settles
		t.Errorf("the limit is %v, with 200 requests in flight at most", before)
	}
	for range 20 { // a client that sends its body in 20 ms
		c := dial(t, d.addr)
		c.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n")
		time.Sleep(2 * takes)
		c.send(string(make([]byte, 20000)))
		c.response("POST")
	}
	if after := settled(); after != before {
		t.Errorf("the limit was %v, and is %v after slow clients", before, after)
	}
	resp, _ := get(t, httpClient(t), d.url("/"))
	if resp.StatusCode != 200 {
		t.Errorf("%d after the load, want 200", resp.StatusCode)
	}
	before = settled()
	d.reload(func(c *config.Config) {
		c.Routes = append([]config.Route(nil), c.Routes...)
		c.Routes[0].Limits.Queue = config.Queue{Length: 10, Wait: time.Second}
	})
	if after := value(); after != before {
		t.Errorf("the limit was %v, and is %v after a reload", before, after)
	}
}
