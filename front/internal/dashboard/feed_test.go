package dashboard

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/recent"
	"github.com/weirhq/weir/internal/snapshot"
)

// countingFeed returns a feed that counts its snapshots.
func countingFeed(made *atomic.Int64) *feed {
	return &feed{newReader: func() func(time.Time) *snapshot.Door {
		return func(at time.Time) *snapshot.Door {
			made.Add(1)
			return &snapshot.Door{At: at}
		}
	}}
}

func TestFeedWorksOnlyForViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		f := countingFeed(&made)
		expect := func(after time.Duration, want int64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := made.Load(); got != want {
				t.Fatalf("%d snapshots, want %d", got, want)
			}
		}
		expect(time.Hour, 0)
		first := f.join()
		expect(0, 1)
		expect(interval, 2)
		second := f.join()
		if n := len(second); n != 1 {
			t.Errorf("a second viewer finds %d events, want the last one", n)
		}
		expect(3*interval, 5) // one for both
		f.leave(first)
		expect(interval, 6)
		f.leave(second)
		expect(time.Hour, 6)
		third := f.join()
		expect(0, 7)
		f.leave(third)
	})
}

func TestFeedKeepsOnlyTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		f := countingFeed(&made)
		slow := f.join()
		defer f.leave(slow)
		time.Sleep(10*interval + interval/2)
		if n := len(slow); n != 1 {
			t.Fatalf("%d events wait for a viewer, want 1", n)
		}
		want := time.Now().Add(-interval / 2).UTC().Format(time.RFC3339)
		if got := string(<-slow); !strings.Contains(got, want) || !strings.HasSuffix(got, "}\n\n") {
			t.Errorf("the event is %.60q, want that of %s", got, want)
		}
	})
}

func TestFeedLimitsViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		f := countingFeed(&made)
		var viewers []chan []byte
		for range maxViewers {
			viewers = append(viewers, f.join())
		}
		if f.join() != nil {
			t.Errorf("viewer %d was accepted", maxViewers+1)
		}
		for _, v := range viewers {
			f.leave(v)
		}
	})
}

func TestCounterHasItsRate(t *testing.T) {
	var c changes
	c.next(0)
	if got := c.counter(10, "a"); got != (snapshot.Counter{Total: 10}) {
		t.Errorf("the first snapshot has %v, want no rate", got)
	}
	c.next(2)
	if got, want := c.counter(16, "a"), (snapshot.Counter{Total: 16, PerSecond: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := c.counter(4, "new"), (snapshot.Counter{Total: 4, PerSecond: 2}); got != want {
		t.Errorf("a counter that did not exist: %v, want %v", got, want)
	}
	c.next(1)
	if got, want := c.counter(5, "a"), (snapshot.Counter{Total: 5, PerSecond: 5}); got != want {
		t.Errorf("a counter that was made again: %v, want %v", got, want)
	}
}

func TestQuantileIsAnUpperBound(t *testing.T) {
	upper := []float64{.1, .5, 1}
	for _, c := range []struct {
		q      float64
		counts []float64
		want   float64 // -1 for none
	}{
		{.5, nil, -1},
		{.5, []float64{0, 0, 0, 0}, -1},
		{.5, []float64{5, 5, 0, 0}, .1},
		{.51, []float64{5, 5, 0, 0}, .5},
		{.99, []float64{98, 0, 1, 1}, 1},
		{.99, []float64{98, 0, 0, 2}, -1},
	} {
		got := -1.0
		if bound := quantile(c.q, c.counts, upper); bound != nil {
			got = *bound
		}
		if got != c.want {
			t.Errorf("quantile %v of %v: %v, want %v", c.q, c.counts, got, c.want)
		}
	}
}

func TestReadSumsTheRequests(t *testing.T) {
	registry := prometheus.NewRegistry()
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "weir_request_duration_seconds", Buckets: []float64{.1, 1},
	}, []string{"route", "class"})
	registry.MustRegister(durations)
	no := func() bool { return false }
	r := reader{from: Sources{Metrics: registry, Draining: no, Writable: no, Failures: new(recent.Failures)}}
	at := time.Now()
	durations.WithLabelValues("/a", "2xx").Observe(.05)
	r.read(at)
	for range 4 {
		durations.WithLabelValues("/b", "2xx").Observe(.5)
	}
	durations.WithLabelValues("/a", "5xx").Observe(5)
	d := r.read(at.Add(2 * time.Second))
	second := 1.0
	want := snapshot.Requests{
		Counter: snapshot.Counter{Total: 6, PerSecond: 2.5},
		Classes: map[string]snapshot.Counter{"2xx": {Total: 5, PerSecond: 2}, "5xx": {Total: 1, PerSecond: .5}},
		Latency: []float64{0, 4, 1},
		P50:     &second,
	}
	if diff := cmp.Diff(want, d.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	var routes []string
	for _, route := range d.Routes {
		routes = append(routes, route.Route)
	}
	if diff := cmp.Diff([]string{"/b", "/a"}, routes); diff != "" {
		t.Errorf("the busiest route is not the first (-want +got):\n%s", diff)
	}
}
