package load_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/replay"
	"github.com/weirhq/weir/load/target"
)

// logOf returns a log of Caddy with n requests, one each interval. Each tenth is a HEAD, and another tenth has a path of
// its own.
func logOf(n int, interval time.Duration) string {
	var b strings.Builder
	for i := range n {
		method, path := "GET", "/page"
		switch i % 10 {
		case 3:
			method = "HEAD"
		case 7:
			path = fmt.Sprintf("/only/%d", i)
		}
		fmt.Fprintf(&b, `{"ts":%.6f,"duration":0,"request":{"method":"%s","host":"host%d.example","uri":"%s?n=%d"}}`+"\n",
			1e9+(time.Duration(i)*interval).Seconds(), method, i%3, path, i)
	}
	return b.String()
}

func openLog(t *testing.T, in io.Reader) *replay.Log {
	t.Helper()
	l, err := replay.Open(in, replay.Options{Name: "test.log"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// arrivals keeps the requests that a server gets.
type arrivals struct {
	mu  sync.Mutex
	all []string // guarded by mu
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, r.Method+" "+r.Host+" "+r.URL.String())
}

func TestRequestsOfALogAreSent(t *testing.T) {
	const n = 300
	for _, c := range []struct {
		name string
		how  func(*httptest.Server)
		plan load.Plan
	}{
		{"HTTP/1.1", func(*httptest.Server) {}, load.Plan{}},
		{"a new connection for each request", func(*httptest.Server) {}, load.Plan{NoKeepAlive: true}},
		{"HTTP/2", func(s *httptest.Server) { s.EnableHTTP2 = true }, load.Plan{Protocol: load.HTTP2, Pipeline: 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got arrivals
			s := newCounter(t, got.ServeHTTP, c.how)
			p := c.plan
			p.Log, p.Pace = openLog(t, strings.NewReader(logOf(n, 4*time.Millisecond))), pace.OfLog(4)
			p.Targets, p.Connections, p.Threads, p.Process = []target.Target{{URL: s.URL}}, 4, 2, -1
			if s.TLS != nil {
				p.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
			}
			r := run(t, p)
			if r.Asked != n || r.Requests != n {
				t.Errorf("%d asked and %d answered, want %d", r.Asked, r.Requests, n)
			}
			var want []string
			for i := range n {
				method, path := "GET", "/page"
				switch i % 10 {
				case 3:
					method = "HEAD"
				case 7:
					path = fmt.Sprintf("/only/%d", i)
				}
				want = append(want, fmt.Sprintf("%s host%d.example %s?n=%d", method, i%3, path, i))
			}
			slices.Sort(got.all)
			slices.Sort(want)
			if !slices.Equal(got.all, want) {
				t.Errorf("the server got %d requests, not those of the log; the first are %q", len(got.all), got.all[:min(len(got.all), 5)])
			}
			if l := r.Log; l == nil || l.Lines != n || l.Speed != 4 || r.Pace != "log at speed 4" {
				t.Errorf("the result has the log %+v and the pace %q", l, r.Pace)
			}
			if r.DurationSeconds < 0.29 { // the last is due after 4 ms * 299 / 4
				t.Errorf("the requests of 1.2 s were sent in %v s, at 4 times their speed", r.DurationSeconds)
			}
			if first := r.Targets[0]; first.Method != "GET" || first.Path != "/page" || first.Sent != n*8/10 {
				t.Errorf("the first target is %+v", first)
			}
			if last := r.Targets[len(r.Targets)-1]; last.Path != "" || last.Sent == 0 {
				t.Errorf("the last target is %+v, want the sum of others", last)
			}
		})
	}
}

func TestRequestsOfALogThatWaitStayInIt(t *testing.T) {
	const n = 20_000 // more than the queues hold
	release := make(chan struct{})
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { <-release })
	defer close(release)
	r := run(t, load.Plan{
		Targets: []target.Target{{URL: s.URL}}, Log: openLog(t, strings.NewReader(logOf(n, time.Microsecond))), Pace: pace.OfLog(1),
		Connections: 2, MaxConnections: 2, Threads: 2, Duration: 500 * time.Millisecond, Timeout: 300 * time.Millisecond, Process: -1,
	})
	if r.Asked != n {
		t.Errorf("%d of %d requests were asked for", r.Asked, n)
	}
	if r.Requests != 0 || r.UnsentFor["ended"] < n-100 {
		t.Errorf("%d answered, and unsent %v", r.Requests, r.UnsentFor)
	}
}

func TestInterruptEndsARunWithALogThatIsStillWritten(t *testing.T) {
	s := newCounter(t, hello)
	in, out := io.Pipe()
	defer out.Close()
	go func() {
		io.WriteString(out, logOf(100, time.Second)) // more than the window of a minute
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := load.Plan{Targets: []target.Target{{URL: s.URL}}, Log: openLog(t, in), Pace: pace.OfLog(100), Connections: 2,
		Threads: 2, Process: -1}
	p.Progress = func(now load.Progress) {
		if now.Requests >= 30 {
			cancel()
		}
	}
	r, err := load.Run(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	if !r.Interrupted || r.Requests < 30 {
		t.Errorf("interrupted: %v, after %d requests", r.Interrupted, r.Requests)
	}
}

func TestSharesOfALogSendAllOfIt(t *testing.T) {
	const n, shares = 90, 3
	s := newCounter(t, hello)
	start := time.Now().Add(startIn)
	results := make([]*load.Result, shares)
	var running sync.WaitGroup
	for i := range shares {
		log := openLog(t, strings.NewReader(logOf(n, time.Millisecond)))
		running.Go(func() {
			var err error
			results[i], err = load.Run(t.Context(), load.Plan{
				Targets: []target.Target{{URL: s.URL}}, Log: log, Pace: pace.OfLog(1), Connections: 6, Threads: 1, Process: -1,
				Share: load.Share{Number: i + 1, Of: shares}, StartAt: start, Seed: 1,
			})
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
	if r.Requests != n || s.asked.Load() != n || r.Log == nil {
		t.Errorf("%d answered and %d sent, want %d of each; the log is %+v", r.Requests, s.asked.Load(), n, r.Log)
	}
}
