package limit_test

import (
	"context"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/weirhq/weir/limit"
)

func TestLimitsAllocateNothing(t *testing.T) {
	if limit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := t.Context()
	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	full := limit.NewInFlight(limit.InFlightOptions{Max: 1})
	if err := full.Enter(ctx); err != nil {
		t.Fatal(err)
	}
	few := limit.NewRate(limit.RateOptions{Every: time.Hour, Burst: 10})
	many := limit.NewRate(limit.RateOptions{Every: time.Hour, Burst: 10, Keys: 100})
	every := limit.NewRate(limit.RateOptions{Every: time.Nanosecond, Burst: 1 << 30})
	keys := make([]limit.Key, 10_000)
	for i := range keys {
		keys[i] = key(i)
		many.Allow(someTime, keys[i])
	}
	waited, waits := limit.NewRate(limit.RateOptions{Every: time.Hour}), make(chan error)
	waited.Allow(time.Now(), keys[0])
	waiting, giveUp := context.WithCancel(ctx)
	defer func() { giveUp(); <-waits }()
	go func() { waits <- waited.WaitN(waiting, keys[0], 1) }()
	for waited.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	address := netip.MustParseAddr("2001:db8::1")
	pace := limit.Pace{PerSecond: 1000}
	deadline := pace.Start(someTime)
	header := make([]byte, 0, 100)
	next := 0
	for _, c := range []struct {
		name string
		call func()
	}{
		{"InFlight, admitted", func() {
			if inFlight.Enter(ctx) == nil {
				inFlight.Leave()
			}
		}},
		{"InFlight, admitted without waiting", func() {
			if inFlight.TryEnter() {
				inFlight.Leave()
			}
		}},
		{"InFlight, full", func() { _ = full.Enter(ctx) }},
		{"Rate, one key, admitted and refused", func() { few.Allow(someTime, keys[0]) }},
		{"Rate, several tokens", func() { few.AllowN(someTime, keys[0], 3) }},
		{"Rate, without waiting", func() { _ = every.WaitN(ctx, keys[0], 2) }},
		{"Rate, refused while others wait", func() { waited.AllowN(someTime, keys[0], 2) }},
		{"Rate, full table, new and old keys", func() {
			many.Allow(someTime, keys[next%len(keys)])
			next++
		}},
		{"Key.Sum64", func() { limit.KeyOf(address).Sum64() }},
		{"KeyOf", func() { few.Allow(someTime, limit.KeyOf(address)) }},
		{"KeyOfString", func() { few.Allow(someTime, limit.KeyOfString("Bearer 1234567890")) }},
		{"header", func() { header = few.AppendState(few.AppendPolicy(header[:0], "site"), "site", limit.Decision{}) }},
		{"Pace", func() { deadline = pace.Next(deadline, someTime, 100) }},
	} {
		if got := testing.AllocsPerRun(1000, c.call); got != 0 {
			t.Errorf("%s: %v allocations, want 0", c.name, got)
		}
	}
}

// TestRateMemoryAllocIsBounded fills a Rate with a million keys that all need their own bucket.
func TestRateMemoryAllocIsBounded(t *testing.T) {
	if limit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	const keys = 1_000_000
	before := heap()
	r := limit.NewRate(limit.RateOptions{Every: time.Hour, Burst: 2, Keys: keys})
	for i := range keys {
		if !r.Allow(someTime, limit.KeyOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))).OK {
			t.Logf("key %d refused", i)
		}
	}
	used := heap() - before
	s := r.Stats()
	t.Logf("%d MB, %.1f bytes for each key, %d of %d shared a bucket", used>>20, float64(used)/keys, s.Shared, keys)
	if used > 64*keys {
		t.Errorf("%.1f bytes for each key, want at most 64", float64(used)/keys)
	}
	if s.Keys < keys*99/100 {
		t.Errorf("%d keys remembered by themselves, want nearly all", s.Keys)
	}
	for i := range 2 * keys { // the memory does not grow further
		r.Allow(someTime, key(i))
	}
	if used := heap() - before; used > 64*keys {
		t.Errorf("%.1f bytes for each of Keys after three times as many, want at most 64", float64(used)/keys)
	}
	if s := r.Stats(); s.Admitted+s.Refused != 3*keys {
		t.Errorf("stats %+v, want %d decisions", s, 3*keys)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
