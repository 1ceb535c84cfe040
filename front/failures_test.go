package front_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// A failedRequest is an event of GET /failures.
type failedRequest struct {
	Event string `json:"event"`
	Trace string `json:"trace_id"`
	HTTP  struct {
		Status int    `json:"status_code"`
		Path   string `json:"path"`
		Query  string `json:"query"`
		Route  string `json:"route"`
	} `json:"http"`
	Data struct {
		Server   string `json:"destination"`
		Upstream string `json:"proxy_name"`
		Failure  string `json:"failure"`
	} `json:"data"`
}

// failures returns the last failed requests of a front door, the newest first.
func failures(t *testing.T, d *testDoor) (list struct {
	Failed, Passed int
	Events         []failedRequest
}) {
	t.Helper()
	_, text := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/failures")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return list
}

// TestFailedRequestsAreListed sends requests that fail in several ways, and one that does not.
func TestFailedRequestsAreListed(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(500)
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Log.Format, c.Log.Redact = "ltsv", []string{"token"} // the list is JSON in any case
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "gone",
			Servers: []upstreams.Server{{URL: "http://127.0.0.1:1"}}})
		gone := config.DefaultRoute("/gone", "gone")
		gone.Events = config.EventsOff
		c.Routes = append(c.Routes, gone)
	})
	get(t, httpClient(t), d.url("/fine"))
	for n, path := range []string{"/broken?token=secret&x=<b>", "/gone"} {
		get(t, httpClient(t), d.url(path))
		testkit.AwaitEqual(t, "listed failures", func() int { return len(failures(t, d).Events) }, n+1)
	}
	got := failures(t, d)
	want := []failedRequest{{Event: "http request completed"}, {Event: "http request completed"}}
	gone, broken := &want[0], &want[1]
	gone.HTTP.Status, gone.HTTP.Path, gone.HTTP.Route = 502, "/gone", "/gone"
	gone.Data.Failure, gone.Data.Upstream, gone.Data.Server = "refused", "gone", "http://127.0.0.1:1"
	broken.HTTP.Status, broken.HTTP.Path, broken.HTTP.Query = 500, "/broken", "token=[redacted]&x=<b>"
	broken.HTTP.Route, broken.Data.Upstream, broken.Data.Server = "/{path...}", "site", back.URL
	for i := range got.Events {
		if got.Events[i].Trace == "" {
			t.Errorf("failure %d has no trace id", i)
		}
		got.Events[i].Trace = ""
	}
	if diff := cmp.Diff(want, got.Events); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// TestRefusalsByLimitsAreNoFailures sends requests beyond a limit.
func TestRefusalsByLimitsAreNoFailures(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	entered := make(chan struct{})
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
	})
	d := openDoor(t, back.URL, func(c *config.Config) { c.Limits.InFlight = 1 })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := httpClient(t).Get(d.url("/first")); err == nil {
			resp.Body.Close()
		}
	}()
	<-entered
	if resp, _ := get(t, httpClient(t), d.url("/second")); resp.StatusCode != 503 {
		t.Errorf("beyond the limit: %s, want 503", resp.Status)
	}
	close(release)
	<-ended
	testkit.Await(t, "the end of both", func() bool {
		_, text := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/metrics")
		return strings.Contains(text, "weir_requests_in_flight 0\n")
	})
	if l := failures(t, d); l.Failed != 0 {
		t.Errorf("a refusal by a limit is a failure: %+v", l)
	}
}
