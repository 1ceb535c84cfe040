package lease_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// TestSmallBurstsAreAdmittedExactly sends bursts of a few requests with pauses, in which the replica settles those
// that it has admitted. It admits just the burst.
func TestSmallBurstsAreAdmittedExactly(t *testing.T) {
	for _, burst := range []int{1, 2, 3, 5, 10} {
		for _, pause := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 400 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				n := new(network)
				o := limit.RateOptions{Every: time.Hour, Burst: burst, Keys: 10}
				f := newFleet(t, 1, &leasetest.Store{Before: n.before}, o)
				defer f.stop()
				time.Sleep(time.Second)
				for i := range burst + 3 {
					if ok := f.rates[0].Allow(time.Now(), client).OK; ok != (i < burst) {
						t.Errorf("burst %d, pause %v: request %d admitted: %v", burst, pause, i+1, ok)
					}
					time.Sleep(pause)
				}
			})
		}
	}
}
