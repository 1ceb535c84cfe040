package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/internal/noisetest"
)

// A rates has the percentages of simulated experiments of one metric.
type rates struct {
	alarms float64 // of experiments in which nothing differs: one configuration is found to differ
	found  float64 // of experiments in which one configuration differs by 5%: it is found
}

// ratesOf simulates experiments with that many configurations, without the baseline's twin.
func ratesOf(random *rand.Rand, model noisetest.Model, configurations, runs, sets int) (r rates) {
	const limit = 0.05
	names := []string{"base", "again"}
	for i := range configurations - 1 {
		names = append(names, fmt.Sprint("x", i))
	}
	for range sets {
		turns := lab.Order(len(names), runs, random.Uint64())
		noise := model.Of(random, len(turns))
		for _, effect := range []float64{1, 0.95} {
			values := map[string][]float64{}
			for i, turn := range turns {
				value := 100 * (1 + noise[i])
				if names[turn.Case] == "x0" {
					value *= effect
				}
				values[names[turn.Case]] = append(values[names[turn.Case]], value)
			}
			least := 1.0
			ps := analysis.CorrectedP(values, names[0], names[1], names[2:]...)
			for _, p := range ps {
				least = min(least, p)
			}
			switch {
			case effect == 1 && least <= limit:
				r.alarms += 100 / float64(sets)
			case effect != 1 && ps[0] <= limit:
				r.found += 100 / float64(sets)
			}
		}
	}
	return r
}

// TestTestUsesTheBlocks counts false alarms, and the experiments that find a difference of 5%. With WEIR_SOAK it prints
// the table of docs/decisions/runs-not-requests.md, which takes minutes.
func TestTestUsesTheBlocks(t *testing.T) {
	analysis.Simulates(t)
	models := append(noisetest.Models[:len(noisetest.Models):len(noisetest.Models)], noisetest.Noisier...)
	if os.Getenv("WEIR_SOAK") == "" {
		const sets = 40
		alarms := 0.0
		for i, model := range models {
			r := ratesOf(rand.New(rand.NewPCG(uint64(i), 6)), model, 6, 6, sets)
			alarms += r.alarms / float64(len(models))
			t.Logf("%s: %.0f%% alarms, %.0f%% found", model.Name, r.alarms, r.found)
			if strings.HasPrefix(model.Name, "AR(0.95)") && r.found < 60 {
				t.Errorf("with %s, %.0f%% find a difference of 5%%, want more", model.Name, r.found)
			}
		}
		if alarms > 7.5 { // 5, and more than two standard deviations
			t.Errorf("%.1f%% of %d experiments have a false alarm, want about 5%%", alarms, sets*len(models))
		}
		return
	}
	const sets = 400
	for i, model := range models {
		t.Run(model.Name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 7))
			var row strings.Builder
			most := 0.0
			for _, configurations := range []int{2, 6, 12} {
				for _, runs := range []int{6, 10, 20} {
					r := ratesOf(random, model, configurations, runs, sets)
					fmt.Fprintf(&row, " %.1f, %.0f |", r.alarms, r.found)
					most = max(most, r.alarms)
				}
			}
			fmt.Printf("| %s |%s\n", model.Name, &row)
			if limit := 5.8 + 3*100*math.Sqrt(0.05*0.95/sets); most > limit {
				t.Errorf("up to %.1f%% of the experiments have a false alarm, want at most %.1f%%", most, limit)
			}
		})
	}
}
