package slowest

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestOnePercentIsAboveWhateverTheNoise adds durations of distributions with and without a long tail. After the first
// thousand, one percent of them is above the estimate.
func TestOnePercentIsAboveWhateverTheNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mean := float64(20 * time.Millisecond)
	for name, next := range map[string]func(i int) float64{
		"constant":    func(int) float64 { return mean },
		"exponential": func(int) float64 { return mean * random.ExpFloat64() },
		"lognormal":   func(int) float64 { return mean * math.Exp(1.5*random.NormFloat64()) },
		"two classes": func(i int) float64 { return mean * []float64{1, 1, 1, 50}[i%4] },
		"hits and misses of a cache": func(int) float64 {
			if random.Float64() < 0.9 {
				return mean / 1000 * random.ExpFloat64()
			}
			return mean * random.ExpFloat64()
		},
		"ten times slower from the middle on": func(i int) float64 {
			if i > 50_000 {
				return 10 * mean * random.ExpFloat64()
			}
			return mean * random.ExpFloat64()
		},
		"zero": func(int) float64 { return 0 },
	} {
		var p Percent
		const n = 100_000
		above := 0
		for i := range n + 1000 {
			if is := p.Add(time.Duration(next(i))); is && i >= 1000 {
				above++
			}
		}
		if got := float64(above) / n; got < 0.0095 || got > 0.0105 {
			t.Errorf("%s: %.2f%% are above the estimate", name, 100*got)
		}
	}
}

// TestEstimateFollowsChanges states how many durations a change takes.
func TestEstimateFollowsChanges(t *testing.T) {
	var p Percent
	durations := func(n int, d time.Duration) (above int) {
		for range n {
			if p.Add(d) {
				above++
			}
		}
		return above
	}
	durations(1, time.Millisecond)
	if n := durations(1000, 10*time.Millisecond); n < 24 || n > 35 {
		t.Errorf("%d durations were above the estimate after they became ten times longer", n)
	}
	if n := durations(2303, time.Millisecond); n > 0 {
		t.Errorf("%d shorter durations are above the estimate", n)
	}
	if n := durations(100, time.Millisecond); n == 0 {
		t.Error("the estimate has not fallen to a tenth after 2,303 durations")
	}
}
