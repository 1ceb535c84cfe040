package lease_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// TestFinishIsShort ends a replica with the tokens of many clients, and with a store that is slow.
func TestFinishIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &leasetest.Store{Before: func(int) error { time.Sleep(200 * time.Millisecond); return nil }}
		f := newFleet(t, 1, store, limit.RateOptions{Every: time.Second, Burst: 10, Keys: 1 << 17})
		time.Sleep(time.Second)
		for i := range 20_000 {
			f.rates[0].Allow(time.Now(), limit.KeyOfString(strconv.Itoa(i)))
		}
		began := time.Now()
		f.stop()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the replica ended after %v, want at most 2 s", took)
		}
	})
}

// TestChangedRateBeginsWithFullBucket uses up a slow rate. The faster one that replaces it, as after a reload, begins
// with a full bucket.
func TestChangedRateBeginsWithFullBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1, new(leasetest.Store), limit.RateOptions{Every: time.Minute, Burst: 20, Keys: 10})
		defer f.stop()
		time.Sleep(time.Second)
		use := func(r *limit.Rate) (admitted int) {
			for range 100 {
				if r.Allow(time.Now(), client).OK {
					admitted++
				}
				time.Sleep(10 * time.Millisecond)
			}
			return admitted
		}
		if n := use(f.rates[0]); n != 20 {
			t.Errorf("%d requests admitted, want the burst", n)
		}
		faster := f.leasers[0].Rate("r", limit.RateOptions{Every: 20 * time.Millisecond, Burst: 20, Keys: 10})
		if n := use(faster); n < 60 || n > 72 {
			t.Errorf("%d requests admitted in a second by the faster rate, want 70", n)
		}
	})
}

// TestFinishTakesTheTokensThatWereUsed ends a replica at many moments of a load, when its lease has unused tokens or has
// used tokens on credit. The store then has taken just those of the requests.
func TestFinishTakesTheTokensThatWereUsed(t *testing.T) {
	for d := 50 * time.Millisecond; d < time.Second; d += 10 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			store := &leasetest.Store{Before: new(network).before}
			f := newFleet(t, 1, store, limit.RateOptions{Every: 10 * time.Millisecond, Burst: 200, Keys: 100})
			time.Sleep(time.Second)
			admitted := f.send(d, even(1, 100))
			f.stop()
			if taken := store.Count().Taken; taken != admitted {
				t.Errorf("%v: %d requests admitted, %d tokens taken", d, admitted, taken)
			}
		})
	}
}
