package front_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// metrics returns the values of all series, as `name{label="value"}`.
func (d *testDoor) metrics(t testing.TB) map[string]float64 {
	t.Helper()
	_, page := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/metrics")
	series := make(map[string]float64)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if i := strings.LastIndexByte(line, '}'); i > 0 {
			name, value = line[:i+1], strings.TrimSpace(line[i+1:])
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		series[name] = n
	}
	return series
}

// metric returns the value of a series, or 0 if it does not exist.
func (d *testDoor) metric(t testing.TB, series string) float64 {
	t.Helper()
	return d.metrics(t)[series]
}

// TestMetricsCountEachRequest sends a known number of requests of several kinds and checks the
// counts.
func TestMetricsCountEachRequest(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/held":
			<-g.ch
		case "/teapot":
			w.WriteHeader(418)
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "dead", Servers: []upstreams.Server{{URL: "http://" + testkit.ClosedAddress(t)}}})
		c.Routes = append(c.Routes, config.DefaultRoute("/dead", "dead"), config.DefaultRoute("only.example/x", "site"))
		c.Routes[0].Match = "GET,BREW,STIR /{path...}"
	})
	for request, n := range map[string]int{
		"GET /":        3,
		"HEAD /":       2,
		"GET /teapot":  2,
		"BREW /":       2,
		"STIR /":       1,
		"PUT /":        4,
		"get /":        1,
		"GET /dead":    5,
		"GET /a/../b":  2,
		"OPTIONS /any": 1,
		"MADE-UP /":    3,
	} {
		for range n {
			ask(t, d.addr, request+" HTTP/1.1\r\nHost: a\r\n\r\n")
		}
	}
	held := dial(t, d.addr)
	held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
	d.log.find(t, func(e event) bool { return e.Event == "proxying request" && e.HTTP.Path == "/held" })

	const route = "GET,BREW,STIR /{path...}"
	want := map[string]float64{
		`weir_requests_total{code="200",method="GET",route="` + route + `"}`:     3,
		`weir_requests_total{code="200",method="HEAD",route="` + route + `"}`:    2,
		`weir_requests_total{code="418",method="GET",route="` + route + `"}`:     2,
		`weir_requests_total{code="200",method="other",route="` + route + `"}`:   3,
		`weir_requests_total{code="502",method="GET",route="/dead"}`:             5,
		`weir_requests_total{code="405",method="PUT",route="unmatched"}`:         4,
		`weir_requests_total{code="405",method="other",route="unmatched"}`:       4,
		`weir_requests_total{code="400",method="GET",route="unmatched"}`:         2,
		`weir_requests_total{code="204",method="OPTIONS",route="unmatched"}`:     1,
		`weir_upstream_errors_total{kind="refused",upstream="dead"}`:             5,
		`weir_request_duration_seconds_count{class="2xx",route="` + route + `"}`: 8,
		`weir_request_duration_seconds_count{class="4xx",route="unmatched"}`:     10,
		`weir_requests_in_flight`:       1,
		`weir_malformed_requests_total`: 0,
		`weir_log_events_emitted_total`: float64(3*10 + 3*5 + 2*11 + 2),
		`weir_log_events_written_total`: float64(3*10 + 3*5 + 2*11 + 2),
		`weir_log_queue_events`:         0,
		`weir_log_queue_bytes`:          0,
	}
	testkit.Await(t, "all but one to be over", func() bool { return d.metric(t, "weir_requests_in_flight") <= 1 })
	got := d.metrics(t)
	for series, value := range want {
		if n, ok := got[series]; !ok || n != value {
			t.Errorf("%s is %v (%v), want %v", series, n, ok, value)
		}
	}
	for series := range got {
		_, expected := want[series]
		if (strings.HasPrefix(series, "weir_requests_total") || strings.HasPrefix(series, "weir_upstream_errors_total")) &&
			!expected {
			t.Errorf("%s is not expected", series)
		}
	}
	if n := got["weir_log_bytes_total"]; n != float64(d.log.size()) {
		t.Errorf("weir_log_bytes_total is %v, the log holds %d", n, d.log.size())
	}
	for _, name := range []string{"go_goroutines", "process_open_fds"} {
		if got[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
	g.open()
	held.response("GET")
	testkit.AwaitEqual(t, "nothing in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
}

// TestMethodLabelIsBounded sends many unknown methods.
func TestMethodLabelIsBounded(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	conn := dial(t, d.addr)
	for i := range 50 {
		conn.send(fmt.Sprintf("M%d / HTTP/1.1\r\nHost: a\r\n\r\n", i))
		conn.response("GET")
	}
	testkit.AwaitEqual(t, "all counted under one name", func() float64 {
		return d.metric(t, `weir_requests_total{code="200",method="other",route="/{path...}"}`)
	}, 50)
}

// TestEmittedEventsAreAccountedFor scrapes under load while some writes of the log fail. In
// every scrape, the emitted events are written, dropped or waiting.
func TestEmittedEventsAreAccountedFor(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	d.log.failEvery(7)
	var load sync.WaitGroup
	var stop atomic.Bool
	for range 4 {
		conn := dial(t, d.addr)
		load.Go(func() {
			for !stop.Load() {
				conn.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				conn.response("GET")
			}
		})
	}
	for range 30 {
		m := d.metrics(t)
		dropped := 0.0
		for series, n := range m {
			if strings.HasPrefix(series, "weir_log_events_dropped_total") {
				dropped += n
			}
		}
		emitted, written, waiting := m["weir_log_events_emitted_total"], m["weir_log_events_written_total"],
			m["weir_log_queue_events"]
		if emitted != written+dropped+waiting {
			t.Errorf("emitted %v, written %v + dropped %v + waiting %v", emitted, written, dropped, waiting)
		}
	}
	testkit.Await(t, "an event was dropped", func() bool {
		return d.metric(t, `weir_log_events_dropped_total{reason="write_error",severity="info"}`) > 0
	})
	stop.Store(true)
	load.Wait()
}
