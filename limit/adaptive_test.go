package limit_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
)

// A service serves a number of requests at the same time, each in a time. The others wait in it.
type service struct {
	slots chan struct{}
	mu    sync.Mutex
	takes time.Duration // guarded by mu
}

func newService(capacity int, takes time.Duration) *service {
	return &service{slots: make(chan struct{}, capacity), takes: takes}
}

func (s *service) set(takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes = takes
}

func (s *service) serve() {
	s.slots <- struct{}{}
	s.mu.Lock()
	takes := s.takes
	s.mu.Unlock()
	time.Sleep(takes)
	<-s.slots
}

// A phase of requests to a service.
type phase struct {
	served, rejected int
	p99              time.Duration // of those served, with their wait
}

// offer sends requests to a service at a rate per second, and waits for them.
func offer(f *limit.InFlight, s *service, perSecond int, d time.Duration) phase {
	var p phase
	var mu sync.Mutex // guards p and times
	var times []time.Duration
	var running sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for range int(d.Seconds() * float64(perSecond)) {
		<-tick.C
		running.Go(func() {
			began := time.Now()
			if f.Enter(context.Background()) != nil {
				mu.Lock()
				p.rejected++
				mu.Unlock()
				return
			}
			entered := time.Now()
			s.serve()
			now := time.Now()
			f.LeaveAfter(now, now.Sub(entered))
			mu.Lock()
			defer mu.Unlock()
			p.served++
			times = append(times, now.Sub(began))
		})
	}
	running.Wait()
	slices.Sort(times)
	if len(times) > 0 {
		p.p99 = times[len(times)*99/100]
	}
	return p
}

// TestAdaptiveLimitKeepsServiceBusy offers a service half of its capacity, then twice as much, and checks that it stays
// busy, with a queue that the limit bounds. Then the service becomes slower, and faster.
func TestAdaptiveLimitKeepsServiceBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity, takes = 8, 20 * time.Millisecond // 400 per second
		f, s := limit.NewInFlight(limit.InFlightOptions{Adaptive: true}), newService(capacity, takes)
		check := func(name string, p phase, served int, p99 time.Duration) {
			t.Helper()
			t.Logf("%s: %d served, %d rejected, p99 %v, limit %d", name, p.served, p.rejected, p.p99, f.Stats().Max)
			if p.served < served || p.p99 > p99 {
				t.Errorf("%s: %d served with p99 %v, want at least %d and at most %v", name, p.served, p.p99, served, p99)
			}
		}
		check("half of the load", offer(f, s, 200, 5*time.Second), 1000, takes)
		offer(f, s, 800, 20*time.Second)
		check("twice the load", offer(f, s, 800, 20*time.Second), 7900, 20*takes)
		s.set(3 * takes) // 133 per second
		offer(f, s, 300, 30*time.Second)
		check("slower", offer(f, s, 300, 60*time.Second), 7800, 60*takes)
		s.set(takes / 2) // 800 per second
		offer(f, s, 1600, 5*time.Second)
		check("faster", offer(f, s, 1600, 5*time.Second), 3900, 10*takes)
		check("half of the load again", offer(f, s, 400, 5*time.Second), 2000, takes)
	})
}

func TestAdaptiveIgnoresRequestsWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := limit.NewInFlight(limit.InFlightOptions{Adaptive: true}), newService(100, 10*time.Millisecond)
		offer(f, s, 2000, 5*time.Second)
		before := f.Stats().Max
		for range 10_000 {
			if !f.TryEnter() {
				t.Fatal("not admitted")
			}
			time.Sleep(time.Millisecond)
			f.LeaveAfter(time.Now(), 0)
		}
		if after := f.Stats().Max; after != before || before < 20 {
			t.Errorf("the limit was %d, and is %d after requests without a time", before, after)
		}
	})
}

// TestAdaptiveLimitStaysWithinBounds checks the highest limit, the admission of waiting requests when the limit
// grows, and the change from and to a fixed limit.
func TestAdaptiveLimitStaysWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := limit.InFlightOptions{Adaptive: true, Max: 30, Queue: 1000, Wait: time.Minute}
		f, s := limit.NewInFlight(o), newService(1000, 10*time.Millisecond)
		if p := offer(f, s, 20_000, time.Second); p.served != 20_000 && f.Stats().Full == 0 {
			t.Errorf("%d served, and none rejected by a full queue", p.served)
		}
		if n := f.Stats(); n.Max != 30 || n.InFlight != 0 || n.Waiting != 0 {
			t.Errorf("after much load: %+v, want the highest limit of 30", n)
		}
		f.Change(limit.InFlightOptions{Adaptive: true, Max: 10})
		if n := f.Stats().Max; n != 10 {
			t.Errorf("the limit is %d after a change to at most 10", n)
		}
		f.Change(limit.InFlightOptions{Max: 7})
		offer(f, s, 2000, time.Second)
		if n := f.Stats().Max; n != 7 {
			t.Errorf("the limit is %d after a change to a fixed one of 7", n)
		}
	})
}
