package budget

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var start = time.Unix(1_800_000_000, 0)

// take takes n times from a budget and returns how often it could.
func take(b *Budget, now time.Time, n int) (taken int) {
	for range n {
		if b.Take(now) {
			taken++
		}
	}
	return taken
}

// TestBudgetIsAShareOfRequests checks the share of the requests in the window, with the minimum.
func TestBudgetIsAShareOfRequests(t *testing.T) {
	for requests, want := range map[int]int{0: 100, 9: 100, 10: 101, 1000: 200, 12345: 1334} {
		b := new(Budget)
		for i := range requests {
			b.Request(start.Add(time.Duration(i) * 9 * time.Second / time.Duration(requests)))
		}
		if got := take(b, start.Add(9*time.Second), 20000); got != want {
			t.Errorf("%d requests: %d retries, want %d", requests, got, want)
		}
	}
}

// TestWindowSlides checks that requests and retries count for ten seconds.
func TestWindowSlides(t *testing.T) {
	b := new(Budget)
	for range 1000 {
		b.Request(start)
	}
	if got := take(b, start.Add(5*time.Second), 1000); got != 200 {
		t.Errorf("%d retries after 5 s, want 200", got)
	}
	if got := take(b, start.Add(10*time.Second), 1000); got != 0 {
		t.Errorf("%d retries when the requests are too old and the retries are not, want 0", got)
	}
	if got := take(b, start.Add(16*time.Second), 1000); got != 100 {
		t.Errorf("%d retries after a quiet window, want the minimum of 100", got)
	}
	if got := take(b, start.Add(time.Hour), 1000); got != 100 {
		t.Errorf("%d retries after an hour, want the minimum of 100", got)
	}
}

// TestNoIntervalExceedsTheBudget sends requests that all fail, at several paces and from several parts of a
// second, and checks that no interval of ten seconds has more retries than its requests allow.
func TestNoIntervalExceedsTheBudget(t *testing.T) {
	const window = seconds * time.Second
	for _, every := range []time.Duration{100 * time.Microsecond, 10 * time.Millisecond, 70 * time.Millisecond} {
		for begin := time.Duration(0); begin < time.Second; begin += 130 * time.Millisecond {
			b := new(Budget)
			var retries []time.Duration // since begin
			for at := time.Duration(0); at < 25*time.Second; at += every {
				now := start.Add(begin + at)
				b.Request(now)
				if !b.Take(now) {
					continue
				}
				retries = append(retries, at)
				for retries[0] <= at-window {
					retries = retries[1:]
				}
				requests := int(min(at/every+1, window/every))
				if limit := requests/share + seconds*perSecond; len(retries) > limit {
					t.Fatalf("a request every %v from %v: %d retries in the ten seconds to %v, want at most %d",
						every, begin, len(retries), at, limit)
				}
			}
		}
	}
}

// TestConcurrentCallersShareTheBudget checks that concurrent callers together get exactly the budget, also when they
// are the first ones of a second.
func TestConcurrentCallersShareTheBudget(t *testing.T) {
	b := new(Budget)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for i := range 8000 {
				b.Request(start.Add(time.Duration(i) * time.Millisecond))
			}
		})
	}
	callers.Wait()
	if got := b.requests.sum(start.Unix()+7, seconds); got != 64000 {
		t.Errorf("%d requests counted, want 64000", got)
	}
	var taken atomic.Int64
	for range 8 {
		callers.Go(func() { taken.Add(int64(take(b, start.Add(8*time.Second), 5000))) })
	}
	callers.Wait()
	if got := taken.Load(); got > 6500 || got < 6400 {
		t.Errorf("%d retries, want at most 6500, and hardly less", got)
	}
}

func BenchmarkRequest(b *testing.B) {
	budget := new(Budget)
	now := time.Now()
	for b.Loop() {
		budget.Request(now)
	}
}
