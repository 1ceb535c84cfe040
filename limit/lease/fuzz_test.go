package lease_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// FuzzFleet sends requests of two keys to two replicas at times that the input determines, and
// cuts their connections to the store. Each byte is one step: its lowest two bits are the kind,
// the others the amount. Without a cut, each admitted request has taken one token of the store
// at the end, and no bucket has given more than it has got and the credits of fresh leases.
func FuzzFleet(f *testing.F) {
	f.Add([]byte{0xff, 0x01, 0x00, 0x02, 0xff, 0x01, 0xfd, 0x0c, 0xfe, 0xfc})
	f.Add([]byte{0x7d, 0x7e, 0x03, 0x7d, 0xfc, 0x7e, 0x03, 0x10, 0xfe, 0xfc, 0xfc, 0xfd})
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 200 {
			return
		}
		synctest.Test(t, func(t *testing.T) { runSteps(t, steps) })
	})
}

func runSteps(t *testing.T, steps []byte) {
	n := new(network)
	store := &leasetest.Store{Before: n.before}
	o := limit.RateOptions{Every: 10 * time.Millisecond, Burst: 20, Keys: 100}
	fleet := newFleet(t, 2, store, o)
	began := time.Now()
	wasCut, broken, cuts := false, false, 0
	var admitted [2]int64
	for i, step := range steps {
		amount := int(step >> 2)
		switch step & 3 {
		case 0:
			time.Sleep(time.Duration(amount) * 7 * time.Millisecond)
		case 1, 2:
			which := i & 1
			key := limit.KeyOfString(strconv.Itoa(which))
			for range amount {
				if fleet.rates[step&3-1].Allow(time.Now(), key).OK {
					admitted[which]++
				}
			}
		case 3:
			broken = !broken
			n.setBroken(broken)
			wasCut, cuts = true, cuts+1
		}
	}
	passed := time.Since(began)
	n.setBroken(false)
	time.Sleep(4 * time.Second) // idle leases return their tokens
	for _, l := range fleet.leasers {
		if s := l.Stats(); s.Failing || s.Replicas != 2 {
			t.Errorf("%+v after the connection was mended", s)
		}
	}
	fleet.stop()
	if taken := store.Count().Taken; !wasCut && taken != admitted[0]+admitted[1] {
		t.Errorf("%d requests admitted, %d tokens taken", admitted[0]+admitted[1], taken)
	}
	// A bucket has at least the tokens of 75 ms, and a fresh lease half of the burst as credit. The
	// bucket may be full after each cut, and each replica has its part of it.
	most := int64(passed/o.Every) + int64(2*o.Burst*(1+cuts))
	if wasCut {
		most += int64(passed / o.Every) // of the replica that does not know yet that it is one of two
	}
	for key, got := range admitted {
		if got > most {
			t.Errorf("key %d: %d requests admitted in %v, want at most %d", key, got, passed, most)
		}
	}
}

// FuzzAway compares a replica that never reaches the store with a plain token bucket.
func FuzzAway(f *testing.F) {
	f.Add([]byte{1, 200, 3, 40, 100, 9, 9, 9, 255, 0, 255, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 500 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			store := &leasetest.Store{Before: func(int) error { return errBroken }}
			const every, burst = 5 * time.Millisecond, 50
			fleet := newFleet(t, 1, store, limit.RateOptions{Every: every, Burst: burst, Keys: 1})
			defer fleet.stop()
			time.Sleep(time.Second) // the store is known to be away
			// Tokens arrive up to 60 ms late. The bucket with late tokens never runs out, and
			// while the other one has more than those, no request is refused.
			const late = float64(60*time.Millisecond/every) + 1
			largest, plain, last := burst+late, float64(burst), time.Now()
			for i, step := range steps {
				if i%2 == 0 {
					time.Sleep(time.Duration(step) * time.Millisecond)
					continue
				}
				added := float64(time.Since(last)) / float64(every)
				last = time.Now()
				largest, plain = min(burst+late, largest+added), min(burst, plain+added)
				for range step {
					if fleet.rates[0].Allow(time.Now(), limit.Key{}).OK {
						largest--
						plain--
					} else if plain > late {
						t.Fatalf("step %d: refused with %v tokens in a plain bucket", i, plain)
					}
				}
				if largest < 0 {
					t.Fatalf("step %d: %v requests more than a bucket with late tokens admits", i, -largest)
				}
			}
		})
	})
}
