package front_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/respond"
)

// TestRouteAddsFieldsToCompletedEvent checks the fields that routes add to their completed events, over both
// protocols. The other events and the other routes do not have them.
func TestRouteAddsFieldsToCompletedEvent(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		r := config.DefaultRoute("/{tenant}/orders/{id...}", "site")
		r.LogFields = []config.Field{
			{Name: "team", Value: "checkout"}, {Name: "tenant", Value: "{tenant}"},
			{Name: "order", Value: "{request.method} #{id}"},
		}
		r.Limits.Body = 5
		fixed := config.DefaultRoute("/fixed", "")
		fixed.Respond = &respond.Config{Status: 503}
		fixed.LogFields = []config.Field{{Name: "team", Value: "site"}}
		c.Routes = append(c.Routes, r, fixed)
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct {
			method, path, body  string
			team, tenant, order any
		}{
			{"GET", "/a/orders/1/2", "", "checkout", "a", "GET #1/2"},
			{"GET", "/a%20%22b%E9/orders/", "", "checkout", "a%20%22b%E9", "GET #"},
			{"POST", "/a/orders/long", "123456", "checkout", "a", "POST #long"}, // refused by the limit
			{"GET", "/fixed", "", "site", nil, nil},
			{"GET", "/other", "", nil, nil, nil},
		} {
			req, err := http.NewRequest(c.method, d.url(c.path), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			id := strings.ReplaceAll(name+c.path, "%", "-")
			req.Header.Set("X-Request-Id", id)
			do(t, client, req)
			e := d.log.find(t, func(e event) bool { return e.Event == "http request completed" && e.TraceID == id })
			if e.Data["team"] != c.team || e.Data["tenant"] != c.tenant || e.Data["order"] != c.order {
				t.Errorf("%s %s %s: %s\nwant team %v, tenant %v, order %v", name, c.method, c.path, e.raw, c.team, c.tenant,
					c.order)
			}
		}
	}
	for _, e := range d.log.events(t) {
		if e.Event != "http request completed" && e.Data["team"] != nil {
			t.Errorf("the event has fields of the route: %s", e.raw)
		}
	}
}

// TestRouteAddsLoggedHeaders checks the header fields that a route adds to those of all requests.
func TestRouteAddsLoggedHeaders(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Etag", `"1"`) })
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Log.RequestFields = []string{"x-all"}
		r := config.DefaultRoute("/route", "site")
		r.LogRequestFields, r.LogResponseFields = []string{"x-own", "x-all", "cookie"}, []string{"etag"}
		c.Routes = append(c.Routes, r)
	})
	for path, want := range map[string]map[string]any{
		"/": {"request_headers": map[string]any{"x-all": "1"}},
		"/route": {
			"request_headers":  map[string]any{"x-all": "1", "x-own": "2", "cookie": "[redacted]"},
			"response_headers": map[string]any{"etag": `"1"`},
		},
	} {
		ask(t, d.addr, "GET "+path+" HTTP/1.1\r\nHost: a\r\nX-All: 1\r\nX-Own: 2\r\nCookie: secret\r\n\r\n")
		e := d.completed(t, path)
		if diff := cmp.Diff(want, e.Data); diff != "" || strings.Count(e.raw, `"x-all"`) != 1 {
			t.Errorf("%s: data (-want +got):\n%s\nof %s", path, diff, e.raw)
		}
	}
}

func TestLogFieldsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := rawUpstream(t, answerWithoutAllocating)
	addr := discardingDoor(t, "http://"+back, config.EventsAll, func(c *config.Config) {
		c.Routes[0].LogFields = []config.Field{{Name: "team", Value: "a"}, {Name: "rest", Value: "{path}?"}}
	})
	if n := mallocsPerRequest(t, addr, "GET /a/b HTTP/1.1\r\nHost: www.example.com\r\n\r\n"); n >= 0.1 {
		t.Errorf("%.2f allocations for a request, want none", n)
	}
}
