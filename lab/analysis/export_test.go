package analysis

import "testing"

// Simulates skips a test that simulates many experiments in one goroutine under the race detector: `make promises` runs
// it.
func Simulates(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("make promises simulates experiments without the race detector")
	}
}

// CorrectedP returns the corrected p of each configuration of a metric. Values has its values by block. There are a
// baseline and its twin.
func CorrectedP(values map[string][]float64, baseline, twin string, configurations ...string) []float64 {
	g := grid{len(values[baseline]), values}
	contests := contestsOf(g, []string{baseline, twin}, configurations...)
	if len(contests) == 1 {
		return []float64{contests[0].p(draws)}
	}
	const fewer = 2000 // the simulations count errors, for which these are enough
	return correctedTogether(contests, fewer)
}

// contestsOf returns the contests of configurations with the baseline.
func contestsOf(g grid, bases []string, configurations ...string) (contests []contest) {
	for _, name := range configurations {
		contests = append(contests, g.pair(name, bases...).contest(name, bases[0]))
	}
	return contests
}
