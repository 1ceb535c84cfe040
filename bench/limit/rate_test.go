package limit

import (
	"context"
	randv2 "math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/weirhq/weir/limit"
)

// An outcome is the time at which a call returned, and whether it got its tokens.
type outcome struct {
	at time.Duration
	ok bool
}

// run makes calls at random times, of which two of three wait, and returns their outcomes.
func run(seed uint64, burst int, every time.Duration, allow func(n int) bool, wait func(n int) error) []outcome {
	random := randv2.New(randv2.NewPCG(seed, 1))
	start := time.Now()
	outcomes := make([]outcome, 300)
	var all sync.WaitGroup
	next := time.Duration(0)
	for i := range outcomes {
		next += 1 + time.Duration(random.Int64N(int64(every)*int64(burst+1)))
		at, n, waits := next, 1+random.IntN(burst), random.IntN(3) > 0
		all.Go(func() {
			time.Sleep(at)
			var ok bool
			if waits {
				ok = wait(n) == nil
			} else {
				ok = allow(n)
			}
			outcomes[i] = outcome{time.Since(start), ok}
		})
	}
	all.Wait()
	return outcomes
}

// TestLimiterDecidesLikeRate makes the same calls, of which none gives up, with both. The results are equal, and the
// times within the rounding of rate, which calculates with floating point.
func TestLimiterDecidesLikeRate(t *testing.T) {
	waited, refused := 0, 0
	for seed := range uint64(40) {
		random := randv2.New(randv2.NewPCG(seed, 2))
		burst, every := 1+random.IntN(10), time.Duration(1+random.IntN(50_000_000))
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			ours := limit.NewRate(limit.RateOptions{Every: every, Burst: burst})
			got := run(seed, burst, every,
				func(n int) bool { return ours.AllowN(time.Now(), limit.Key{}, n).OK },
				func(n int) error { return ours.WaitN(ctx, limit.Key{}, n) })
			theirs := rate.NewLimiter(rate.Every(every), burst)
			want := run(seed, burst, every,
				func(n int) bool { return theirs.AllowN(time.Now(), n) },
				func(n int) error { return theirs.WaitN(ctx, n) })
			for i := range want {
				if d := got[i].at - want[i].at; got[i].ok != want[i].ok || d < -time.Microsecond || d > time.Microsecond {
					t.Fatalf("seed %d, every %v, burst %d, call %d: got %+v, rate has %+v", seed, every, burst, i, got[i],
						want[i])
				}
				if !want[i].ok {
					refused++
				} else if i > 0 && want[i].at < want[i-1].at+every {
					waited++
				}
			}
		})
	}
	if waited < 500 || refused < 500 {
		t.Errorf("%d calls waited and %d were refused: too few to compare", waited, refused)
	}
}

// TestGivingUpReturnsTheToken has two calls wait, of which the first gives up. Weir then admits the second a second
// earlier; with rate it keeps its time, and the token of the first is lost to a later call.
func TestGivingUpReturnsTheToken(t *testing.T) {
	second := func(t *testing.T, wait func(ctx context.Context) error) (at time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			if err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() {
				if wait(ctx) == nil {
					t.Error("the first call did not give up")
				}
			})
			synctest.Wait()
			all.Go(func() {
				if err := wait(t.Context()); err != nil {
					t.Error(err)
				}
				at = time.Since(start)
			})
			synctest.Wait()
			cancel()
			all.Wait()
		})
		return at
	}
	var ours *limit.Rate
	if at := second(t, func(ctx context.Context) error {
		if ours == nil {
			ours = limit.NewRate(limit.RateOptions{Every: time.Second})
		}
		return ours.WaitN(ctx, limit.Key{}, 1)
	}); at != time.Second {
		t.Errorf("weir: the second call got its token after %v, want 1s", at)
	}
	var theirs *rate.Limiter
	if at := second(t, func(ctx context.Context) error {
		if theirs == nil {
			theirs = rate.NewLimiter(1, 1)
		}
		return theirs.WaitN(ctx, 1)
	}); at != 2*time.Second {
		t.Errorf("rate: the second call got its token after %v; this comparison says 2s", at)
	}
}

// BenchmarkAllow makes decisions for one key, and for one of a thousand clients: with rate, that is a map
// of limiters with a mutex.
func BenchmarkAllow(b *testing.B) {
	now := time.Now()
	b.Run("1 key/weir", func(b *testing.B) {
		r := limit.NewRate(limit.RateOptions{Every: time.Millisecond, Burst: 10, Keys: 1})
		b.ReportAllocs()
		for b.Loop() {
			r.Allow(now, limit.Key{})
		}
	})
	b.Run("1 key/rate", func(b *testing.B) {
		l := rate.NewLimiter(1000, 10)
		b.ReportAllocs()
		for b.Loop() {
			l.AllowN(now, 1)
		}
	})
	names := make([]string, 1000)
	for i := range names {
		names[i] = "client " + time.Duration(i).String()
	}
	b.Run("1000 clients/weir", func(b *testing.B) {
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 10})
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.Allow(now, limit.KeyOfString(names[i%len(names)]))
		}
	})
	b.Run("1000 clients/rate", func(b *testing.B) {
		var mu sync.Mutex
		limiters := map[string]*rate.Limiter{}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			name := names[i%len(names)]
			mu.Lock()
			l := limiters[name]
			if l == nil {
				l = rate.NewLimiter(1, 10)
				limiters[name] = l
			}
			mu.Unlock()
			l.AllowN(now, 1)
		}
	})
}
