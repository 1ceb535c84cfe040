package limit_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/weirhq/weir/limit"
)

// BenchmarkRate uses keys in turn; their slots are in random order.
func BenchmarkRate(b *testing.B) {
	for _, c := range []struct {
		name           string
		keys, capacity int
		every          time.Duration
	}{
		{"1 key", 1, 0, time.Millisecond},
		{"1k keys", 1000, 0, time.Second},
		{"1M keys", 1_000_000, 1_000_000, time.Hour},
		{"1M keys, each forgotten", 1_000_000, 1_000_000, time.Nanosecond},
		{"1M keys, room for 64k", 1_000_000, 1 << 16, time.Hour},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := limit.NewRate(limit.RateOptions{Every: c.every, Burst: 10, Keys: c.capacity})
			keys := make([]limit.Key, c.keys)
			for i := range keys {
				keys[i] = key(i)
				r.Allow(time.Now(), keys[i])
			}
			now, i := time.Now(), 0
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				now = now.Add(20)
				r.Allow(now, keys[i])
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
	b.Run("parallel, 1k keys", func(b *testing.B) {
		r := limit.NewRate(limit.RateOptions{Every: time.Second, Burst: 10})
		keys := make([]limit.Key, 1000)
		for i := range keys {
			keys[i] = key(i)
		}
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			now := time.Now()
			for i := 0; pb.Next(); i++ {
				r.Allow(now, keys[i%len(keys)])
			}
		})
	})
}

func BenchmarkKey(b *testing.B) {
	for _, s := range []string{"192.0.2.1", "2001:db8::1"} {
		b.Run(s, func(b *testing.B) {
			a := netip.MustParseAddr(s)
			b.ReportAllocs()
			for b.Loop() {
				limit.KeyOf(a)
			}
		})
	}
	b.Run("string", func(b *testing.B) {
		s := fmt.Sprint("Bearer ", 123456789)
		b.ReportAllocs()
		for b.Loop() {
			limit.KeyOfString(s)
		}
	})
}

func BenchmarkInFlight(b *testing.B) {
	b.Run("enter and leave", func(b *testing.B) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 100, Queue: 100})
		ctx := b.Context()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if f.Enter(ctx) == nil {
					f.Leave()
				}
			}
		})
	})
	b.Run("full", func(b *testing.B) {
		f := limit.NewInFlight(limit.InFlightOptions{Max: 1})
		ctx := b.Context()
		if err := f.Enter(ctx); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			f.Enter(ctx)
		}
	})
}

func BenchmarkRateStats(b *testing.B) {
	const keys = 1_000_000
	r := limit.NewRate(limit.RateOptions{Every: time.Hour, Burst: 2, Keys: keys})
	for i := range keys {
		r.Allow(someTime, key(i))
	}
	for b.Loop() {
		r.Stats()
	}
}
