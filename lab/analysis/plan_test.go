package analysis_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

func TestPlanNeedsRunsForEachContrast(t *testing.T) {
	for _, c := range []struct {
		contrasts []results.Contrast
		metrics   int
		want      int
	}{
		{square(1, 1, nil).Contrasts, 3, 10},
		{square(1, 1, nil).Contrasts[:1], 4, 5},
		{square(1, 1, nil).Contrasts[1:2], 1, 6},
		{nil, 4, 1},
	} {
		p := analysis.Plan{Contrasts: c.contrasts, Baseline: "old 10", Configurations: 4, Metrics: c.metrics}
		if got := p.NeededRuns(); got != c.want {
			t.Errorf("%d contrasts in %d metrics need %d runs, want %d", len(c.contrasts), c.metrics, got, c.want)
		}
	}
}

// Experiments with the difference that a plan promises find it as often as it says.
func TestPlanFindsWhatItPromises(t *testing.T) {
	analysis.Simulates(t)
	const sets, spread = 200, 0.02
	p := analysis.Plan{Contrasts: []results.Contrast{{Configuration: "x", Against: "null"}}, Baseline: "null",
		Configurations: 3, Metrics: 1, Runs: 8}
	ratio := 1 + p.Finds()*spread
	random := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range sets {
		values := map[string][]float64{}
		for name, mean := range map[string]float64{"null": 1000, again: 1000, "x": 1000 * ratio, "y": 1000} {
			values[name] = around(random.Uint64(), 8, mean, spread)
		}
		if analysis.CorrectedP(values, "null", again, "x")[0] <= 0.05 {
			found++
		}
	}
	if found < sets*70/100 || found > sets*90/100 {
		t.Errorf("%d of %d experiments find a ratio of %.3f, want about 80%%", found, sets, ratio)
	}
}

// The spread is that of the runs, however much the machine changes from block to block.
func TestSpreadIsThatWithinBlocks(t *testing.T) {
	const spread = 0.02
	all := []series{{null, around(1, 200, 1000, spread)}, {again, around(2, 200, 1000, spread)},
		{"x", around(3, 200, 2000, spread)}}
	for _, s := range all {
		for i := range s.values {
			s.values[i] *= 1 + 0.1*math.Sin(float64(i)/5)
		}
	}
	if got := analysis.SpreadOf(closedLoop(all...))["requests per second"]; got < 0.85*spread || got > 1.15*spread {
		t.Errorf("the spread is estimated as %.4f, want %v", got, spread)
	}
}
