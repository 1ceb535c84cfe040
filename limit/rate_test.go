package limit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
)

// someTime has no monotonic reading, so a Rate sees exactly the times that a test adds
// to it.
var someTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func key(i int) limit.Key { return limit.KeyOfString(fmt.Sprint(i)) }

func TestRateWithoutLimitAdmitsAll(t *testing.T) {
	for name, r := range map[string]*limit.Rate{
		"zero":     {},
		"no Every": limit.NewRate(limit.RateOptions{Burst: 1}),
	} {
		want := limit.Decision{OK: true, Remaining: math.MaxInt}
		for range 100 {
			if d := r.Allow(someTime, key(1)); d != want {
				t.Errorf("%s: got %+v, want %+v", name, d, want)
			}
		}
		if s := r.Stats(); s != (limit.RateStats{}) {
			t.Errorf("%s: stats %+v, want none", name, s)
		}
	}
}

func TestRateWithoutBurstAdmitsOne(t *testing.T) {
	r := limit.NewRate(limit.RateOptions{Every: time.Second})
	if first, second := r.Allow(someTime, key(1)), r.Allow(someTime, key(1)); !first.OK || second.OK {
		t.Errorf("got %+v and %+v, want one request admitted", first, second)
	}
}

func TestRateDecisionsFollowTheBucket(t *testing.T) {
	r := limit.NewRate(limit.RateOptions{Every: 100 * time.Millisecond, Burst: 3})
	const ms = time.Millisecond
	for _, step := range []struct {
		at   time.Duration
		want limit.Decision
	}{
		{0, limit.Decision{OK: true, Remaining: 2, Reset: 100 * ms}},
		{0, limit.Decision{OK: true, Remaining: 1, Reset: 200 * ms}},
		{50 * ms, limit.Decision{OK: true, Remaining: 0, Reset: 250 * ms}},
		{50 * ms, limit.Decision{Reset: 250 * ms, RetryAfter: 50 * ms}},
		{99 * ms, limit.Decision{Reset: 201 * ms, RetryAfter: ms}},
		{100 * ms, limit.Decision{OK: true, Reset: 300 * ms}},
		{250 * ms, limit.Decision{OK: true, Reset: 250 * ms}},
		{time.Hour, limit.Decision{OK: true, Remaining: 2, Reset: 100 * ms}},
	} {
		if got := r.Allow(someTime.Add(step.at), key(1)); got != step.want {
			t.Errorf("at %v\n got %+v\nwant %+v", step.at, got, step.want)
		}
	}
	if got, want := r.Stats(), (limit.RateStats{Admitted: 6, Refused: 2, Keys: 1}); got != want {
		t.Errorf("stats: got %+v, want %+v", got, want)
	}
}

// TestRateHoldsOverAMinute sends three times the rate, at random and in bursts, for a minute
// to each of some keys.
func TestRateHoldsOverAMinute(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		burst int
		gap   time.Duration // average time between two requests
		most  int           // requests at once
	}{
		{20 * time.Millisecond, 1, 150 * time.Microsecond, 1},
		{10 * time.Millisecond, 20, 3 * time.Millisecond, 1},
		{10 * time.Millisecond, 50, 150 * time.Millisecond, 100},
		{time.Millisecond, 100, 400 * time.Microsecond, 1},
	} {
		t.Run(fmt.Sprint(c.every, c.burst), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const minute = time.Minute
				r := limit.NewRate(limit.RateOptions{Every: c.every, Burst: c.burst})
				random := rand.New(rand.NewPCG(1, 2))
				start := time.Now()
				var admitted []time.Duration
				for at := time.Duration(0); at < minute; at += time.Duration(random.Int64N(int64(2 * c.gap))) {
					for range 1 + random.IntN(c.most) {
						if r.Allow(start.Add(at), key(1)).OK {
							admitted = append(admitted, at)
						}
					}
				}
				want := float64(minute / c.every)
				if got := float64(len(admitted) - c.burst); math.Abs(got-want) > want/100 {
					t.Errorf("admitted %v beyond the burst in a minute, want %v within 1%%", got, want)
				}
				for i := c.burst; i < len(admitted); i++ { // any interval: at most the burst and the returned tokens
					if took := admitted[i] - admitted[i-c.burst]; took < c.every {
						t.Fatalf("%d admitted within %v at %v, want no more than the burst of %d", c.burst+1, took,
							admitted[i], c.burst)
					}
				}
			})
		})
	}
}

// TestRateAgreesWithPlainBuckets compares a Rate with a map of buckets that are never
// forgotten. More and more keys force its table to grow and to replace keys.
func TestRateAgreesWithPlainBuckets(t *testing.T) {
	type bucket struct{ filled, last time.Duration }
	const every, burst = 16 * time.Millisecond, 4
	r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst, Keys: 20_000})
	buckets := map[int]*bucket{}
	random := rand.New(rand.NewPCG(3, 4))
	var now time.Duration
	refused := 0
	for i := range 150_000 {
		now += time.Duration(random.Int64N(16_000))
		k := i/30 + random.IntN(1000) // a moving window of keys
		b := buckets[k]
		if b == nil {
			b = &bucket{burst * every, now}
			buckets[k] = b
		}
		b.filled = min(burst*every, b.filled+now-b.last)
		b.last = now
		want := b.filled >= every
		if want {
			b.filled -= every
		} else {
			refused++
		}
		if got := r.Allow(someTime.Add(now), key(k)); got.OK != want || got.Reset != burst*every-b.filled {
			t.Fatalf("request %d, key %d at %v: got %+v, want %v and %v to fill", i, k, now, got, want,
				burst*every-b.filled)
		}
	}
	if refused < 25_000 {
		t.Errorf("%d refused: too few to compare", refused)
	}
	s := r.Stats()
	t.Logf("%+v of %d keys in all", s, len(buckets))
	if s.Shared != 0 {
		t.Errorf("%d decisions by shared buckets, want none", s.Shared)
	}
	if live := 5000; s.Keys > live {
		t.Errorf("%d keys remembered, want at most %d: those idle for longer are forgotten", s.Keys, live)
	}
}

// TestRateKeepsHotKeys sends one request for each of many more new keys than fit. The
// old keys must get the same decisions as without them, and no key may ever get more.
func TestRateKeepsHotKeys(t *testing.T) {
	const every, burst, capacity = 100 * time.Millisecond, 5, 500
	r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst, Keys: capacity})
	admitted := map[int]int{}
	at := time.Duration(0)
	ask := func(k int) {
		if r.Allow(someTime.Add(at), key(k)).OK {
			admitted[k]++
		}
	}
	const hot, seconds = 50, 10
	newKey := hot
	for ; at < seconds*time.Second; at += 10 * time.Millisecond {
		for k := range hot {
			ask(k)
		}
		for range 100 {
			ask(newKey)
			ask(newKey - 100) // an earlier key, which may have its own slot now
			newKey++
		}
	}
	for k := range hot {
		if got, want := admitted[k], burst+int(seconds*time.Second/every); got < want-1 || got > want {
			t.Errorf("hot key %d: %d admitted, want %d", k, got, want)
		}
	}
	some := 0
	for k := hot; k < newKey; k++ {
		some += admitted[k]
	}
	s := r.Stats()
	t.Logf("%+v; %d of %d new keys' requests admitted", s, some, 2*(newKey-hot))
	if s.Shared == 0 || s.Keys > 3*capacity {
		t.Errorf("stats %+v, want shared buckets used and at most %d keys", s, 3*capacity)
	}
	if some == 0 {
		t.Error("no new key was admitted: they are shut out")
	}
}

// TestRateSharedBucketGivesNoNewBurst follows a new key from a shared bucket to its own.
func TestRateSharedBucketGivesNoNewBurst(t *testing.T) {
	const every, burst, capacity = time.Second, 3, 32
	r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst, Keys: capacity})
	at := someTime
	for k := range 50 * capacity { // empty all buckets, including the shared ones
		for range burst {
			r.Allow(at, key(k))
		}
	}
	shared := r.Stats().Shared
	admitted := 0
	for range 80 { // eight seconds; after three, buckets are full and can be replaced
		at = at.Add(every / 10)
		if r.Allow(at, key(-1)).OK {
			admitted++
		}
	}
	if s := r.Stats(); s.Shared < shared+25 || s.Shared > shared+35 || s.Keys != 1 {
		t.Errorf("stats %+v, want about 30 decisions by a shared bucket and then one of its own", s)
	}
	if admitted != 8 {
		t.Errorf("%d admitted in 8s, want 8: the tokens that returned to the shared bucket and then to its own",
			admitted)
	}
}

// TestRateSurvivesClockJumps sets the clock an hour forward and back, many times.
func TestRateSurvivesClockJumps(t *testing.T) {
	const every, burst = 100 * time.Millisecond, 5
	r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst})
	wall, admitted, jumps := someTime, 0, 0
	for step := range 60_000 { // a minute
		wall = wall.Add(time.Millisecond)
		switch step % 20_000 {
		case 5_000:
			wall = wall.Add(time.Hour)
			jumps++
		case 15_000:
			wall = wall.Add(-time.Hour)
		}
		d := r.Allow(wall, key(1))
		if d.OK {
			admitted++
		}
		if d.Reset < 0 || d.Reset > burst*every || d.RetryAfter < 0 || d.RetryAfter > every || d.Remaining < 0 ||
			d.Remaining >= burst {
			t.Fatalf("step %d: %+v", step, d)
		}
	}
	if least, most := 600, 600+burst*(1+jumps); admitted < least-1 || admitted > most {
		t.Errorf("%d admitted in a minute, want %d to %d: no jump stops the rate, one forward fills the bucket once",
			admitted, least, most)
	}
}

// TestRateSurvivesTheZeroTime checks that a call without a time neither fills a bucket nor stops the clock of the buckets.
func TestRateSurvivesTheZeroTime(t *testing.T) {
	r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 1})
	now := time.Now()
	r.Allow(now, key(1))
	if d := r.Allow(time.Time{}, key(1)); d.OK {
		t.Errorf("at the zero time: %+v", d)
	}
	for second := range 3 {
		if d := r.Allow(now.Add(time.Duration(second+1)*time.Second), key(1)); !d.OK {
			t.Errorf("after %d s: %+v", second+1, d)
		}
	}
}

// TestRateGivesDelayedRequestsNoTokens delays every second request on the way to the lock by up to
// 900 ms, and checks that it gains nothing.
func TestRateGivesDelayedRequestsNoTokens(t *testing.T) {
	r := limit.NewRate(limit.RateOptions{Every: time.Millisecond, Burst: 10})
	random := rand.New(rand.NewPCG(5, 6))
	admitted := 0
	for at := time.Duration(0); at < 10*time.Second; at += 100 * time.Microsecond {
		late := time.Duration(random.Int64N(int64(900 * time.Millisecond))) // overtaken on the way to the lock
		if r.Allow(someTime.Add(at-late), key(1)).OK {
			admitted++
		}
		if r.Allow(someTime.Add(at), key(1)).OK {
			admitted++
		}
	}
	if admitted > 10_010 || admitted < 9_900 {
		t.Errorf("%d admitted in 10s, want 10,000 and the burst at most", admitted)
	}
}

// TestRateAddsNoTokensTwiceForLateCalls makes calls with times of up to a minute before, as goroutines do that the
// system has stopped. Each decision is that of buckets whose clock is the latest time of all calls, so that no time
// adds tokens twice.
func TestRateAddsNoTokensTwiceForLateCalls(t *testing.T) {
	const every, burst, keys = 50 * time.Millisecond, 5, 3
	for seed := range uint64(20) {
		r := limit.NewRate(limit.RateOptions{Every: every, Burst: burst, Keys: keys})
		random := rand.New(rand.NewPCG(seed, 7))
		start := time.Now().Add(time.Hour) // with a monotonic reading, which the time of a bubble has not
		at, clock := time.Duration(0), -time.Minute
		fullAt := [keys]time.Duration{clock, clock, clock}
		for i := range 5000 {
			at += time.Duration(random.Int64N(int64(20 * time.Millisecond)))
			called := at
			if random.IntN(3) == 0 {
				called -= time.Duration(random.Int64N(int64(time.Minute)))
			}
			clock = max(clock, called)
			k := random.IntN(keys)
			full := max(fullAt[k], clock) + every
			want := full-clock <= burst*every
			if want {
				fullAt[k] = full
			}
			got := r.Allow(start.Add(called), key(k))
			if reset := max(0, fullAt[k]-clock); got.OK != want || got.Reset != reset {
				t.Fatalf("seed %d, call %d at %v with %v: got %+v, want %v and %v to fill", seed, i, at, called, got, want, reset)
			}
		}
	}
}

func TestRateAcceptsExtremeOptions(t *testing.T) {
	for _, o := range []limit.RateOptions{
		{Every: 1, Burst: math.MaxInt},
		{Every: math.MaxInt64, Burst: math.MaxInt},
		{Every: math.MaxInt64, Burst: 1, Keys: 1},
		{Every: 1, Burst: 1, Keys: 2},
		{Every: time.Hour, Burst: 1, Keys: 3},
	} {
		r := limit.NewRate(o)
		for i, now := range []time.Time{{}, someTime, time.Unix(1<<40, 0), {}, time.Unix(-1<<40, 0), someTime} {
			for k := range 20 {
				d := r.Allow(now, key(k))
				if d.Remaining < 0 || d.Reset < 0 || d.RetryAfter < 0 || d.OK && d.RetryAfter != 0 {
					t.Errorf("%+v, time %d: %+v", o, i, d)
				}
				if i == 0 && k == 0 && !d.OK {
					t.Errorf("%+v: the first request was refused: %+v", o, d)
				}
			}
		}
	}
}

func TestRateAdmitsTheBurstConcurrently(t *testing.T) {
	r := limit.NewRate(limit.RateOptions{Every: time.Hour, Burst: 7, Keys: 4096})
	var admitted [100]atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 20_000 {
				if r.Allow(time.Now(), key(i%100)).OK {
					admitted[i%100].Add(1)
				}
			}
		})
	}
	all.Wait()
	for k := range admitted {
		if got := admitted[k].Load(); got != 7 {
			t.Errorf("key %d: %d admitted, want the burst of 7", k, got)
		}
	}
	if s := r.Stats(); s.Admitted != 700 || s.Refused != 160_000-700 {
		t.Errorf("stats %+v, want 700 admitted of 160,000", s)
	}
}

func TestKeyOfCoversOneIPv6Network(t *testing.T) {
	a := func(s string) limit.Key { return limit.KeyOf(netip.MustParseAddr(s)) }
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
		{"2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"fe80::1%eth0", "fe80::1%eth1", true},
		{"::1", "0.0.0.1", false},
	} {
		if same := a(c.a) == a(c.b); same != c.same {
			t.Errorf("%s and %s have one key: got %v, want %v", c.a, c.b, same, c.same)
		}
	}
	if limit.KeyOf(netip.Addr{}) != a("::") {
		t.Error("an invalid address has another key than the unspecified one")
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{{"a", "a", true}, {"a", "b", false}, {"", "a", false}} {
		if same := limit.KeyOfString(c.a) == limit.KeyOfString(c.b); same != c.same {
			t.Errorf("%q and %q have one key: got %v, want %v", c.a, c.b, same, c.same)
		}
	}
}
