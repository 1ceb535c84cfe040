package lease_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// BenchmarkAllow measures single decisions while the leases are refilled, with the time of two
// readings of the clock, and prints their quantiles.
func BenchmarkAllow(b *testing.B) {
	for _, c := range []struct {
		name    string
		clients int
		every   time.Duration
	}{
		{"one bucket, admitted", 1, time.Microsecond / 10},
		{"one bucket, mostly refused", 1, time.Millisecond},
		{"10,000 clients, admitted", 10_000, time.Microsecond},
		{"10,000 clients, mostly refused", 10_000, time.Second},
	} {
		b.Run(c.name, func(b *testing.B) {
			store := &leasetest.Store{Before: func(int) error { time.Sleep(time.Millisecond); return nil }}
			l := lease.New(store, lease.Options{})
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			running.Go(func() { l.Run(ctx) })
			r := l.Rate("r", limit.RateOptions{Every: c.every, Burst: 100_000, Keys: 1 << 17})
			keys := make([]limit.Key, c.clients)
			for i := range keys {
				keys[i] = limit.KeyOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
				r.Allow(time.Now(), keys[i])
			}
			times := make([]time.Duration, 0, 1<<22)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				r.Allow(began, keys[i])
				if took := time.Since(began); len(times) < cap(times) {
					times = append(times, took)
				}
				if i++; i == len(keys) {
					i = 0
				}
			}
			slices.Sort(times)
			for _, q := range []float64{0.5, 0.99, 0.999} {
				b.ReportMetric(float64(times[int(q*float64(len(times)))].Nanoseconds()), fmt.Sprintf("p%v-ns", 100*q))
			}
			cancel()
			running.Wait()
		})
	}
	b.Run("parallel, one bucket", func(b *testing.B) {
		l := lease.New(new(leasetest.Store), lease.Options{})
		r := l.Rate("r", limit.RateOptions{Every: time.Nanosecond, Burst: 1 << 40, Keys: 1})
		b.RunParallel(func(pb *testing.PB) {
			now := time.Now()
			for pb.Next() {
				r.Allow(now, limit.Key{})
			}
		})
	})
}

func BenchmarkKey(b *testing.B) {
	a := netip.MustParseAddr("2001:db8::1")
	b.Run("address", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			limit.KeyOf(a).Sum64()
		}
	})
	b.Run("string", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			limit.KeyOfString("Bearer 123456789012345678901234567890").Sum64()
		}
	})
}
