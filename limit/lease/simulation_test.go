package lease_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// A fleet is a number of replicas with a common store, in a synctest bubble.
type fleet struct {
	store   *leasetest.Store
	leasers []*lease.Leaser
	rates   []*lease.Rate
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newFleet(t testing.TB, n int, store *leasetest.Store, o lease.RateOptions) *fleet {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fleet{store: store, cancel: cancel}
	for range n {
		l := lease.New(store, lease.Options{Fleet: "test"})
		f.leasers = append(f.leasers, l)
		f.rates = append(f.rates, l.Rate(o))
		f.running.Go(func() { l.Run(ctx) })
	}
	return f
}

// stop ends the replicas.
func (f *fleet) stop() {
	f.cancel()
	f.running.Wait()
}

// send sends requests for a time: demand is the number per second at a replica. It returns the
// number of admitted requests.
func (f *fleet) send(d time.Duration, demand func(replica int, at time.Duration) float64) (admitted int64) {
	const step = 5 * time.Millisecond
	owed := make([]float64, len(f.rates))
	for i := range owed {
		owed[i] = rand.Float64()
	}
	for at := time.Duration(0); at < d; at += step {
		for i, r := range f.rates {
			owed[i] += demand(i, at) * step.Seconds()
			for ; owed[i] >= 1; owed[i]-- {
				if r.Allow(time.Now(), 7).OK {
					admitted++
				}
			}
		}
		time.Sleep(step)
	}
	return admitted
}

// changing is an uneven demand, of three times the rate in sum, that moves to other replicas every
// 7 s.
func changing(n int, rate float64) func(int, time.Duration) float64 {
	return func(i int, at time.Duration) float64 {
		moved := (i + int(at/(7*time.Second))) % n
		return rate * 3 * 2 * float64(moved+1) / float64(n*(n+1))
	}
}

func TestSharedRate(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		o    lease.RateOptions
	}{
		{"1,000 per second", 3, lease.RateOptions{Name: "r", Every: time.Millisecond, Burst: 100}},
		{"10 per second", 3, lease.RateOptions{Name: "r", Every: 100 * time.Millisecond, Burst: 5}},
		{"100,000 per second", 10, lease.RateOptions{Name: "r", Every: 10 * time.Microsecond, Burst: 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &leasetest.Store{Before: func(int) error { time.Sleep(time.Millisecond); return nil }}
				f := newFleet(t, c.n, store, c.o)
				defer f.stop()
				time.Sleep(time.Second)
				const d = 30 * time.Second
				rate := 1 / c.o.Every.Seconds()
				got := float64(f.send(d, changing(c.n, rate)))
				want := rate*d.Seconds() + float64(c.o.Burst)
				t.Logf("admitted %.0f, %.2f%% from %.0f; %+v", got, (got/want-1)*100, want, store.Count())
				if got < 0.98*want || got > 1.02*want {
					t.Errorf("admitted %.0f requests, want %.0f within 2%%", got, want)
				}
			})
		})
	}
}
