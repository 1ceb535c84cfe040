package lease_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// TestPulses sends a burst to each replica at the same time, and then nothing until the leases
// are idle. Each burst begins on credit. The excess delays the next credits, so
// that a client that pauses on purpose does not get more than the rate.
func TestPulses(t *testing.T) {
	for _, pause := range []time.Duration{700 * time.Millisecond, 1500 * time.Millisecond, 2500 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { sendPulses(t, pause) })
		})
	}
}

func sendPulses(t *testing.T, pause time.Duration) {
	const replicas, minutes = 10, 2
	n := new(network)
	o := lease.RateOptions{Name: "r", Every: 10 * time.Millisecond, Burst: 100, Keys: 100}
	f := newFleet(t, replicas, &leasetest.Store{Before: n.before}, o)
	defer f.stop()
	time.Sleep(2 * time.Second) // all replicas know each other
	admitted := 0
	began := time.Now()
	for time.Since(began) < minutes*time.Minute {
		for _, r := range f.rates {
			for range o.Burst {
				if r.Allow(time.Now(), 7).OK {
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
