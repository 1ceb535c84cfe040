package guard

import (
	"math"
	"math/rand/v2"
	"testing"
)

// simulated returns the differences and the test of a guard that ends when it
// has decided.
func simulated(random *rand.Rand, effect, deviation float64, blocks int) (*differences, *test) {
	t, d := newTest(math.Log(1.05), level, level), &differences{}
	for k := 0; k < blocks && t.answer == Undecided; k++ {
		x, share := effect+deviation*random.NormFloat64(), float64(k+1)/float64(blocks)
		t.add(x, share)
		d.add(x, share)
	}
	return d, t
}

// TestIntervalAgreesWithTheAnswer checks that an interval is on one side of the
// bound exactly if the test has decided, and that it has the true value in at
// least 95% of guards, whenever they end.
func TestIntervalAgreesWithTheAnswer(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 31))
	covers, all := 0, 0
	for _, effect := range []float64{0, 0.03, 0.05, 0.1} {
		for range 20 {
			d, run := simulated(random, effect, 0.03, 14)
			low, high := d.interval(run)
			want := Undecided
			switch {
			case low >= run.center:
				want = Worse
			case high <= run.center:
				want = Fine
			}
			if want != run.answer {
				t.Errorf("effect %g: interval %.4f to %.4f, bound %.4f: %s", effect, low, high, run.center, run.answer)
			}
			if estimate := d.estimate(); !(low <= estimate && estimate <= high) {
				t.Errorf("estimate %.4f is outside of %.4f to %.4f", estimate, low, high)
			}
			all++
			if low <= effect && effect <= high {
				covers++
			}
		}
	}
	if least := 0.95 - 3*math.Sqrt(0.05*0.95/float64(all)); float64(covers) < least*float64(all) {
		t.Errorf("%d of %d intervals have the true value, want 95%%", covers, all)
	}
}

func TestIntervalOfFewBlocksIsInfinite(t *testing.T) {
	t.Parallel()
	d, run := &differences{}, newTest(0.05, level, level)
	for range 3 {
		d.add(0.01, 0.5)
		run.add(0.01, 0.5)
	}
	if low, high := d.interval(run); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("got %g to %g, want no bounds", low, high)
	}
}

// TestChangeWithoutValuesIsWorse has blocks in which the change has no value, such as
// CPU per request if many requests have no response.
func TestChangeWithoutValuesIsWorse(t *testing.T) {
	t.Parallel()
	d, run := &differences{}, newTest(0.05, level, level)
	for range LeastBlocks {
		d.add(math.Inf(1), 1)
		run.add(math.Inf(1), 1)
	}
	if low, high := d.interval(run); run.answer != Worse || low < run.center || !math.IsInf(high, 1) {
		t.Errorf("%s, %g to %g", run.answer, low, high)
	}
}

// TestMoreBlocksDecide gives undecided guards as many blocks more as they ask for. Their
// true difference is the estimate.
func TestMoreBlocksDecide(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 31))
	const first, deviation = 14, 0.05
	decided, all := 0, 0
	for all < 60 {
		d, run := simulated(random, 0.08, deviation, first)
		if run.answer != Undecided {
			continue
		}
		j := Judged{Estimate: d.estimate()}
		j.Low, j.High = d.interval(run)
		blocks := more(first, j, run.center)
		if blocks == 0 {
			continue
		}
		blocks += first
		longer := newTest(run.center, level, level)
		for k := range blocks {
			x := j.Estimate + deviation*random.NormFloat64()
			if k < first {
				x = d.values[k]
			}
			longer.add(x, float64(k+1)/float64(blocks))
		}
		all++
		if longer.answer != Undecided {
			decided++
		}
	}
	if share := float64(decided) / float64(all); share < 0.65 || share > 0.95 {
		t.Errorf("%d of %d are decided, want four of five", decided, all)
	}
}
