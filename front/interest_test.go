package front_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// The events of a request.
var (
	threeEvents = []string{"http request received", "proxying request", "http request completed"}
	lastEvent   = threeEvents[2:]
)

// eventsOf returns the events of the trace of a request, sent with a traceparent that has the given flags.
func (d *testDoor) eventsOf(t *testing.T, path, flags string) (events []event) {
	t.Helper()
	trace := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()|1)
	ask(t, d.addr, "GET "+path+" HTTP/1.1\r\nHost: a\r\nTraceparent: 00-"+trace+"-00f067aa0ba902b7-"+flags+"\r\n\r\n")
	ofTrace := func(e event) bool { return e.TraceID == trace }
	d.log.find(t, func(e event) bool { return ofTrace(e) && e.Event == lastEvent[0] })
	return slices.DeleteFunc(d.log.events(t), func(e event) bool { return !ofTrace(e) })
}

func names(events []event) (all []string) {
	for _, e := range events {
		all = append(all, e.Event)
	}
	return all
}

// TestInterestingRequestsWriteAllEvents has a case for each reason, and counts what was discarded.
func TestInterestingRequestsWriteAllEvents(t *testing.T) {
	t.Parallel()
	back := upstream(t, statusOfPath)
	routes := func(c *config.Config) {
		c.Log.Events = config.EventsInteresting
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "gone",
			Servers: []upstreams.Server{{URL: "http://" + peer.FreeAddress(t)}}})
		c.Routes = append(c.Routes, config.DefaultRoute("/gone", "gone"))
	}
	slow := func(d time.Duration) func(*config.Config) {
		return func(c *config.Config) { routes(c); c.Log.SlowerThan = d }
	}
	share := func(percent float64) func(*config.Config) {
		return func(c *config.Config) { routes(c); c.Log.SlowerThan, c.Log.Share = time.Hour, percent }
	}
	trusting := func(c *config.Config) {
		routes(c)
		c.Log.SlowerThan, c.TrustedProxies = time.Hour, parsePrefixes(t, "127.0.0.0/8")
	}
	for _, c := range []struct {
		name, path, flags string
		adjust            func(*config.Config)
		want              []string
		discarded         float64
	}{
		{"quick and without failure", "/200", "01", slow(time.Hour), lastEvent, 2},
		{"the upstream responds with 500", "/500", "00", slow(time.Hour), threeEvents, 0},
		{"the upstream responds with 404", "/404", "00", slow(time.Hour), lastEvent, 2},
		{"the upstream is gone", "/gone", "00", slow(time.Hour), threeEvents, 0},
		{"slower", "/200", "00", slow(1), threeEvents, 0},
		{"without a server", "/a//b%2f/../%00", "00", slow(time.Hour), lastEvent, 1},
		{"a first request has none to compare with", "/200", "00", routes, lastEvent, 2},
		{"in the share", "/200", "00", share(100), threeEvents, 0},
		{"outside of the share", "/200", "00", share(1e-9), lastEvent, 2},
		{"sampled by a trusted client", "/200", "01", trusting, threeEvents, 0},
		{"not sampled by a trusted client", "/200", "00", trusting, lastEvent, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDoor(t, back.URL, c.adjust)
			events := d.eventsOf(t, c.path, c.flags)
			if got := names(events); !slices.Equal(got, c.want) {
				t.Errorf("events %q, want %q", got, c.want)
			}
			last := events[len(events)-1]
			if named := last.Data["destination"] != nil; named != (c.discarded == 2) {
				t.Errorf("the destination is missing, or written twice: %s", last.raw)
			}
			if n := d.metric(t, "weir_log_events_discarded_total"); n != c.discarded {
				t.Errorf("%v events were discarded, want %v", n, c.discarded)
			}
		})
	}
}

// TestHeldEventsAreWrittenUnchanged compares the events that were held with those of log.events: all, but for their
// times. The times are in order.
func TestHeldEventsAreWrittenUnchanged(t *testing.T) {
	t.Parallel()
	back := upstream(t, statusOfPath)
	var all [2][]event
	for i, set := range []string{config.EventsAll, config.EventsInteresting} {
		d := openDoor(t, back.URL, func(c *config.Config) { c.Log.Events = set })
		all[i] = d.eventsOf(t, "/a/500?b=c", "00")
		for j, e := range all[i] {
			if j > 0 && e.CreatedAt.Before(all[i][j-1].CreatedAt) {
				t.Errorf("%s: %q is older than the event before it", set, e.Event)
			}
		}
		if e := all[i][0]; !e.CreatedAt.Equal(e.HTTP.StartedAt) {
			t.Errorf("%s: created_at is not started_at: %s", set, e.raw)
		}
	}
	for i, want := range all[0] {
		got := all[1][i]
		for _, e := range []*event{&got, &want} {
			e.raw, e.TraceID, e.CreatedAt, e.HTTP.Port = "", "", time.Time{}, 0
			e.HTTP.StartedAt, e.HTTP.EndedAt, e.HTTP.Duration = time.Time{}, time.Time{}, 0
		}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// TestRefusalsOfLimitsAreNotInteresting refuses a request because another one is in flight.
func TestRefusalsOfLimitsAreNotInteresting(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	back := upstream(t, func(http.ResponseWriter, *http.Request) { close(entered); <-release })
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Log.Events, c.Log.SlowerThan, c.Limits.InFlight = config.EventsInteresting, 1, 1
	})
	ended := make(chan struct{})
	go func() { defer close(ended); get(t, httpClient(t), d.url("/first")) }()
	<-entered
	events := d.eventsOf(t, "/second", "01")
	close(release)
	<-ended
	if e := events[0]; len(events) != 1 || e.HTTP.StatusCode != 503 || e.Data["limit"] == nil {
		t.Errorf("events %q, the first is %s", names(events), e.raw)
	}
}

// TestHeldEventsAreCounted counts the events of requests that wait for a server, and of a share of 25%.
func TestHeldEventsAreCounted(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	back := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-release
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Log.Events, c.Log.SlowerThan, c.Log.Share = config.EventsInteresting, time.Hour, 25
	})
	client := httpClient(t)
	const waiting, n = 5, 2000
	ended := make(chan struct{})
	for range waiting {
		go func() {
			defer func() { ended <- struct{}{} }()
			if resp, err := client.Get(d.url("/slow")); err == nil {
				resp.Body.Close()
			}
		}()
	}
	testkit.Await(t, "two events of each request are held", func() bool {
		return d.metric(t, "weir_log_events_held") == 2*waiting
	})
	for range n {
		get(t, client, d.url("/"))
	}
	close(release)
	for range waiting {
		<-ended
	}
	testkit.Await(t, "nothing is held", func() bool { return d.metric(t, "weir_log_events_held") == 0 })
	written := len(d.log.events(t))
	if discarded := int(d.metric(t, "weir_log_events_discarded_total")); written+discarded != 3*(n+waiting) {
		t.Errorf("%d events were written and %d discarded, of %d", written, discarded, 3*(n+waiting))
	}
	selected := float64(written-(n+waiting)) / 2
	mean, deviation := 0.25*(n+waiting), math.Sqrt(0.25*0.75*(n+waiting))
	if math.Abs(selected-mean) > 5*deviation {
		t.Errorf("%v of %d requests wrote all events, want about %v", selected, n+waiting, mean)
	}
}
