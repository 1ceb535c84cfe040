package load_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/check"
	"github.com/weirhq/weir/load/pace"
)

// oneInTen returns a handler that calls fail for every tenth request, and h for others.
func oneInTen(fail, h http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%10 == 0 {
			fail(w, r)
			return
		}
		h(w, r)
	}
}

// holds checks whether a check holds for a result.
func holds(t *testing.T, r *load.Result, text string, want bool) {
	t.Helper()
	c, err := check.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if value, got, err := c.Of(r); got != want || err != nil {
		t.Errorf("%q is %v, %v; want %v: %s", text, got, err, want, value)
	}
}

// TestOutageRaisesTheQuantiles uses a server that never responds to one request of ten. No quantile among them may
// be below the timeout, in any protocol and both loops.
func TestOutageRaisesTheQuantiles(t *testing.T) {
	t.Parallel()
	const timeout, requests = 5 * time.Second, 100 // enough for the handshakes of TLS on a busy machine
	silent := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, c := range servers {
		for loop, pace := range map[string]pace.Pace{"closed": {}, "open": pace.Rate(400)} {
			t.Run(c.name+", "+loop, func(t *testing.T) {
				t.Parallel()
				s := newCounter(t, oneInTen(silent, hello), c.how)
				r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace, Requests: requests, Duration: waitLimit,
					Connections: 4,
					Protocol:    c.protocol, TLS: trusting(), Timeout: timeout, Process: -1})
				l := r.Latency
				if r.LatencyFromDue != nil {
					l = r.LatencyFromDue
				}
				if r.Errors["timeout"] != requests/10 || l.GivenUp != requests/10 {
					t.Fatalf("%v errors, %d given up; want %d timeouts", r.Errors, l.GivenUp, requests/10)
				}
				least := load.Micros(timeout.Microseconds())
				if l.P99 < least || !slices.Contains(l.AtLeast, "p99") || l.Max < least || l.Mean < least/10 {
					t.Errorf("p99 is %v us, the most %v, the mean %v, lower bounds are %q; want p99 to be one of "+
						"at least %v", l.P99, l.Max, l.Mean, l.AtLeast, least)
				}
				if slices.Contains(l.AtLeast, "p50") || l.Answered.P99 >= l.P99 || l.Answered.Count != requests*9/10 {
					t.Errorf("p50 is a bound: %q; of the answered %+v", l.AtLeast, l.Answered)
				}
				holds(t, r, "p99 > 400ms", true)
				holds(t, r, "p99 < 400ms", false)
				holds(t, r, "p97.7 > 400ms", true)
				holds(t, r, fmt.Sprintf("answered max > %fms", float64(l.Answered.Max)/1e3-0.001), true)
				beyond, err := check.Parse("p99 > 20s")
				if err != nil {
					t.Fatal(err)
				}
				if value, _, err := beyond.Of(r); err == nil {
					t.Errorf("%q has an outcome, want an error: %s", beyond, value)
				}
			})
		}
	}
}

// TestResetsCountAsNeverAnswered uses a server that resets the connection instead of one response in ten.
func TestResetsCountAsNeverAnswered(t *testing.T) {
	t.Parallel()
	reset := func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }
	for _, c := range servers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newCounter(t, oneInTen(reset, hello), c.how)
			r := run(t, load.Plan{Targets: targets(s.URL), Requests: 100, Connections: 4, Protocol: c.protocol,
				TLS: trusting(), Timeout: waitLimit, Process: -1})
			l := r.Latency
			if l.NeverAnswered != r.Failed || r.Failed < 10 {
				t.Fatalf("%d of %d failed requests were never answered, want at least 10 and all",
					l.NeverAnswered, r.Failed)
			}
			if l.P99 != load.NeverAnswered || l.Max != load.NeverAnswered || l.Mean != load.NeverAnswered ||
				l.P50 == load.NeverAnswered {
				t.Errorf("of %d requests %d failed, and the latency is %+v", l.Count, l.NeverAnswered, l)
			}
			holds(t, r, "p99 > 86400s", true)
		})
	}
}

// TestRefusedRequestsCountInQuantiles stops the server. Requests that are due and have no connection count
// as never answered.
func TestRefusedRequestsCountInQuantiles(t *testing.T) {
	t.Parallel()
	for loop, pace := range map[string]pace.Pace{"closed": {}, "open": pace.Rate(400)} {
		for _, keepAlive := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, keep-alive %v", loop, keepAlive), func(t *testing.T) {
				t.Parallel()
				var away sync.Once
				s := newBadServer(t, nil, func(v *visit) {
					for v.ask() {
						if v.server.asked.Load() < 30 {
							v.say(good)
							continue
						}
						away.Do(func() { v.server.Listener.Close() })
						return
					}
				})
				r := run(t, load.Plan{Targets: targets(s.url), Pace: pace, Requests: 50, Connections: 2,
					MaxConnections: 2, NoKeepAlive: !keepAlive, Timeout: waitLimit, Process: -1})
				l := r.Latency
				if r.LatencyFromDue != nil {
					l = r.LatencyFromDue
				}
				if r.UnsentFor["no_connection"] == 0 || l.NeverAnswered != 50-r.Requests ||
					l.P90 != load.NeverAnswered {
					t.Errorf("%d answered, %v unsent; the latency is %+v", r.Requests, r.UnsentFor, l)
				}
			})
		}
	}
}

// TestUnsentRequestsCountInQuantiles checks requests that are due and not sent: skipped ones count as
// never answered, and those that wait at the end with the time that they have waited.
func TestUnsentRequestsCountInQuantiles(t *testing.T) {
	t.Parallel()
	for _, backlog := range []int{-1, 0} {
		t.Run(fmt.Sprintf("backlog %d", backlog), func(t *testing.T) {
			t.Parallel()
			s := newBadServer(t, nil, func(v *visit) {
				if v.ask() {
					v.listen()
				}
			})
			const timeout = 300 * time.Millisecond
			r := run(t, load.Plan{Targets: targets(s.url), Pace: pace.Rate(400), Duration: 100 * time.Millisecond,
				Connections: 1, MaxConnections: 1, Backlog: backlog, Timeout: timeout, Process: -1})
			l := r.LatencyFromDue
			if l.NeverAnswered != r.UnsentFor["skipped"] || r.Unsent == 0 || r.Requests > 0 || l.Answered != nil {
				t.Errorf("%d answered, %v unsent; the latency is %+v", r.Requests, r.UnsentFor, l)
			}
			if backlog == 0 && l.P50 < load.Micros(timeout.Microseconds()) {
				t.Errorf("half of the requests took %v us at most, want the timeout at least: %v unsent",
					l.P50, r.UnsentFor)
			}
		})
	}
}

// TestNeverAnsweredSurvivesJSON encodes and decodes a result.
func TestNeverAnsweredSurvivesJSON(t *testing.T) {
	t.Parallel()
	s := newBadServer(t, nil, func(v *visit) { v.ask() })
	r := run(t, load.Plan{Targets: targets(s.url), Pace: pace.Rate(400), Requests: 20, Connections: 1,
		Timeout: waitLimit, Process: -1})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Latency struct {
			P99            any
			Never_answered int
		} `json:"latency_from_due"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if l := document.Latency; l.P99 != nil || l.Never_answered != 20 {
		t.Errorf("p99 is %v of %d never answered, want null of 20", l.P99, l.Never_answered)
	}
	var again load.Result
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("written and read (-want +got):\n%s", diff)
	}
}

// TestUncertainQuantilesAreMarked checks that quantiles with fewer than three requests beyond are marked.
func TestUncertainQuantilesAreMarked(t *testing.T) {
	t.Parallel()
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	for requests, want := range map[int64][]string{
		20:  {"p2_5", "p90", "p97_5", "p99", "p999", "p9999"},
		300: {"p999", "p9999"},
	} {
		r := run(t, load.Plan{Targets: targets(s.URL), Requests: requests, Connections: 2, Process: -1})
		if diff := cmp.Diff(want, r.Latency.TooFew); diff != "" {
			t.Errorf("of %d requests (-want +got):\n%s", requests, diff)
		}
	}
}

// TestTimeoutCutsPipeline sends requests on a connection that is closed because an older
// request has timed out. They were not given up after their short time.
func TestTimeoutCutsPipeline(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second // far more than the process may be stopped
	for _, w := range []way{{name: "plain"}, {name: "TLS", tls: true}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			serverTLS, clientTLS := quickTLS(t)
			if !w.tls {
				serverTLS = nil
			}
			s := newBadServer(t, serverTLS, (*visit).listen)
			r := run(t, load.Plan{Targets: targets(s.url), TLS: clientTLS, Pace: pace.Rate(20),
				Duration:    time.Second,
				Connections: 1, MaxConnections: 1, Pipeline: 100, Timeout: timeout, Process: -1})
			l := r.Latency
			if l.GivenUp == 0 || l.NeverAnswered == 0 || l.Min < load.Micros(timeout.Microseconds()) {
				t.Errorf("%d given up and %d never answered, the first after %v us; want both, and the timeout at "+
					"least: %v", l.GivenUp, l.NeverAnswered, l.Min, r.Errors)
			}
		})
	}
}
