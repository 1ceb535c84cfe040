package redisstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/limit/lease"
)

// BenchmarkExchange measures calls with several numbers of buckets, and prints the quantiles of
// their time, which the simulation of package lease uses.
func BenchmarkExchange(b *testing.B) {
	s := open(b, "redis://"+peer.StartRedis(b, peer.RedisOptions{}).Address)
	for _, buckets := range []int{1, 10, 100, 512} {
		b.Run(fmt.Sprintf("%d buckets", buckets), func(b *testing.B) {
			batch := make([]lease.Exchange, buckets)
			for i := range batch {
				batch[i] = lease.Exchange{Key: fmt.Sprint("weir:shop:rate:/api/(path...):", i), Every: time.Millisecond,
					Fill: time.Second, Replica: "0123456789abcdef", Lease: 1, Want: 1, Weight: 10, Replicas: 3, Least: 0.2}
			}
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := s.Exchange(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
				b.ReportMetric(float64(times[int(q*float64(len(times)))].Microseconds()), fmt.Sprintf("p%v-us", 100*q))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(len(times)*buckets), "us/bucket")
		})
	}
}
