package lease_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// TestPulsesGetNoMoreThanTheRate sends a burst to each replica at the same time, and then nothing until the leases
// are idle. Each burst begins on credit. The excess delays the next credits, so
// that a client that pauses on purpose does not get more than the rate.
func TestPulsesGetNoMoreThanTheRate(t *testing.T) {
	for _, pause := range []time.Duration{700 * time.Millisecond, 1500 * time.Millisecond, 2500 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { sendPulses(t, pause) })
		})
	}
}

func sendPulses(t *testing.T, pause time.Duration) {
	const replicas, minutes = 10, 2
	n := new(network)
	o := limit.RateOptions{Every: 10 * time.Millisecond, Burst: 100, Keys: 100}
	f := newFleet(t, replicas, &leasetest.Store{Before: n.before}, o)
	defer f.stop()
	time.Sleep(2 * time.Second) // all replicas know each other
	admitted := 0
	began := time.Now()
	for time.Since(began) < minutes*time.Minute {
		for _, r := range f.rates {
			for range o.Burst {
				if r.Allow(time.Now(), client).OK {
					admitted++
				}
			}
		}
		time.Sleep(pause)
	}
	most := int(minutes*time.Minute/o.Every) + replicas*o.Burst
	if admitted > most {
		t.Errorf("%d requests admitted, want at most %d", admitted, most)
	}
}

// TestBurstOfReplicasIsBounded sends many requests to four replicas before the store responds to one of them. The
// first requests of a client get half of its burst from each, and those of a rate with one bucket its burst
// in sum.
func TestBurstOfReplicasIsBounded(t *testing.T) {
	for keys, most := range map[int]int{100: 4 * 20 / 2, 1: 20} {
		synctest.Test(t, func(t *testing.T) {
			o := limit.RateOptions{Every: time.Second, Burst: 20, Keys: keys}
			f := newFleet(t, 4, &leasetest.Store{Before: new(network).before}, o)
			defer f.stop()
			time.Sleep(3 * time.Second)
			admitted := 0
			for _, r := range f.rates {
				for range 2 * o.Burst {
					if r.Allow(time.Now(), client).OK {
						admitted++
					}
				}
			}
			if admitted != most {
				t.Errorf("%d keys: %d requests admitted, want %d", keys, admitted, most)
			}
		})
	}
}
