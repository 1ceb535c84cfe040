package load_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// TestWarmUpIsInNoResult compares the result, the rows and the server's count of runs with a warm-up.
func TestWarmUpIsInNoResult(t *testing.T) {
	const n = 60
	plain := func(*httptest.Server) {}
	h2 := func(s *httptest.Server) { s.EnableHTTP2 = true }
	rate := pace.Pace{Stages: []pace.Stage{{Duration: 50 * time.Millisecond, From: 1000, To: 1000}, {From: 200, To: 200}}}
	for _, c := range []struct {
		name   string
		how    func(*httptest.Server)
		plan   load.Plan
		warmed int64 // the number of requests of the warm-up; 0 if the server sets it
	}{
		{"closed loop", plain, load.Plan{}, 0},
		{"closed loop with pipelines", plain, load.Plan{Pipeline: 4}, 0},
		{"closed loop, new connections", plain, load.Plan{NoKeepAlive: true}, 0},
		{"closed loop, HTTP/2", h2, load.Plan{Protocol: load.HTTP2, Pipeline: 4}, 0},
		{"open loop", plain, load.Plan{Pace: rate}, 100},
		{"open loop, new connections", plain, load.Plan{Pace: rate, NoKeepAlive: true}, 100},
		{"open loop, HTTP/2", h2, load.Plan{Pace: rate, Protocol: load.HTTP2}, 100},
		{"a log", plain, load.Plan{Pace: pace.OfLog(4)}, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newCounter(t, hello, c.how)
			p := c.plan
			p.Targets, p.Connections, p.Threads, p.Process = []target.Target{{URL: s.URL}}, 4, 2, -1
			p.WarmUp, p.Requests = 100*time.Millisecond, n
			if p.Pace.Open() {
				p.MaxConnections = 4
			}
			if p.Pace.Speed > 0 {
				p.Log = openLog(t, strings.NewReader(logOf(300, 4*time.Millisecond)))
			}
			if s.TLS != nil {
				p.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
			}
			var rows, early int
			p.Each = func(_ time.Time, all []load.Row) {
				rows += len(all)
				for _, r := range all {
					if r.Due < 0 || r.Sent < 0 {
						early++
					}
				}
			}
			r := run(t, p)
			if r.Asked != n || r.Requests != n || rows != n || early > 0 {
				t.Errorf("%d asked, %d answered, %d rows with %d of the warm-up; want %d measured", r.Asked, r.Requests, rows, early, n)
			}
			w := r.WarmUp
			if w == nil || w.Seconds != 0.1 || w.Asked != w.Sent || w.Requests != w.Sent || w.Sent != s.asked.Load()-n {
				t.Fatalf("the warm-up is %+v; the server got %d requests", w, s.asked.Load())
			}
			if c.warmed > 0 && w.Sent != c.warmed || w.Sent == 0 {
				t.Errorf("%d requests were sent in the warm-up, want %d", w.Sent, c.warmed)
			}
		})
	}
}

// TestRequestOfTheWarmUpMayEndLater holds the first response until the warm-up is over.
func TestRequestOfTheWarmUpMayEndLater(t *testing.T) {
	for _, fails := range []bool{false, true} {
		release := make(chan struct{})
		s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
			<-release
			if fails {
				w.WriteHeader(503)
			}
		})
		p := load.Plan{Targets: []target.Target{{URL: s.URL}}, Connections: 1, Threads: 1, Requests: 5, Process: -1,
			WarmUp: 500 * time.Millisecond, Expect: expectations(t, "status 200")}
		var once sync.Once
		p.Progress = func(now load.Progress) {
			if now.Elapsed >= 0 {
				once.Do(func() { close(release) })
			}
		}
		r := run(t, p)
		if fails {
			if r.Failed != 5 || r.Wrong != 5 || r.WarmUp.Failed != 1 || r.WarmUp.Requests != 0 {
				t.Errorf("%d failed, %d wrong, the warm-up is %+v", r.Failed, r.Wrong, r.WarmUp)
			}
			if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "1 of 1 request of the warm-up got no response") {
				t.Errorf("the warnings are %s", all)
			}
		} else if r.Requests != 5 || r.WarmUp.Sent != 1 || r.WarmUp.Requests != 1 {
			t.Errorf("%d answered, the warm-up is %+v", r.Requests, r.WarmUp)
		}
	}
}

// TestWarmUpSkipsWithTheBacklog occupies the only connection in the warm-up. Its requests that are skipped are not among
// those of the result.
func TestWarmUpSkipsWithTheBacklog(t *testing.T) {
	release := make(chan struct{})
	s := newCounter(t, func(http.ResponseWriter, *http.Request) { <-release })
	p := load.Plan{Targets: []target.Target{{URL: s.URL}}, Pace: pace.Rate(100), Connections: 1, MaxConnections: 1, Threads: 1,
		Backlog: -1, WarmUp: 500 * time.Millisecond, Requests: 20, Process: -1}
	var once sync.Once
	p.Progress = func(now load.Progress) {
		if now.Elapsed > 0 && now.Asked == 20 {
			once.Do(func() { close(release) })
		}
	}
	r := run(t, p)
	if r.Asked != 20 || r.UnsentFor["skipped"] != 20 || r.WarmUp.Asked != 50 || r.WarmUp.Sent != 1 || r.WarmUp.Requests != 1 {
		t.Errorf("%d asked, unsent %v, the warm-up is %+v", r.Asked, r.UnsentFor, r.WarmUp)
	}
}

func TestWarmUpMayBeInterrupted(t *testing.T) {
	s := newCounter(t, hello)
	for _, p := range []load.Plan{{}, {Pace: pace.Rate(100)}, {Protocol: load.HTTP2}} {
		ctx, cancel := context.WithCancel(t.Context())
		p.Targets, p.WarmUp, p.Process = []target.Target{{URL: s.URL}}, time.Hour, -1
		if p.Protocol == load.HTTP2 {
			h2 := newCounter(t, hello, func(s *httptest.Server) { s.EnableHTTP2 = true })
			p.Targets[0].URL, p.TLS = h2.URL, h2.Client().Transport.(*http.Transport).TLSClientConfig
		}
		p.Progress = func(now load.Progress) {
			if now.Elapsed > -time.Hour+50*time.Millisecond {
				cancel()
			}
		}
		r, err := load.Run(ctx, p)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, r)
		if !r.Interrupted || r.Asked != 0 || r.DurationSeconds != 0 || r.BytesRead != 0 || r.BytesWritten != 0 || r.WarmUp.Sent == 0 {
			t.Errorf("the interrupted run has %+v, and the warm-up %+v", r, r.WarmUp)
		}
	}
}

func TestSharesWithAWarmUpAreMerged(t *testing.T) {
	s := newCounter(t, hello)
	start := time.Now().Add(startIn)
	results := make([]*load.Result, 2)
	var running sync.WaitGroup
	for i := range results {
		running.Go(func() {
			var err error
			results[i], err = load.Run(t.Context(), load.Plan{Targets: []target.Target{{URL: s.URL}}, Pace: pace.Rate(500),
				WarmUp: 200 * time.Millisecond, Duration: 100 * time.Millisecond, Threads: 1, Process: -1,
				Share: load.Share{Number: i + 1, Of: 2}, StartAt: start, Seed: 1})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		return
	}
	r, err := load.Merge(results)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	if r.Requests != 50 || r.WarmUp.Requests != 100 || s.asked.Load() != 150 || !r.Started.Equal(start.Add(200*time.Millisecond)) {
		t.Errorf("%d answered from %v, the warm-up is %+v, the server got %d", r.Requests, r.Started, r.WarmUp, s.asked.Load())
	}
	results[1].WarmUp.Seconds = 1
	if _, err := load.Merge(results); err == nil || !strings.Contains(err.Error(), "different plans: warm-up 200ms and 1s") {
		t.Errorf("shares with different warm-ups: %v", err)
	}
}

func TestWarmUpNeedsARate(t *testing.T) {
	p := load.Plan{Targets: []target.Target{{URL: "http://a.example"}}, WarmUp: time.Second,
		Pace: pace.Pace{Stages: []pace.Stage{{Duration: time.Second, To: 10}}}}
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "the rate with which the pace begins, and that is 0") {
		t.Errorf("got error %v", err)
	}
}
