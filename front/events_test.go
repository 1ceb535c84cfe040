package front_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// conversations are the bytes of clients, over each protocol, for tests of
// their events.
var conversations = []struct {
	protocol string
	send     func(t *testing.T, d *testDoor) *http.Response
}{
	{"HTTP/1.1", func(t *testing.T, d *testDoor) *http.Response {
		resp, _ := do(t, httpClient(t), request(t, d))
		return resp
	}},
	{"HTTP/2.0", func(t *testing.T, d *testDoor) *http.Response {
		resp, _ := do(t, h2cClient(t), request(t, d))
		return resp
	}},
	{"HTTP/1.0", func(t *testing.T, d *testDoor) *http.Response {
		resp, _ := ask(t, d.addr, "POST /a/b%20c?x=1&y=%22 HTTP/1.0\r\nHost: www.example.com:8080\r\n"+
			"User-Agent: tester \"1\"\r\nReferer: http://example.org/\r\nContent-Length: 3\r\n\r\nabc")
		return resp
	}},
}

func request(t *testing.T, d *testDoor) *http.Request {
	r, err := http.NewRequest("POST", d.url("/a/b%20c?x=1&y=%22"), strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "www.example.com:8080"
	r.Header.Set("User-Agent", `tester "1"`)
	r.Header.Set("Referer", "http://example.org/")
	return r
}

// TestRequestHasThreeEvents checks all fields of the events of a proxied request.
func TestRequestHasThreeEvents(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(201)
		io.WriteString(w, "created")
	})
	for _, c := range conversations {
		t.Run(c.protocol, func(t *testing.T) {
			d := openDoor(t, back.URL)
			before := time.Now()
			resp := c.send(t, d)
			d.events(3)
			if err := d.close(); err != nil {
				t.Fatal(err)
			}
			events := d.log.events(t)
			if len(events) != 3 {
				t.Fatalf("%d events, want 3", len(events))
			}
			received, proxying, completed := events[0], events[1], events[2]

			top := []string{"created_at", "namespace", "event", "trace_id", "severity", "http"}
			request := []string{"status_code", "method", "scheme", "host", "port", "path", "query"}
			checkKeys(t, received, top)
			checkKeys(t, received, slices.Concat(request, []string{"started_at"}), "http")
			checkKeys(t, proxying, append(top, "data"))
			checkKeys(t, proxying, request, "http")
			checkKeys(t, proxying, []string{"destination", "proxy_name"}, "data")
			checkKeys(t, completed, top)
			checkKeys(t, completed, append(request, "started_at", "ended_at", "duration", "response_content_length",
				"route", "client", "protocol", "user_agent", "referer", "request_content_length"), "http")

			for i, name := range []string{"http request received", "proxying request", "http request completed"} {
				e := events[i]
				if e.Event != name || e.Namespace != "front-door" || e.Severity != 3 ||
					e.TraceID != resp.Header.Get("X-Request-Id") {
					t.Errorf("event %d is %s", i, e.raw)
				}
				h := e.HTTP
				if h.Method != "POST" || h.Scheme != "http" || h.Host != "www.example.com" || h.Port != 8080 ||
					h.Path != "/a/b%20c" || h.Query != "x=1&y=%22" {
					t.Errorf("%s has the request as %+v", name, h)
				}
			}
			if received.HTTP.StatusCode != 0 || proxying.HTTP.StatusCode != 0 {
				t.Error("a status before there is one")
			}
			want := map[string]any{"destination": back.URL, "proxy_name": "site"}
			if diff := cmp.Diff(want, proxying.Data); diff != "" {
				t.Errorf("proxying request has other data (-want +got):\n%s", diff)
			}
			checkTimes(t, before, received, completed)
			h := completed.HTTP
			if h.StatusCode != 201 || h.ResponseContentLength != 7 || h.RequestContentLength != 3 || h.Route != "/{path...}" ||
				h.Client != "127.0.0.1" || h.Protocol != c.protocol || h.UserAgent != `tester "1"` ||
				h.Referer != "http://example.org/" {
				t.Errorf("completed: %s", completed.raw)
			}
		})
	}
}

func checkKeys(t *testing.T, e event, want []string, place ...string) {
	t.Helper()
	if got := e.keys(t, place...); !slices.Equal(got, want) {
		t.Errorf("%s, keys at %q:\n got %q\nwant %q", e.Event, place, got, want)
	}
}

// checkTimes checks the order of the times of a request.
func checkTimes(t *testing.T, before time.Time, received, completed event) {
	t.Helper()
	h := completed.HTTP
	if h.StartedAt.Before(before) || h.EndedAt.Before(h.StartedAt) || h.EndedAt.After(time.Now()) {
		t.Errorf("started %v, ended %v", h.StartedAt, h.EndedAt)
	}
	if !received.HTTP.StartedAt.Equal(h.StartedAt) || !received.CreatedAt.Equal(h.StartedAt) ||
		!completed.CreatedAt.Equal(h.EndedAt) {
		t.Errorf("the events disagree on when it was:\n%s%s", received.raw, completed.raw)
	}
	if got, want := h.Duration, h.EndedAt.Sub(h.StartedAt).Nanoseconds(); got <= 0 || got-want > 1e6 || want-got > 1e6 {
		t.Errorf("duration %d between instants that are %d apart", got, want)
	}
}

// TestCompletedEventHasAllData checks the completed event with log.events: completed,
// which has the data of the others.
func TestCompletedEventHasAllData(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) { c.Log.Events = config.EventsCompleted })
	resp, _ := get(t, httpClient(t), d.url("/a?b"))
	d.completed(t, "/a") // the event may be later than the response, and than another request
	ask(t, d.addr, "GET /.. HTTP/1.1\r\nHost: a\r\n\r\n")
	d.close()
	events := d.log.events(t)
	if len(events) != 2 {
		t.Fatalf("%d events for two requests, want one for each", len(events))
	}
	e := events[0]
	want := map[string]any{"destination": back.URL, "proxy_name": "site"}
	if diff := cmp.Diff(want, e.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if e.TraceID != resp.Header.Get("X-Request-Id") || e.HTTP.StatusCode != 200 || e.HTTP.StartedAt.IsZero() ||
		e.HTTP.Path != "/a" || e.HTTP.Query != "b" {
		t.Errorf("the event is %s", e.raw)
	}
	if e := events[1]; e.HTTP.StatusCode != 400 || e.Data["refused"] == nil {
		t.Errorf("the event of a refusal is %s", e.raw)
	}
}

// TestFailoverIsLogged has a server that refuses connections before one that
// responds. The log names the one that responded.
func TestFailoverIsLogged(t *testing.T) {
	t.Parallel()
	back, dead := upstream(t, hello), "http://"+testkit.ClosedAddress(t)
	d := openDoor(t, back.URL, func(c *config.Config) { c.Upstreams[0].Servers = []upstreams.Server{{URL: dead}, {URL: back.URL}} })
	get(t, httpClient(t), d.url("/a"))
	for i, want := range []map[string]any{nil, {"destination": dead, "proxy_name": "site"},
		{"destination": back.URL, "proxy_name": "site"}} {
		if e := d.events(3)[i]; !cmp.Equal(want, e.Data) {
			t.Errorf("event %d has other data than %v: %s", i, want, e.raw)
		}
	}
}

// TestEachFailureIsLogged checks the events of all kinds of failure.
func TestEachFailureIsLogged(t *testing.T) {
	t.Parallel()
	arrived := newGate(t) // the first half of a response
	half := rawUpstream(t, func(c *rawConn) {
		c.request()
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("x", 400))
		arrived.await(t)
	})
	mute := rawUpstream(t, func(c *rawConn) { c.request(); io.Copy(io.Discard, c) })
	noHTTP := rawUpstream(t, func(c *rawConn) { c.request(); c.send("SSH-2.0-weird\r\n") })
	hangUp := rawUpstream(t, func(c *rawConn) { c.request() })
	for _, c := range []struct {
		name, upstream string
		talk           func(t *testing.T, d *testDoor)
		status         int
		severity       int
		failure        string
		cut            bool
		sent           int64  // bytes of the body
		message        string // part of it
	}{
		{"refused", testkit.ClosedAddress(t), getAnswer, 502, 1, "refused", false, -1, "connection refused"},
		{"hung up", hangUp, getAnswer, 502, 1, "closed", false, -1, hangUp + ": waiting for the response"},
		{"no HTTP", noHTTP, getAnswer, 502, 1, "bad_answer", false, -1, `"SSH-2.0-weird": the response does not begin`},
		{"mute", mute, getAnswer, 504, 1, "timeout", false, -1, "waiting for the response"},
		{"half a response", half, func(t *testing.T, d *testDoor) {
			conn := dial(t, d.addr)
			conn.send("GET /fails HTTP/1.1\r\nHost: a\r\n\r\n")
			resp, err := http.ReadResponse(conn.r, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			io.CopyN(io.Discard, resp.Body, 400)
			arrived.open()
			if b, err := io.ReadAll(resp.Body); err == nil {
				t.Errorf("a body of %d bytes that looks whole", 400+len(b))
			}
		}, 200, 1, "truncated", true, 400, "reading the response"},
		{"client gone", mute, func(t *testing.T, d *testDoor) {
			conn := dial(t, d.addr)
			conn.send("GET /fails HTTP/1.1\r\nHost: a\r\n\r\n")
			d.events(2)
			conn.Close()
		}, 499, 2, "client_gone", false, 0, "the client is gone"},
		{"client gone, HTTP/2", mute, func(t *testing.T, d *testDoor) {
			h2 := dialHTTP2(t, d.addr)
			h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/fails")
			d.events(2)
			h2.conn.Close()
		}, 499, 2, "client_gone", false, 0, "the client is gone"},
		{"malformed body", mute, func(t *testing.T, d *testDoor) {
			resp, _ := ask(t, d.addr, "POST /fails HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
			if resp.StatusCode != 400 {
				t.Errorf("answered %d, want 400", resp.StatusCode)
			}
		}, 400, 2, "client_body", false, -1, "reading the request's body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDoor(t, "http://"+c.upstream, func(cfg *config.Config) {
				cfg.Upstreams[0].Retry.Attempts = 1 // otherwise each attempt counts as a failure
				if c.name == "mute" {
					cfg.Routes[0].Timeout = 50 * time.Millisecond
				}
			})
			c.talk(t, d)
			e := d.completed(t, "/fails")
			if e.HTTP.StatusCode != c.status || e.Severity != c.severity || e.Data["failure"] != c.failure ||
				e.Data["cut"] != c.cut {
				t.Errorf("want %d, severity %d, failure %s, cut %v in %s", c.status, c.severity, c.failure, c.cut, e.raw)
			}
			if sent := e.HTTP.ResponseContentLength; c.sent >= 0 && sent != c.sent || c.sent < 0 && sent == 0 {
				t.Errorf("%d bytes sent, want %d in %s", sent, c.sent, e.raw)
			}
			if len(e.Errors) != 1 || !strings.Contains(e.Errors[0].Message, c.message) {
				t.Errorf("want one error that says %q in %s", c.message, e.raw)
			}
			testkit.AwaitEqual(t, "nothing in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
			kind := fmt.Sprintf(`weir_upstream_errors_total{kind=%q,upstream="site"}`, c.failure)
			if got, want := d.metric(t, kind), float64(2-c.severity); got != want {
				t.Errorf("%s is %v, want %v", kind, got, want)
			}
			code := fmt.Sprintf(`weir_requests_total{code=%q,method=%q,route="/{path...}"}`, strconv.Itoa(c.status),
				e.HTTP.Method)
			if got := d.metric(t, code); got != 1 {
				t.Errorf("%s is %v, want 1", code, got)
			}
		})
	}
}

// getAnswer sends a request to which the front door itself responds in plain
// text.
func getAnswer(t *testing.T, d *testDoor) {
	resp, body := get(t, httpClient(t), d.url("/fails"))
	if want := fmt.Sprintf("%d %s\n", resp.StatusCode, http.StatusText(resp.StatusCode)); body != want {
		t.Errorf("the body is %q, want %q", body, want)
	}
}
