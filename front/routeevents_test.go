package front_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// statusOfPath responds with the status at the end of the path.
func statusOfPath(w http.ResponseWriter, r *http.Request) {
	var status int
	if _, err := fmt.Sscanf(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], "%d", &status); err == nil {
		w.WriteHeader(status)
	}
}

// TestSeverityFollowsTheStatus checks the severity of the completed event for each status.
func TestSeverityFollowsTheStatus(t *testing.T) {
	t.Parallel()
	back := upstream(t, statusOfPath)
	d := openDoor(t, back.URL)
	for path, want := range map[string]int{"/200": 3, "/404": 3, "/500": 2, "/501": 2, "/503": 2, "/599": 2} {
		get(t, httpClient(t), d.url(path))
		if e := d.completed(t, path); e.Severity != want {
			t.Errorf("severity %d, want %d: %s", e.Severity, want, e.raw)
		}
	}
}

// TestCompletedIsWholeAtWarn has a level that omits the event with the
// destination.
func TestCompletedIsWholeAtWarn(t *testing.T) {
	t.Parallel()
	back := upstream(t, statusOfPath)
	d := openDoor(t, back.URL, func(c *config.Config) { c.Log.Level = "warn" })
	get(t, httpClient(t), d.url("/500"))
	if e := d.completed(t, "/500"); e.Data["destination"] != back.URL || e.Data["proxy_name"] != "site" {
		t.Errorf("no destination in %s", e.raw)
	}
}

// TestRouteHasItsOwnEvents sends requests to routes with a log.events of their own.
func TestRouteHasItsOwnEvents(t *testing.T) {
	t.Parallel()
	back := upstream(t, statusOfPath)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Log.Events = config.EventsCompleted
		for _, events := range []string{config.EventsAll, config.EventsCompleted, config.EventsOff} {
			r := config.DefaultRoute("GET /"+events+"/{status}", "site")
			r.Events = events
			c.Routes = append(c.Routes, r)
		}
	})
	client := httpClient(t)
	want := map[string][]string{
		"/other/200":     {"http request completed"},
		"/all/200":       {"http request received", "proxying request", "http request completed"},
		"/completed/200": {"http request completed"},
		"/off/200":       nil,
		"/off/404":       nil,
		"/off/500":       {"http request completed"},
	}
	for path := range want {
		get(t, client, d.url(path))
	}
	after := doorConfig(back.URL, func(c *config.Config) { c.Log.Events = config.EventsCompleted })
	if _, err := d.Reload(after); err != nil { // its routes use the default events
		t.Fatal(err)
	}
	get(t, client, d.url("/off/204"))
	want["/off/204"] = []string{"http request completed"}
	testkit.AwaitEqual(t, "nothing in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
	got := make(map[string][]string)
	for _, e := range d.log.events(t) {
		got[e.HTTP.Path] = append(got[e.HTTP.Path], e.Event)
		if last := e.Event == "http request completed"; last &&
			(e.Data["destination"] == nil) == (e.HTTP.Path != "/all/200") {
			t.Errorf("the destination is missing, or written twice: %s", e.raw)
		}
	}
	for path, events := range want {
		if !slices.Equal(got[path], events) {
			t.Errorf("%s: events %q, want %q", path, got[path], events)
		}
	}
	if n := d.metric(t, `weir_requests_total{code="200",method="GET",route="GET /off/{status}"}`); n != 1 {
		t.Errorf("%v requests without events were counted, want 1", n)
	}
}
