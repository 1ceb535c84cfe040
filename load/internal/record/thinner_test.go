package record

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirhq/weir/load/internal/random"
)

// FuzzThinner compares the points with all requests: points are requests, the slowest is
// one of them, and no long interval with requests is without a point.
func FuzzThinner(f *testing.F) {
	f.Add(uint64(1), 10, 100, int64(time.Second))
	f.Add(uint64(2), 3, 1000, int64(time.Hour))
	f.Add(uint64(3), 4001, 5, int64(1))
	f.Fuzz(func(t *testing.T, seed uint64, most, n int, length int64) {
		if most < 2 || most > 10_000 || n < 1 || n > 10_000 || length < 1 || length > int64(100*time.Hour) {
			return
		}
		source := rand.New(rand.NewPCG(seed, 0))
		both := []*thinner{newThinner(most, random.Source(seed)), newThinner(most, random.Source(seed+1))}
		all := map[Moment]bool{}
		slowest, last := Moment{Took: -1}, time.Duration(0)
		for range n {
			m := Moment{time.Duration(source.Int64N(length)), time.Duration(source.Int64N(1000)), 200}
			both[source.IntN(2)].record(m)
			all[m] = true
			if last = max(last, m.At); m.Took > slowest.Took {
				slowest = m
			}
		}
		both[0].merge(both[1])
		points := both[0].points()
		if len(points) > most {
			t.Errorf("%d points, want %d at most", len(points), most)
		}
		found := false
		for _, p := range points {
			if !all[p] {
				t.Errorf("%+v was no request", p)
			}
			found = found || p.Took == slowest.Took
		}
		if !found {
			t.Errorf("%+v is not among them", slowest)
		}
		if slots := int64(most / 2); last>>both[0].shift < time.Duration(slots/2-1) && both[0].shift > shortestSlot {
			t.Errorf("%v are in %d slots of %v", last, slots, time.Duration(1)<<both[0].shift)
		}
	})
}

// TestThinnerChoosesEvenly checks that every request of a slot is chosen equally often, before
// and after slots were merged.
func TestThinnerChoosesEvenly(t *testing.T) {
	t.Parallel()
	const requests, rounds = 8, 8000
	var chosen [requests]int
	for round := range rounds {
		kept := newThinner(2, random.New(1, uint64(round)))
		for i := range requests {
			kept.record(Moment{At: time.Duration(i) << (shortestSlot - 1), Took: time.Duration(i), Status: int32(i)})
		}
		chosen[kept.slots[0].chosen.Status]++
	}
	for i, n := range chosen {
		if mean := rounds / requests; n < mean-150 || n > mean+150 { // five deviations
			t.Errorf("request %d was chosen %d times of %d, want about %d", i, n, rounds, mean)
		}
	}
}

func BenchmarkThinner(b *testing.B) {
	kept := newThinner(4000, 1)
	at := time.Duration(0)
	for b.Loop() {
		at += 3 * time.Microsecond
		kept.record(Moment{at, 100, 200})
	}
}
