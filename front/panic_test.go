package front_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/testkit"
)

// TestPanicEndsOnlyItsRequest injects panics at two points of a request. Only that request ends.
func TestPanicEndsOnlyItsRequest(t *testing.T) {
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "hello")
	})
	open := testkit.Descriptors(t, os.Getpid())
	d := newDoor(t, back.URL, func(c *config.Config) {
		c.Routes = append(c.Routes, config.DefaultRoute("/before", "site"), config.DefaultRoute("/after", "site"))
	})
	d.WrapAction("/before", explodesBefore)
	d.WrapAction("/after", explodesAfter)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()

	big := strings.Repeat("x", 1<<20)
	for i, c := range []struct {
		path, body string
		h2         bool
		status     int // of the response; 0 if it had begun, and may be complete or not
	}{
		{"/before", "", false, 500},
		{"/before", "", true, 500},
		{"/before", big, false, 500},
		{"/before", big, true, 500},
		{"/after", "", false, 0},
		{"/after", "", true, 0},
		{"/after", big, false, 0},
	} {
		client := httpClient(t)
		if c.h2 {
			client = h2cClient(t)
		}
		method := "GET"
		if c.body != "" {
			method = "POST"
		}
		r, err := http.NewRequest(method, d.url(c.path), strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		status := 0
		if resp, err := client.Do(r); err == nil {
			if _, err := io.Copy(io.Discard, resp.Body); err == nil {
				status = resp.StatusCode
			}
			resp.Body.Close()
		}
		if c.status != 0 && status != c.status {
			t.Errorf("%d, %s %s: %d, want %d", i, method, c.path, status, c.status)
		}
		if resp, body := get(t, client, d.url("/well")); resp.StatusCode != 200 || body != "hello" {
			t.Errorf("%d: the next request: %d, %q", i, resp.StatusCode, body)
		}
		client.CloseIdleConnections()
	}
	testkit.AwaitEqual(t, "nothing in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
	if got := d.metric(t, `weir_limit_in_use{limit="in_flight",route="all"}`); got != 0 {
		t.Errorf("%v places are held after a panic, want none", got)
	}
	if err := d.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	testkit.Await(t, "all descriptors closed", func() bool { return testkit.Descriptors(t, os.Getpid()) <= open })
	checkPanicEvents(t, d.log.events(t), 7)
}

// checkPanicEvents checks that each of n requests has one event with the stack
// and a completed one.
func checkPanicEvents(t *testing.T, events []event, n int) {
	t.Helper()
	completed := make(map[string]event)
	for _, e := range events {
		if e.Event == "http request completed" {
			completed[e.TraceID] = e
		}
	}
	panics := 0
	for _, e := range events {
		if len(e.Errors) == 0 || len(e.Errors[0].Stack) == 0 {
			continue
		}
		panics++
		err := e.Errors[0]
		if e.Event != "panic while serving a request" || e.Severity != 1 || err.Message != "exploded" ||
			!strings.HasSuffix(err.Stack[0].Function, ".explode") || !strings.HasSuffix(err.Stack[0].File, "panic_test.go") {
			t.Errorf("the event of a panic is %s", e.raw)
		}
		if c := completed[e.TraceID]; c.Severity != 1 {
			t.Errorf("severity %d, want 1 in %s", c.Severity, c.raw)
		}
	}
	if panics != n {
		t.Errorf("%d events with a stack, want %d", panics, n)
	}
}

// An exploding is an action that panics: before the request is sent to the upstream, or after the
// response.
type exploding struct {
	stage.Action
	before bool
}

func explodesBefore(a stage.Action) stage.Action { return exploding{a, true} }
func explodesAfter(a stage.Action) stage.Action  { return exploding{a, false} }

func (a exploding) Respond(x *stage.Exchange) {
	if a.before {
		x.Mirror = a
	}
	a.Action.Respond(x)
	explode()
}

func (a exploding) Offer(*stage.Exchange) { explode() }

func explode() { panic("exploded") }
