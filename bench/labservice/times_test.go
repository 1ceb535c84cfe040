package labservice_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/labservice"
)

// TestQuantilesAreNearlyExact compares the quantiles with those of the sorted durations, to 1.6%.
func TestQuantilesAreNearlyExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		make func() time.Duration
	}{
		{"small", func() time.Duration { return time.Duration(random.IntN(130)) }},
		{"of every size", func() time.Duration { return time.Duration(random.Int64() >> (20 + random.IntN(44))) }},
		{"microseconds", func() time.Duration { return time.Duration(random.ExpFloat64() * 1e4) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var times labservice.Times
			var all []time.Duration
			for range 2000 {
				d := c.make()
				times.Add(d)
				all = append(all, d)
			}
			slices.Sort(all)
			for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
				want := all[int(q*float64(len(all)-1))]
				if got := times.Quantile(q); (got - want).Abs() > want/60+1 {
					t.Errorf("quantile %v: got %v, want %v to 1.6%%", q, got, want)
				}
			}
			if got, want := times.Max(), all[len(all)-1]; got != want {
				t.Errorf("max: got %v, want %v", got, want)
			}
		})
	}
}

func TestZeroTimesHaveNoValues(t *testing.T) {
	var none labservice.Times
	if none.Count() != 0 || none.Max() != 0 || none.Mean() != 0 || none.Quantile(0.5) != 0 {
		t.Errorf("the zero Times say %v, %v, %v, %v; want nothing", none.Count(), none.Max(), none.Mean(),
			none.Quantile(0.5))
	}
	var times labservice.Times
	times.Add(-time.Second)
	times.Add(100 * time.Hour)
	if got, want := times.Max(), 100*time.Hour; got != want {
		t.Errorf("max: got %v, want %v", got, want)
	}
	if got := times.Quantile(0); got != 0 {
		t.Errorf("a time below nothing is %v, want 0", got)
	}
}

func TestTimesAreShared(t *testing.T) {
	var times labservice.Times
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 1000 {
				times.Add(time.Duration(4*n + i))
			}
		})
	}
	all.Wait()
	if got := times.Count(); got != 4000 {
		t.Errorf("got %d times, want 4000", got)
	}
	if got, want := times.Mean(), time.Duration(1999); got != want {
		t.Errorf("mean: got %v, want %v", got, want)
	}
	if got, want := times.Max(), time.Duration(3999); got != want {
		t.Errorf("max: got %v, want %v", got, want)
	}
}
