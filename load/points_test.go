package load_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
)

// TestPointsIncludeTheSlowest checks the points of runs with two threads: there are not more than the plan
// allows, each is a request, and the slowest request is one.
func TestPointsIncludeTheSlowest(t *testing.T) {
	t.Parallel()
	const most, slow = 40, 300 * time.Millisecond
	some := servers[:3]
	if load.RaceEnabled { // histograms are slow with the race detector
		some = servers[:1]
	}
	for _, c := range some {
		for _, pace := range []pace.Pace{{}, pace.Rate(400)} {
			t.Run(c.name+" "+pace.String(), func(t *testing.T) {
				t.Parallel()
				var first atomic.Bool
				s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
					if first.CompareAndSwap(false, true) {
						time.Sleep(slow)
						w.WriteHeader(503)
					}
				}, c.how)
				r := run(t, load.Plan{Targets: targets(s.URL), Pace: pace, Requests: 100, Duration: waitLimit,
					Connections: 4, Threads: 2,
					Protocol: c.protocol, TLS: trusting(), Points: most})
				if n := len(r.Points); n > most || n < 2 {
					t.Errorf("%d points, want 2 to %d", n, most)
				}
				latency := r.Latency
				if r.LatencyFromDue != nil {
					latency = r.LatencyFromDue
				}
				var last, slowest load.Point
				for _, p := range r.Points {
					if p.At < last.At || p.At > waitLimit.Seconds() || p.Latency < float64(latency.Min) ||
						p.Latency > float64(latency.Max) || p.Status != 200 && p.Status != 503 {
						t.Errorf("%+v after %+v; latencies are %v to %v us", p, last, latency.Min, latency.Max)
					}
					if last = p; p.Latency > slowest.Latency {
						slowest = p
					}
				}
				if slowest.Latency != float64(latency.Max) {
					t.Errorf("the slowest point is %+v, the slowest request took %v us", slowest, latency.Max)
				}
			})
		}
	}
}

// TestFewRequestsAreAllPoints checks that all of a few requests are points, also failed ones.
func TestFewRequestsAreAllPoints(t *testing.T) {
	t.Parallel()
	s := newBadServer(t, nil, func(v *visit) {
		if v.ask() && v.number < 2 {
			v.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
		}
	})
	r := run(t, load.Plan{Targets: targets(s.url), Requests: 4, Connections: 1, Threads: 1, Points: 1000, Process: -1})
	var statuses []int
	for _, p := range r.Points {
		statuses = append(statuses, p.Status)
	}
	if want := []int{200, 200, 0, 0}; !slices.Equal(statuses, want) {
		t.Errorf("the points' statuses are %v, want %v: %+v; %v", statuses, want, r.Points, r.ErrorExamples)
	}
	for _, none := range []int{0, 1} {
		if r := run(t, load.Plan{Targets: targets(s.url), Requests: 1, Points: none, Process: -1}); r.Points != nil {
			t.Errorf("%d points asked for are %+v", none, r.Points)
		}
	}
}
