package lease_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// client is the key of one client.
var client = limit.KeyOfString("client")

// A fleet is a number of replicas with a common store, in a synctest bubble.
type fleet struct {
	leasers []*lease.Leaser
	rates   []*limit.Rate
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newFleet(t testing.TB, n int, store *leasetest.Store, o limit.RateOptions) *fleet {
	return startFleet(t, slices.Repeat([]lease.Store{store}, n), o)
}

// startFleet starts a replica for each store.
func startFleet(t testing.TB, stores []lease.Store, o limit.RateOptions) *fleet {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fleet{cancel: cancel}
	for _, store := range stores {
		l := lease.New(store, lease.Options{Fleet: "test"})
		f.leasers = append(f.leasers, l)
		f.rates = append(f.rates, l.Rate("r", o))
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
				if r.Allow(time.Now(), client).OK {
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
