package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
)

// A call is one of AllowN or WaitN, at a time since the start.
type call struct {
	at    time.Duration
	key   int
	n     int
	waits bool
	ends  time.Duration // of its context; 0 for none
	known bool          // the context has this as its deadline
}

// An outcome is the result of a call: the time at which it returned, and why.
type outcome struct {
	at      time.Duration
	ok      bool
	late    bool // refused without waiting because of the deadline
	waiting bool // before: not decided yet
}

// randomCalls returns calls at different times. No context ends when tokens come: times in
// nanoseconds modulo a microsecond differ.
func randomCalls(random *rand.Rand, keys, burst int, gap time.Duration) []call {
	calls := make([]call, 400)
	at := time.Duration(0)
	for i := range calls {
		at += time.Duration(random.Int64N(int64(2*gap/time.Microsecond))) * time.Microsecond
		c := call{at: at + time.Duration(i), key: random.IntN(keys), n: random.IntN(burst + 1), waits: random.IntN(3) > 0}
		if c.waits && random.IntN(2) == 0 {
			c.ends = at + time.Duration(random.Int64N(int64(10*gap/time.Microsecond)))*time.Microsecond +
				time.Duration(500+i%500)
			c.known = random.IntN(2) == 0
		}
		calls[i] = c
	}
	return calls
}

// A bucket is a plain token bucket with a FIFO queue: the model of a Rate. Its level is the time in
// which its tokens are added.
type bucket struct {
	every, full, level, last time.Duration
	queue                    []int // indexes of calls
}

// runModel returns the outcomes of calls.
func runModel(calls []call, keys int, every time.Duration, burst int) []outcome {
	buckets := make([]bucket, keys)
	for i := range buckets {
		full := every * time.Duration(burst)
		buckets[i] = bucket{every: every, full: full, level: full}
	}
	type event struct {
		at   time.Duration
		call int
		ends bool
	}
	var events []event
	for i, c := range calls {
		events = append(events, event{c.at, i, false})
		if c.ends > 0 {
			events = append(events, event{c.ends, i, true})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return int(a.at - b.at) })
	results := make([]outcome, len(calls))
	for _, e := range events {
		b := &buckets[calls[e.call].key]
		b.pass(e.at, calls, results)
		if e.ends {
			b.cancel(e.at, e.call, calls, results)
		} else {
			results[e.call] = b.arrive(e.call, calls)
		}
	}
	for i := range buckets {
		buckets[i].pass(1<<62, calls, results)
	}
	return results
}

// add adds the tokens up to a time.
func (b *bucket) add(at time.Duration) {
	b.level = min(b.full, b.level+at-b.last)
	b.last = at
}

// pass admits the calls that wait, one by one, up to a time.
func (b *bucket) pass(until time.Duration, calls []call, results []outcome) {
	for len(b.queue) > 0 {
		first := b.queue[0]
		cost := b.every * time.Duration(calls[first].n)
		at := b.last + max(0, cost-b.level)
		if at > until {
			break
		}
		b.add(at)
		b.level -= cost
		results[first] = outcome{at: at, ok: true}
		b.queue = b.queue[1:]
	}
	b.add(until)
}

func (b *bucket) arrive(i int, calls []call) outcome {
	c := calls[i]
	need := b.every * time.Duration(c.n)
	for _, j := range b.queue {
		need += b.every * time.Duration(calls[j].n)
	}
	switch {
	case len(b.queue) == 0 && b.level >= need:
		b.level -= need
		return outcome{at: c.at, ok: true}
	case !c.waits:
		return outcome{at: c.at}
	case c.known && c.at+need-b.level > c.ends:
		return outcome{at: c.at, late: true}
	}
	b.queue = append(b.queue, i)
	return outcome{waiting: true}
}

func (b *bucket) cancel(at time.Duration, i int, calls []call, results []outcome) {
	if !results[i].waiting {
		return
	}
	results[i] = outcome{at: at}
	b.queue = slices.DeleteFunc(b.queue, func(j int) bool { return j == i })
	b.pass(at, calls, results)
}

// runRate returns the outcomes of calls of a Rate, in virtual time.
func runRate(t *testing.T, r *limit.Rate, calls []call) []outcome {
	start := time.Now()
	results := make([]outcome, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() {
			time.Sleep(c.at)
			if !c.waits {
				results[i].ok = r.AllowN(time.Now(), key(c.key), c.n).OK
				results[i].at = time.Since(start)
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			switch {
			case c.known:
				ctx, cancel = context.WithDeadline(ctx, start.Add(c.ends))
			case c.ends > 0:
				time.AfterFunc(c.ends-c.at, cancel)
			}
			defer cancel()
			err := r.WaitN(ctx, key(c.key), c.n)
			results[i] = outcome{at: time.Since(start), ok: err == nil}
			if err != nil && ctx.Err() == nil {
				results[i].late = true
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("call %d: %v, want a deadline exceeded", i, err)
				}
			}
		})
	}
	all.Wait()
	return results
}

// TestWaitAgreesWithModel makes random calls, some of which wait and some of which give up, and compares the
// time and the result of each with those of plain token buckets with queues.
func TestWaitAgreesWithModel(t *testing.T) {
	const keys = 3
	var admitted, refused, gaveUp, late int
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		every, burst := time.Duration(1+random.IntN(20_000))*time.Microsecond, 1+random.IntN(8)
		calls := randomCalls(random, keys, burst, every*time.Duration(burst+1)/3/keys)
		want := runModel(calls, keys, every, burst)
		synctest.Test(t, func(t *testing.T) {
			r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst})
			got := runRate(t, r, calls)
			for i := range calls {
				if got[i] != want[i] {
					t.Fatalf("seed %d, every %v, burst %d, call %d %+v:\n got %+v\nwant %+v", seed, every, burst, i, calls[i],
						got[i], want[i])
				}
				switch {
				case want[i].ok:
					admitted++
				case want[i].late:
					late++
				case calls[i].waits:
					gaveUp++
				default:
					refused++
				}
			}
			if s := r.Stats(); s.Waiting != 0 || s.Admitted+s.Refused != uint64(len(calls)) {
				t.Errorf("seed %d: %+v at the end of %d calls", seed, s, len(calls))
			}
		})
	}
	t.Logf("%d admitted, %d refused, %d gave up, %d late", admitted, refused, gaveUp, late)
	if min(admitted, refused, gaveUp, late) < 500 {
		t.Error("too few outcomes of a kind to compare")
	}
}

// TestCancelledWaitReturnsItsTokens has three calls wait for one token each, with a burst of one. The first gives up,
// and the others get their tokens an interval earlier, but never two at once.
func TestCancelledWaitReturnsItsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 1})
		start := time.Now()
		r.Allow(start, key(1))
		ctx, cancel := context.WithCancel(t.Context())
		times := make([]time.Duration, 3)
		var all sync.WaitGroup
		for i := range times {
			all.Go(func() {
				use := t.Context()
				if i == 0 {
					use = ctx
				}
				err := r.WaitN(use, key(1), 1)
				if times[i] = time.Since(start); (err == nil) != (i > 0) {
					t.Errorf("call %d: %v", i, err)
				}
			})
			synctest.Wait()
		}
		time.Sleep(time.Second / 2)
		if s := r.Stats(); s.Waiting != 3 || s.Keys != 1 {
			t.Errorf("%+v, want 3 calls that wait for one key", s)
		}
		if d := r.Allow(time.Now(), key(1)); d.OK || d.Remaining != 0 || d.RetryAfter != 3500*time.Millisecond {
			t.Errorf("%+v, want a refusal: three calls are first", d)
		}
		cancel()
		all.Wait()
		if want := []time.Duration{time.Second / 2, time.Second, 2 * time.Second}; !slices.Equal(times, want) {
			t.Errorf("the calls returned after %v, want %v", times, want)
		}
		if d := r.Allow(time.Now(), key(1)); d.OK || d.RetryAfter != time.Second {
			t.Errorf("%+v at the end, want a token in a second", d)
		}
	})
}

// TestWaitGetsTokenAsContextEnds ends a context at the moment when the tokens come.
func TestWaitGetsTokenAsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 1})
		for range 100 {
			r.Allow(time.Now(), key(1))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := r.WaitN(ctx, key(1), 1); err != nil {
				t.Fatalf("got %v, want the token that has come", err)
			}
			cancel()
			time.Sleep(time.Second)
		}
	})
}

func TestWaitReturnsErrorsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 2})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		r.AllowN(time.Now(), key(1), 2)
		for name, c := range map[string]struct {
			ctx  context.Context
			n    int
			want error
		}{
			"ended context": {ended, 0, context.Canceled},
			"deadline":      {soon, 2, context.DeadlineExceeded},
			"burst":         {t.Context(), 3, limit.ErrRate},
		} {
			before := time.Now()
			if err := r.WaitN(c.ctx, key(1), c.n); !errors.Is(err, c.want) || time.Since(before) != 0 {
				t.Errorf("%s: %v after %v, want %v at once", name, err, time.Since(before), c.want)
			}
		}
		if d := r.AllowN(time.Now(), key(2), 3); d.OK || d.RetryAfter != 0 || d.Remaining != 2 {
			t.Errorf("%+v for more tokens than the burst, want a refusal without RetryAfter", d)
		}
		if s := r.Stats(); s.Admitted != 1 || s.Refused != 4 {
			t.Errorf("%+v, want every call counted", s)
		}
		if err := new(limit.Rate).WaitN(t.Context(), key(1), 1<<62); err != nil {
			t.Errorf("no limit: %v", err)
		}
		if err := new(limit.Rate).WaitN(ended, key(1), 1); err != context.Canceled {
			t.Errorf("no limit, with an ended context: %v", err)
		}
	})
}

func TestNegativeTokensPanic(t *testing.T) {
	r := limit.NewRate(limit.RateOptions{Every: time.Second})
	for name, f := range map[string]func(){
		"AllowN": func() { r.AllowN(someTime, key(1), -1) },
		"WaitN":  func() { _ = r.WaitN(t.Context(), key(1), -1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != "limit: a request needs -1 tokens" {
					t.Errorf("%s: panic %v", name, got)
				}
			}()
			f()
		}()
	}
}

// TestWaitBeyondTheClockIsRefused has more calls wait than the clock has nanoseconds for.
func TestWaitBeyondTheClockIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRate(limit.RateOptions{Every: 1 << 62, Burst: 1})
		r.Allow(time.Now(), key(1))
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var never atomic.Int64
		for range 10 {
			all.Go(func() {
				if err := r.WaitN(ctx, key(1), 1); errors.Is(err, limit.ErrRate) {
					never.Add(1)
				}
			})
		}
		synctest.Wait()
		if s := r.Stats(); never.Load() != 9 || s.Waiting != 1 {
			t.Errorf("%d calls refused, %+v; want 9, and one that waits a century", never.Load(), s)
		}
		cancel()
		all.Wait()
	})
}

func TestOneKeyMeansOneBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 3, Keys: 1})
		for i := range 5 {
			if ok := r.Allow(time.Now(), key(i)).OK; ok != (i < 3) {
				t.Errorf("key %d: admitted %v", i, ok)
			}
		}
		began := time.Now()
		if err := r.WaitN(t.Context(), key(7), 2); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v, want 2 s", err, time.Since(began))
		}
	})
}

// TestConcurrentWaitsGainNoTokens has many goroutines wait and give up in real time. No more get a token than were
// added.
func TestConcurrentWaitsGainNoTokens(t *testing.T) {
	const every, burst = 100 * time.Microsecond, 5
	began := time.Now()
	r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst})
	var tokens, gaveUp atomic.Int64
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 100 {
				n := 1 + random.IntN(burst)
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(time.Duration(random.Int64N(int64(5*time.Millisecond))), cancel)
				if r.WaitN(ctx, key(random.IntN(2)), n) == nil {
					tokens.Add(int64(n))
				} else {
					gaveUp.Add(1)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if most := 2 * (int64(time.Since(began)/every) + burst); tokens.Load() > most {
		t.Errorf("%d tokens, want at most the %d that were added to both buckets", tokens.Load(), most)
	}
	s := r.Stats()
	if s.Admitted+s.Refused != 1600 || s.Refused != uint64(gaveUp.Load()) || s.Waiting != 0 {
		t.Errorf("%+v, want 1600 calls, of which %d gave up", s, gaveUp.Load())
	}
}

// elsewhere has one bucket that gets a token each second, for a Rate with Buckets.
type elsewhere struct {
	mu    sync.Mutex
	tokAt time.Time
	calls int
}

func (e *elsewhere) Take(now time.Time, _ limit.Key, n int) limit.Decision {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	if now.Before(e.tokAt) {
		return limit.Decision{RetryAfter: e.tokAt.Sub(now)}
	}
	e.tokAt = now.Add(time.Duration(n) * time.Second)
	return limit.Decision{OK: true}
}

func (e *elsewhere) Stats() limit.RateStats { return limit.RateStats{Keys: e.calls} }

func TestWaitUsesBucketsThatOnlyDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &elsewhere{tokAt: time.Now()}
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 3, Buckets: e})
		began := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := r.WaitN(t.Context(), key(1), 2); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if s := r.Stats(); s.Waiting != 2 {
			t.Errorf("%+v, want two calls that wait", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.WaitN(ctx, key(1), 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 0 {
			t.Errorf("got %v after %v, want a refusal at once", err, time.Since(began))
		}
		all.Wait()
		if got := time.Since(began); got != 4*time.Second {
			t.Errorf("the last call returned after %v, want 4 s", got)
		}
		policy := string(r.AppendPolicy(nil, "shared"))
		if want := fmt.Sprintf("%q;q=3;w=3", "shared"); policy != want {
			t.Errorf("got %s, want %s", policy, want)
		}
	})
}
