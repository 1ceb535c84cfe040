package main

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemoStartsWithoutConfiguration does the first steps of a new user: weir serve, then one curl.
func TestDemoStartsWithoutConfiguration(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	url := p.url()
	p.says(regexp.QuoteMeta("curl -i '" + url + "/embed/visualisations/a/b?x=1'"))

	before := time.Now()
	req, err := http.NewRequest("GET", url+"/embed/visualisations/a/b?x=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "curl/8.0")
	req.Header.Set("Referer", "http://example.com/")
	a := do(t, client(t), req)
	if a.StatusCode != 200 || !strings.HasPrefix(a.body, "GET /embed/visualisations/a/b?x=1 HTTP/1.1\n") {
		t.Errorf("%d %q, want 200 and the backend's view of the request", a.StatusCode, a.body)
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
	after := time.Now()

	events := p.events(3)
	checkKeys(t, events)
	host, portText, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	port, _ := strconv.Atoi(portText)
	for i, name := range []string{received, proxying, completed} {
		e := events[i]
		h := e.HTTP
		if e.Event != name || e.Namespace != "front-door" || *e.Severity != 3 ||
			e.TraceID != a.Header.Get("X-Request-Id") {
			t.Errorf("event %d: want %q of front-door, severity 3, trace id %q:\n%s", i, name,
				a.Header.Get("X-Request-Id"), e.line)
		}
		if h.Method != "GET" || h.Scheme != "http" || h.Host != host || h.Port != port ||
			h.Path != "/embed/visualisations/a/b" || h.Query != "x=1" {
			t.Errorf("event %d is about another request:\n%s", i, e.line)
		}
		if e.CreatedAt.Before(before) || e.CreatedAt.After(after) {
			t.Errorf("event %d was created at %v, want between %v and %v", i, e.CreatedAt, before, after)
		}
	}
	if !regexp.MustCompile(`^[A-Za-z]{16}$`).MatchString(events[0].TraceID) {
		t.Errorf("trace id %q, want 16 letters", events[0].TraceID)
	}
	if events[0].status() != 0 || events[1].status() != 0 || events[2].status() != 200 {
		t.Errorf("status codes %d, %d, %d; want 0, 0, 200", events[0].status(), events[1].status(), events[2].status())
	}
	destination := regexp.MustCompile(`^http://127\.0\.0\.1:\d+$`)
	if d := events[1].Data; d["proxy_name"] != "demo" || !destination.MatchString(fmt.Sprint(d["destination"])) {
		t.Errorf("data of the second event: %v", d)
	}
	done := events[2].HTTP
	// The duration comes from the monotonic clock, which may differ a little.
	differs := time.Duration(done.Duration) - done.EndedAt.Sub(done.StartedAt)
	if !done.StartedAt.Equal(events[0].HTTP.StartedAt) || done.Duration <= 0 || differs.Abs() > time.Second {
		t.Errorf("started at %v, ended at %v, duration %d", done.StartedAt, done.EndedAt, done.Duration)
	}
	if done.ResponseContentLength != int64(len(a.body)) || done.RequestContentLength != 0 ||
		done.Route != "/{path...}" ||
		done.Client != "127.0.0.1" || done.Protocol != "HTTP/1.1" || done.UserAgent != "curl/8.0" ||
		done.Referer != "http://example.com/" {
		t.Errorf("the completed event says:\n%s", events[2].line)
	}
}

// checkKeys checks that the keys of the three events are those of the format, in
// its order.
func checkKeys(t *testing.T, events []event) {
	t.Helper()
	top := []string{"created_at", "namespace", "event", "trace_id", "severity", "http"}
	http := []string{"status_code", "method", "scheme", "host", "port", "path", "query"}
	for i, want := range [][2][]string{
		{top, slices.Concat(http, []string{"started_at"})},
		{slices.Concat(top, []string{"data"}), http},
		{top, slices.Concat(http, []string{"started_at", "ended_at", "duration", "response_content_length",
			"route", "client", "protocol", "user_agent", "referer"})},
	} {
		line := events[i].line
		if got := keys(t, line); !slices.Equal(got, want[0]) {
			t.Errorf("event %d has the keys %q, want %q", i, got, want[0])
		}
		if got := keys(t, member(t, line, "http")); !slices.Equal(got, want[1]) {
			t.Errorf("http of event %d has the keys %q, want %q", i, got, want[1])
		}
	}
	want := []string{"destination", "proxy_name"}
	if got := keys(t, member(t, events[1].line, "data")); !slices.Equal(got, want) {
		t.Errorf("data has the keys %q, want %q", got, want)
	}
}

// TestTraceIDReachesUpstreamAndLog follows a trace id to the upstream, the client and the log.
func TestTraceIDReachesUpstreamAndLog(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	random := `[A-Za-z]{16}`
	for i, c := range []struct {
		name       string
		header     map[string]string
		wantID     string
		wantParent string
	}{
		{"none", nil, random, `00-[0-9a-f]{32}-[0-9a-f]{16}-01`},
		{"X-Request-Id", map[string]string{"X-Request-Id": "my-id.1"}, `my-id\.1`, `00-[0-9a-f]{32}-[0-9a-f]{16}-01`},
		{"traceparent", map[string]string{"Traceparent": parent}, trace, parent},
		{"both", map[string]string{"X-Request-Id": "mine", "Traceparent": parent}, trace, parent},
		{"nonsense", map[string]string{"X-Request-Id": `a"b`, "Traceparent": "00-0-0-00"}, random,
			`00-[0-9a-f]{32}-[0-9a-f]{16}-01`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequest("GET", p.url()+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range c.header {
				req.Header.Set(name, value)
			}
			a := do(t, client(t), req)
			id := a.Header.Get("X-Request-Id")
			if !regexp.MustCompile("^" + c.wantID + "$").MatchString(id) {
				t.Errorf("the client got X-Request-Id %q, want %s", id, c.wantID)
			}
			for _, want := range []string{"\nX-Request-Id: " + regexp.QuoteMeta(id) + "\r\n", "\nTraceparent: " +
				c.wantParent + "\r\n"} {
				if !regexp.MustCompile(want).MatchString(a.body) {
					t.Errorf("the upstream got %q, want %q in it", a.body, want)
				}
			}
			for _, e := range p.events(3 * (i + 1))[3*i:] {
				if e.TraceID != id {
					t.Errorf("the log has the trace id %q, want %q", e.TraceID, id)
				}
			}
		})
	}
}

// TestCompletedEventAloneHasAllFields logs completed events only, and checks that each has the
// fields of the other two events.
func TestCompletedEventAloneHasAllFields(t *testing.T) {
	t.Parallel()
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	log := t.TempDir() + "/weir.log"
	p := door(t, fmt.Sprintf("log: {to: %q, events: completed}\n", log)+allTo(b.url()))
	a := get(t, client(t), p.url()+"/alone")
	e := eventsIn(t, log, 1)[0]
	if e.Event != completed || e.TraceID != a.Header.Get("X-Request-Id") || e.status() != 200 {
		t.Errorf("the event is not the completed one:\n%s", e.line)
	}
	if want := map[string]any{"destination": b.url(), "proxy_name": "site"}; !maps.Equal(e.Data, want) {
		t.Errorf("data %v, want %v", e.Data, want)
	}
	if out, err := os.ReadFile(p.stdout); err != nil || len(out) > 0 {
		t.Errorf("stdout has %q, %v; want nothing", out, err)
	}
}
