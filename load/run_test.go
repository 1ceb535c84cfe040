package load_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// waitLimit is how long a test waits for an event.
const waitLimit = 20 * time.Second

// A counter is a server that counts its requests.
type counter struct {
	*httptest.Server
	asked atomic.Int64
}

func newCounter(t *testing.T, h http.HandlerFunc, how ...func(*httptest.Server)) *counter {
	t.Helper()
	c := &counter{}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		h(w, r)
	}))
	for _, set := range how {
		set(c.Server)
	}
	if c.TLS != nil || c.EnableHTTP2 {
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(func() {
		c.CloseClientConnections() // Close waits for handlers, which may wait for their client
		c.Close()
	})
	return c
}

func hello(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello\n") }

// run runs a plan and checks the sums in its result.
func run(t *testing.T, p load.Plan) *load.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if os.Getenv("WEIR_ENGINE") == "goroutines" { // make test runs the tests with both
		p = load.OnGoroutines(p)
	}
	r, err := load.Run(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	return r
}

// checkSums checks the invariants of a result.
func checkSums(t *testing.T, r *load.Result) {
	t.Helper()
	if r.Asked != r.Sent+r.Unsent || r.Sent != r.Requests+r.Failed+r.Unanswered {
		t.Errorf("%d asked = %d sent + %d unsent, and that = %d answered + %d failed + %d unanswered, do not add up",
			r.Asked, r.Sent, r.Unsent, r.Requests, r.Failed, r.Unanswered)
	}
	if got := sum(r.UnsentFor); got != r.Unsent {
		t.Errorf("%d unsent, but %v", r.Unsent, r.UnsentFor)
	}
	if got := sum(r.LateFor); got != r.Late {
		t.Errorf("%d late, but %v", r.Late, r.LateFor)
	}
	if a, b := sum(r.Status), sum(r.StatusCodes); a != r.Requests || b != r.Requests {
		t.Errorf("%d responses, but %v and %v", r.Requests, r.Status, r.StatusCodes)
	}
	checkCount(t, r, "from sent", r.Latency, r.Sent+r.UnsentFor["no_connection"])
	if r.Pacing != nil {
		checkCount(t, r, "from due", r.LatencyFromDue, r.Asked)
	}
	checkTargets(t, r)
	var asked, sent, answered, bytes, failures int64
	end := 0.0
	for i, s := range r.Series {
		if math.Abs(s.Start-end) > 1e-6 {
			t.Errorf("second %d starts at %v, the one before ends at %v", i, s.Start, end)
		}
		end = s.Start + s.Seconds
		asked, sent, answered, bytes, failures = asked+s.Asked, sent+s.Sent, answered+s.Requests, bytes+
			s.Bytes, failures+s.Errors
	}
	if len(r.Series) > 0 && math.Abs(end-r.DurationSeconds) > 1e-6 {
		t.Errorf("the series ends at %v, want %v, when the run stopped sending", end, r.DurationSeconds)
	}
	// What comes after the end of the series is in the totals only.
	inTime, bytesInTime := r.RequestsPerSecond*r.DurationSeconds, r.BytesPerSecond*r.DurationSeconds
	if len(r.Series) > 0 && (asked != r.Asked || sent > r.Sent || float64(answered) != math.Round(inTime) ||
		float64(bytes) != math.Round(bytesInTime) || failures > sum(r.Errors)) {
		t.Errorf("the series sums up to %d asked, %d sent, %d answered, %d bytes, %d errors; the result has %d, "+
			"%d, %v and %v in this time, %d",
			asked, sent, answered, bytes, failures, r.Asked, r.Sent, inTime, bytesInTime, sum(r.Errors))
	}
}

// checkCount checks the number of requests in a latency, and how many have a response.
func checkCount(t *testing.T, r *load.Result, from string, l *load.Latency, want int64) {
	t.Helper()
	if l == nil {
		l = &load.Latency{}
	}
	if l.Count != want || l.Count-l.GivenUp-l.NeverAnswered != r.Requests {
		t.Errorf("the latency %s has %d requests, %d given up and %d never answered; want %d, and %d answered", from,
			l.Count, l.GivenUp, l.NeverAnswered, want, r.Requests)
	}
	if whole := l.Count == r.Requests; whole != (l.Answered == nil) && r.Requests > 0 {
		t.Errorf("%d of %d requests were answered, and their own latency %s is %+v", r.Requests, l.Count,
			from, l.Answered)
	}
}

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func targets(url string) []target.Target { return []target.Target{{URL: url}} }

// servers are the kinds of servers.
var servers = []struct {
	name     string
	protocol load.Protocol
	how      func(*httptest.Server)
}{
	{"HTTP/1.1", load.HTTP1, func(*httptest.Server) {}},
	{"HTTP/1.1 with TLS", load.HTTP1, func(s *httptest.Server) { s.TLS = &tls.Config{} }},
	{"HTTP/2", load.HTTP2, func(s *httptest.Server) { s.EnableHTTP2 = true }},
	{"h2c", load.HTTP2, h2c},
}

// TestClosedLoopSendsExactNumber sends a number of requests to each kind of server. Exactly that number
// arrives, and each is answered.
func TestClosedLoopSendsExactNumber(t *testing.T) {
	t.Parallel()
	for _, c := range servers {
		for _, pipeline := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d at once", c.name, pipeline), func(t *testing.T) {
				t.Parallel()
				s := newCounter(t, hello, c.how)
				const requests = 200
				r := run(t, load.Plan{Targets: targets(s.URL), Requests: requests, Connections: 5, Pipeline: pipeline,
					Protocol: c.protocol, TLS: trusting()})
				if got := s.asked.Load(); r.Requests != requests || got != requests || len(r.Errors) > 0 {
					t.Errorf("%d requests were answered and %d arrived, want %d; errors: %v %v", r.Requests, got,
						requests, r.Errors, r.ErrorExamples)
				}
				if r.Connections != 5 || r.ConnectionsMade != 5 {
					t.Errorf("%d connections at once, %d in all; want 5", r.Connections, r.ConnectionsMade)
				}
				if strings.Contains(c.name, "TLS") && r.TLSHandshake.Count != 5 {
					t.Errorf("%d handshakes, want 5", r.TLSHandshake.Count)
				}
			})
		}
	}
}

// TestOpenLoopSendsFewRequests sends fewer requests than there are threads.
func TestOpenLoopSendsFewRequests(t *testing.T) {
	t.Parallel()
	for _, c := range servers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, requests := range []int64{1, 3} {
				s := newCounter(t, hello, c.how)
				r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace.Rate(1000), Requests: requests, Threads: 8,
					Protocol: c.protocol, TLS: trusting()})
				if got := s.asked.Load(); r.Requests != requests || got != requests {
					t.Errorf("%d requests were answered and %d arrived, want %d", r.Requests, got, requests)
				}
			}
		})
	}
}

// TestThreadsSendTheTargetsInTurn checks that several threads together send each target once before they send one again.
func TestThreadsSendTheTargetsInTurn(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]pace.Pace{"closed": {}, "open": pace.Rate(2000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const paths = 200
			var mu sync.Mutex
			seen := map[string]int{} // guarded by mu
			s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen[r.URL.Path]++
				mu.Unlock()
				hello(w, r)
			})
			var all []target.Target
			for i := range paths {
				all = append(all, target.Target{URL: fmt.Sprintf("%s/%d", s.URL, i)})
			}
			run(t, load.Plan{Targets: all, Pace: p, Requests: paths, Threads: 4, Connections: 8})
			mu.Lock()
			defer mu.Unlock()
			if len(seen) != paths {
				t.Errorf("%d requests had %d paths, want as many", paths, len(seen))
			}
		})
	}
}

func trusting() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// TestOpenLoopFollowsThePace sends at a rate to each kind of server. The number of requests is that of the
// pace, all are sent, and none is answered before it was due.
func TestOpenLoopFollowsThePace(t *testing.T) {
	t.Parallel()
	for _, c := range servers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newCounter(t, hello, c.how)
			const requests = 200
			r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace.Rate(2 * requests), Duration: time.Second / 2,
				Connections: 4, MaxConnections: 4, Protocol: c.protocol, TLS: trusting()})
			if got := s.asked.Load(); r.Asked != requests || r.Requests != requests || got != requests {
				t.Errorf("%d asked, %d answered, %d arrived; want %d", r.Asked, r.Requests, got, requests)
			}
			if r.LatencyFromDue.Count != requests || r.LatencyFromDue.Mean < r.Latency.Mean ||
				r.Pacing.Lag.Count != requests {
				t.Errorf("%d latencies from due, mean %v; from sent, mean %v", r.LatencyFromDue.Count,
					r.LatencyFromDue.Mean, r.Latency.Mean)
			}
		})
	}
}

// TestStagesSendTheirRequests counts the requests of ramps, of Poisson arrivals and of a limited number.
func TestStagesSendTheirRequests(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	half := 500 * time.Millisecond
	stages := func(stages ...pace.Stage) pace.Pace { return pace.Pace{Stages: stages} }
	ramp := func(d time.Duration, from, to float64) pace.Stage { return pace.Stage{Duration: d, From: from, To: to} }
	for _, c := range []struct {
		name     string
		pace     pace.Pace
		requests int64
		min, max int64
	}{
		{"ramp", stages(ramp(half, 0, 400), ramp(half, 400, 0)), 0, 200, 200},
		{"pause", stages(ramp(half/2, 200, 200), ramp(half/2, 0, 0), ramp(half/2, 200, 200)), 0, 100, 100},
		{"number", pace.Rate(1000), 77, 77, 77},
		// five deviations
		{"poisson", pace.Pace{Stages: []pace.Stage{ramp(2*half, 400, 400)}, Poisson: true}, 0, 300, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, load.Plan{Targets: targets(s.URL), Pace: c.pace, Requests: c.requests, Threads: 3, Seed: 1})
			if r.Requests < c.min || r.Requests > c.max {
				t.Errorf("%d requests, want %d to %d", r.Requests, c.min, c.max)
			}
		})
	}
}

// TestStallCountsInLatencyFromDue uses a server that stalls for a while, and one connection. Latencies from due
// include the stall; latencies from sent do not.
func TestStallCountsInLatencyFromDue(t *testing.T) {
	t.Parallel()
	const rate, stall = 100, 500 * time.Millisecond
	var first atomic.Bool
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
		if first.CompareAndSwap(false, true) {
			time.Sleep(stall)
		}
	})
	r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace.Rate(rate), Duration: time.Second, Connections: 1,
		MaxConnections: 1})
	if r.Requests != rate {
		t.Fatalf("%d requests, want %d", r.Requests, rate)
	}
	// Half of the requests were due during the stall, and waited 250 ms on average.
	if mean := r.LatencyFromDue.Mean; mean < 100e3 {
		t.Errorf("the mean from due is %v us, want more than 100,000", mean)
	}
	if r.Latency.P90 > 100e3 {
		t.Errorf("90%% from sent are %v us, want those of a server that stood still once", r.Latency.P90)
	}
	if r.LateFor["connections"] < rate/4 {
		t.Errorf("%v requests were late for want of a connection, want about %d", r.LateFor, rate/2)
	}
}

// TestBacklogLimitsWaitingRequests limits how many requests wait for a server that stalls.
func TestBacklogLimitsWaitingRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ backlog, sent int }{{-1, 2}, {10, 12}, {0, 100}} {
		t.Run(fmt.Sprint(c.backlog), func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			var once atomic.Bool
			s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				if once.CompareAndSwap(false, true) {
					select {
					case <-gate:
					case <-r.Context().Done():
					}
				}
			})
			p := load.Plan{Targets: targets(s.URL), Pace: pace.Rate(200), Duration: 500 * time.Millisecond,
				Connections: 1, MaxConnections: 1, Backlog: c.backlog}
			opened := false
			p.Progress = func(p load.Progress) {
				if p.Waiting && !opened {
					opened = true
					close(gate)
				}
			}
			r := run(t, p)
			if r.Asked != 100 || c.backlog == 0 && r.Sent != 100 || c.backlog != 0 && r.Sent > int64(c.sent) {
				t.Errorf("%d asked, %d sent; want 100 and %d", r.Asked, r.Sent, c.sent)
			}
			if r.UnsentFor["skipped"] != r.Unsent {
				t.Errorf("%d are unsent for %v", r.Unsent, r.UnsentFor)
			}
		})
	}
}

// TestNoKeepAliveUsesNewConnections checks that each request has its own connection.
func TestNoKeepAliveUsesNewConnections(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	for _, pace := range []pace.Pace{{}, pace.Rate(500)} {
		r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace, Requests: 100, Connections: 4, NoKeepAlive: true})
		if r.Requests != 100 || r.ConnectionsMade < 100 || len(pace.Stages) == 0 && r.ConnectionsMade > 100 {
			t.Errorf("%d requests over %d connections, want 100 each; %v", r.Requests, r.ConnectionsMade,
				r.ErrorExamples)
		}
	}
}

// TestLargeBodiesArriveComplete sends bodies larger than socket buffers: a text, a file that is read once, and
// a file that is read for each request. All arrive complete and are counted.
func TestLargeBodiesArriveComplete(t *testing.T) {
	t.Parallel()
	const small, medium, large = 1 << 20, 1<<20 + 1, 4<<20 + 1
	bodies := []target.Body{
		{Text: strings.Repeat("t", small)},
		{File: strings.NewReader(strings.Repeat("f", medium)), Size: medium},
		{File: strings.NewReader(strings.Repeat("f", large)), Size: large},
	}
	for _, c := range servers {
		for _, pipeline := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d at once", c.name, pipeline), func(t *testing.T) {
				t.Parallel()
				arrived := map[int64]*atomic.Int64{small: {}, medium: {}, large: {}}
				s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
					if n, err := io.Copy(io.Discard, r.Body); err == nil && n == r.ContentLength && arrived[n] != nil {
						arrived[n].Add(1)
					}
				}, c.how)
				p := load.Plan{Requests: 6, Connections: 2, Threads: 1, Pipeline: pipeline, Protocol: c.protocol,
					TLS: trusting(), Process: -1}
				for _, body := range bodies {
					p.Targets = append(p.Targets, target.Target{URL: s.URL, Body: body})
				}
				r := run(t, p)
				for size, n := range arrived {
					if n.Load() != 2 {
						t.Errorf("%d bodies of %d bytes arrived, want 2; %v", n.Load(), size, r.ErrorExamples)
					}
				}
				if r.Status["2xx"] != 6 || r.BytesWritten < 2*(small+medium+large) {
					t.Errorf("%v responses and %d bytes, want 6 and %d; %v", r.Status, r.BytesWritten,
						2*(small+medium+large), r.ErrorExamples)
				}
			})
		}
	}
}

// TestInterruptEndsTheRun interrupts a run whose server does not respond. It ends soon, and requests
// under way count as unanswered.
func TestInterruptEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, c := range servers {
		for _, pace := range []pace.Pace{{}, pace.Rate(100)} {
			t.Run(fmt.Sprint(c.name, " ", len(pace.Stages)), func(t *testing.T) {
				t.Parallel()
				arrived, gate := make(chan struct{}, 10000), make(chan struct{})
				s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
					arrived <- struct{}{}
					select {
					case <-gate:
					case <-r.Context().Done():
					}
				}, c.how)
				defer close(gate)
				ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
				defer cancel()
				go func() {
					select {
					case <-arrived:
						cancel()
					case <-ctx.Done():
					}
				}()
				r, err := load.Run(ctx, load.Plan{Targets: targets(s.URL), Pace: pace, Duration: time.Hour,
					Connections: 3, Protocol: c.protocol, TLS: trusting()})
				if err != nil {
					t.Fatal(err)
				}
				checkSums(t, r)
				if !r.Interrupted || r.Unanswered == 0 || r.Requests > 0 {
					t.Errorf("interrupted %v, %d unanswered, %d answered", r.Interrupted, r.Unanswered, r.Requests)
				}
			})
		}
	}
}

// TestInterruptedWaitUsesNoCPU interrupts a run that only waits for responses that do not come. It
// ends soon, and the wait has used no CPU.
func TestInterruptedWaitUsesNoCPU(t *testing.T) {
	t.Parallel()
	for _, pace := range []pace.Pace{{}, pace.Rate(100)} {
		t.Run(pace.String(), func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-gate:
				case <-r.Context().Done():
				}
			})
			defer close(gate)
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			defer cancel()
			p := load.Plan{Targets: targets(s.URL), Pace: pace, Duration: 100 * time.Millisecond, Timeout: time.Hour,
				Connections: 4, Process: -1}
			p.Progress = func(p load.Progress) {
				if p.Elapsed > time.Second {
					cancel()
				}
			}
			began := time.Now()
			r, err := load.Run(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			checkSums(t, r)
			took := time.Since(began)
			if ctx.Err() != context.Canceled || !r.Interrupted || r.Unanswered == 0 || r.DurationSeconds != 0.1 {
				t.Errorf("%v, interrupted %v, %d unanswered, %v s", ctx.Err(), r.Interrupted, r.Unanswered, r.DurationSeconds)
			} else if r.Generator.CPUSeconds > took.Seconds()/2 {
				t.Errorf("waiting for %v took %v s of CPU", took, r.Generator.CPUSeconds)
			}
		})
	}
}

// TestLateRequestsDoNotCountInTheRate uses a server that is slower than the pace. Requests that are sent after
// the end do not count in the rate.
func TestLateRequestsDoNotCountInTheRate(t *testing.T) {
	t.Parallel()
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { time.Sleep(10 * time.Millisecond) })
	r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace.Rate(400), Duration: 250 * time.Millisecond,
		Connections: 1, MaxConnections: 1})
	if r.Sent != 100 || r.Pacing.AskedPerSecond != 400 || r.Pacing.SentPerSecond > 110 {
		t.Errorf("%d sent, %v/s of %v/s; want 100, and at most 100/s in the time", r.Sent, r.Pacing.SentPerSecond,
			r.Pacing.AskedPerSecond)
	}
	for _, want := range []string{"that the pace asked for", "as there may be, which is 1"} {
		if !strings.Contains(strings.Join(r.Warnings, "\n"), want) {
			t.Errorf("no warning has %q: %q", want, r.Warnings)
		}
	}
}

// TestClosedConnectionsAreReplaced checks that the open loop opens a new connection for each one that
// the server has closed, before it is needed. The last ones may be missing at the end of
// the run.
func TestClosedConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
	r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace.Rate(200), Requests: 50, Duration: waitLimit,
		Connections: 20, MaxConnections: 20})
	if r.Requests != 50 || r.ConnectionsMade <= 50 || r.Connections != 20 {
		t.Errorf("%d responses over %d connections, %d at once; want 50, more than 50, 20; %v", r.Requests,
			r.ConnectionsMade, r.Connections, r.ErrorExamples)
	}
}

// TestImpossiblePlansAreRefused checks the errors of plans that send nothing.
func TestImpossiblePlansAreRefused(t *testing.T) {
	t.Parallel()
	nobody := "http://" + testkit.ClosedAddress(t)
	for _, c := range []struct {
		name string
		plan load.Plan
		want string
	}{
		{"nothing", load.Plan{}, "the plan has no Targets"},
		{"negative", load.Plan{Targets: targets(nobody), Connections: -1}, "Connections is -1"},
		{"nobody listens", load.Plan{Targets: targets(nobody)}, "connection refused"},
		{"too many", load.Plan{Targets: targets(nobody), Connections: 10_000_000}, "10000000 connections do not fit"},
		{"no rate", load.Plan{Targets: targets(nobody), Pace: pace.Rate(0)}, "no rate above 0"},
		{"endless stage", load.Plan{Targets: targets(nobody),
			Pace: pace.Pace{Stages: []pace.Stage{{From: 1, To: 1}, {From: 1, To: 1}}}}, "stage 1 of the pace has no duration"},
	} {
		r, err := load.Run(t.Context(), c.plan)
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want an error with %q", c.name, err, c.want)
		}
	}
	var unreachable *load.UnreachableError
	if _, err := load.Run(t.Context(), load.Plan{Targets: targets(nobody)}); !errors.As(err, &unreachable) ||
		unreachable.Kind != "refused" {
		t.Errorf("%v is no UnreachableError of kind refused", err)
	}
}

// TestLastProgressEqualsTheResult compares the last call of Progress with the result.
func TestLastProgressEqualsTheResult(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	var last load.Progress
	calls := 0
	r := run(t, load.Plan{Targets: targets(s.URL), Duration: 1200 * time.Millisecond, Connections: 2,
		Progress: func(p load.Progress) { last, calls = p, calls+1 }})
	if !last.Done || last.Requests != r.Requests || last.Status["2xx"] != r.Requests || calls < 2 {
		t.Errorf("after %d calls the last is %+v; %d were answered", calls, last, r.Requests)
	}
	if len(r.Series) < 1 || last.Last.Requests == 0 {
		t.Errorf("the series has %d seconds", len(r.Series))
	}
}

// TestSeriesEndsWithTheSending uses servers that respond, and close connections, only when the run has stopped
// sending, and a run of a number of requests of which one has no response for two seconds. The
// series ends with the end of sending in both.
func TestSeriesEndsWithTheSending(t *testing.T) {
	t.Parallel()
	for _, c := range servers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stopped, quiet := make(chan struct{}), make(chan struct{})
			var n atomic.Int64
			s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				<-stopped
				if n.Add(1)%2 == 0 {
					panic(http.ErrAbortHandler)
				}
			}, c.how)
			stop := sync.OnceFunc(func() { close(stopped) })
			r := run(t, load.Plan{Targets: targets(s.URL), Duration: time.Second, Connections: 4,
				Protocol: c.protocol, TLS: trusting(), Timeout: waitLimit, Process: -1,
				Progress: func(p load.Progress) {
					if p.Waiting {
						stop()
					}
				}})
			if len(r.Series) != 1 || r.Series[0].Sent != 4 || r.Series[0].Requests != 0 || r.Series[0].Errors != 0 ||
				r.Requests != 2 || r.Failed != 2 {
				t.Errorf("the series is %+v, with %d responses and %d failures afterwards", r.Series, r.Requests, r.Failed)
			}
			s = newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1)%3 == 0 {
					<-quiet
				}
			}, c.how)
			r = run(t, load.Plan{Targets: targets(s.URL), Requests: 3, Connections: 3, Protocol: c.protocol,
				TLS: trusting(), Timeout: 2 * time.Second, Process: -1})
			close(quiet)
			if r.Requests != 2 || r.DurationSeconds >= 2 { // run checks the series
				t.Errorf("%d responses in %v s, and the series %+v", r.Requests, r.DurationSeconds, r.Series)
			}
		})
	}
}

// TestInterruptBeforeTheStart interrupts runs that have sent nothing. Their error says so, also within others.
func TestInterruptBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newCounter(t, hello)
	for name, p := range map[string]load.Plan{
		"waiting":    {Share: load.Share{Number: 1, Of: 2}, StartAt: time.Now().Add(time.Hour), Seed: 1, Connections: 2},
		"setting up": {Flows: parseFlows(t, "setup: [{name: in, think: 1h, request: GET /}]\nflows: [{name: a, steps: [{name: b, request: GET /}]}]\n")},
	} {
		p.Targets, p.Process, p.Requests = targets(s.URL), -1, 10
		if _, err := load.Run(ctx, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
	if n := s.asked.Load(); n != 0 {
		t.Errorf("%d requests arrived, want none", n)
	}
}

// TestRateCoversTheTimeOfSending runs plans with a duration and a number of requests. The rate is of the time in
// which requests were sent.
func TestRateCoversTheTimeOfSending(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	const half = 500 * time.Millisecond
	plan := load.Plan{Targets: targets(s.URL), Pace: pace.Rate(10), Requests: 1000, Duration: half, Process: -1}
	byTime := run(t, plan)
	for tries := 1; byTime.RequestsPerSecond < 10 && tries < 20; tries++ { // a busy machine sends some too late to count
		byTime = run(t, plan)
	}
	if byTime.DurationSeconds != half.Seconds() || byTime.Requests != 5 || byTime.RequestsPerSecond != 10 {
		t.Errorf("ended by time: %v s, %d responses, %v/s; want 0.5, 5, 10", byTime.DurationSeconds, byTime.Requests,
			byTime.RequestsPerSecond)
	}
	byNumber := run(t, load.Plan{Targets: targets(s.URL), Requests: 5, Duration: waitLimit, Process: -1})
	if byNumber.DurationSeconds >= waitLimit.Seconds() || byNumber.Requests != 5 || byNumber.Connections != 5 {
		t.Errorf("ended by number: %v s, %d responses over %d connections", byNumber.DurationSeconds, byNumber.Requests,
			byNumber.Connections)
	}
}

// TestInterruptEndsTheOpening interrupts a run whose server accepts no connection. It ends
// immediately, and not after the timeout of the connections.
func TestInterruptEndsTheOpening(t *testing.T) {
	t.Parallel()
	for _, protocol := range []load.Protocol{load.HTTP1, load.HTTP2} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		scheme := "http://" // the kernel connects, and that is all
		if protocol == load.HTTP2 {
			scheme = "https://" // the server does no handshake
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = load.Run(ctx, load.Plan{Targets: targets(scheme + l.Addr().String()), Timeout: time.Hour,
			Protocol: protocol, Connections: 4})
		if protocol == load.HTTP2 && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: %v, want the context's error", protocol, err)
		}
	}
}

// TestThreadsShareTheLinesOfFiles checks that threads share the lines of a file: all are sent once before one is
// sent again, even if one thread sends more.
func TestThreadsShareTheLinesOfFiles(t *testing.T) {
	t.Parallel()
	const lines, threads = 100, 4
	file := filepath.Join(t.TempDir(), "users.txt")
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "user%d\n", i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range servers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			times := map[string]int{} // guarded by mu
			s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				times[r.URL.Path]++
				mu.Unlock()
				hello(w, r)
			}, c.how)
			run(t, load.Plan{
				Targets: targets(s.URL + `/{{line "` + file +
					`"}}`), Requests: 2 * lines, Threads: threads, Connections: 2 * threads,
				Protocol: c.protocol, TLS: trusting(), Process: -1,
			})
			mu.Lock()
			defer mu.Unlock()
			for i := range lines {
				if n := times[fmt.Sprint("/user", i)]; n != 2 {
					t.Errorf("line %d was sent %d times, want 2", i, n)
				}
			}
		})
	}
}

// TestSeedRepeatsRandomValues checks that runs without a seed send different random values, and runs with the
// same seed the same.
func TestSeedRepeatsRandomValues(t *testing.T) {
	t.Parallel()
	sent := func(seed uint64) string {
		var path atomic.Value
		s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { path.Store(r.URL.Path); hello(w, r) })
		run(t, load.Plan{Targets: targets(s.URL + "/{{uuid}}"), Requests: 1, Connections: 1, Threads: 1,
			Seed: seed, Process: -1})
		return path.Load().(string)
	}
	if a, b := sent(0), sent(0); a == b {
		t.Errorf("two runs without a seed both sent %s", a)
	}
	if a, b := sent(7), sent(7); a != b {
		t.Errorf("runs with the seed 7 sent %s and %s", a, b)
	}
}

// TestProgressIsOneMoment checks that the statuses of each Progress add up to its responses.
func TestProgressIsOneMoment(t *testing.T) {
	t.Parallel()
	s := newCounter(t, hello)
	seen := 0
	run(t, load.Plan{Targets: targets(s.URL), Duration: time.Second, Threads: 2, Process: -1,
		Progress: func(p load.Progress) {
			seen++
			if got := sum(p.Status); got != p.Requests {
				t.Errorf("%d responses, and the statuses %v", p.Requests, p.Status)
			}
		}})
	if seen < 2 {
		t.Errorf("%d calls of Progress, want some", seen)
	}
}
