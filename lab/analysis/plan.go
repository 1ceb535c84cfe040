package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// A Plan is an experiment before its first run.
type Plan struct {
	Contrasts      []results.Contrast
	Baseline       string // whose runs are twice as many
	Configurations int    // with the baseline, without its twin
	Metrics        int    // number of leading metrics
	Runs           int    // of each configuration
}

// NeededRuns returns the smallest number of runs with which each contrast can be found to differ in each metric. With
// fewer, its smallest possible p, corrected for all of them, is above 0.05.
func (p *Plan) NeededRuns() int {
	needed := 1
	for _, c := range p.Contrasts {
		smallest := func(n int) float64 { return smallestInBlocks(n, p.hasTwin(c)) }
		needed = max(needed, neededRuns(smallest, p.comparisons()))
	}
	return needed
}

func (p *Plan) comparisons() int { return len(p.Contrasts) * p.Metrics }

// hasTwin reports whether a contrast is against the baseline.
func (p *Plan) hasTwin(c results.Contrast) bool { return c.Than == nil && c.Against == p.Baseline }

// power is the share of the experiments that have to find a difference.
const power = 0.8

// Finds returns the smallest difference that 80% of such experiments find in one metric of one contrast, as a multiple of
// the spread of runs within their block. It simulates normal noise, and corrects p by the number of comparisons, which
// finds less than [Of] does if metrics depend on each other. An interaction has to be larger. It returns +Inf if there are
// fewer than [Plan.NeededRuns].
func (p *Plan) Finds() float64 {
	const experiments = 100
	bases := []string{"base", "again"}
	if slices.ContainsFunc(p.Contrasts, func(c results.Contrast) bool { return !p.hasTwin(c) }) {
		bases = bases[:1]
	}
	random := rand.New(rand.NewPCG(3, 0))
	found := make([]float64, experiments)
	for i := range found {
		found[i] = p.found(random, bases)
	}
	slices.Sort(found)
	return found[int(power*experiments)-1]
}

// found simulates an experiment and returns the smallest difference that it finds.
func (p *Plan) found(random *rand.Rand, bases []string) float64 {
	const level, most, bisections = 1000, 20, 8
	names := slices.Concat(bases, []string{"x"})
	for i := range min(p.Configurations-2, 10) { // more do not change the median of a block
		names = append(names, fmt.Sprint(i))
	}
	g := grid{blocks: p.Runs, values: map[string][]float64{}}
	for _, name := range names {
		for range p.Runs {
			g.values[name] = append(g.values[name], level+random.NormFloat64())
		}
	}
	x := slices.Clone(g.values["x"])
	finds := func(difference float64) bool {
		for i := range x {
			g.values["x"][i] = x[i] + difference
		}
		return g.pair("x", bases...).arrange(1).p(draws)*float64(p.comparisons()) <= alpha
	}
	low, high := 0.0, float64(most)
	if !finds(high) {
		return math.Inf(1)
	}
	for range bisections {
		if middle := (low + high) / 2; finds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// SpreadOf returns the spread of the leading metrics of results: the standard deviation of a run within its block, as a
// share of its configuration's median. It is that of the median block, so outliers change it little. Metrics that do not
// vary, or have medians that are not positive, have none.
func SpreadOf(r *results.Results) map[string]float64 {
	t := tableOf(r)
	spread := map[string]float64{}
	for _, c := range t.columns {
		if !c.leads {
			continue
		}
		blocks := map[int][]float64{} // shares of the medians
		runs := 0
		for _, values := range c.values {
			m := median(values)
			runs = max(runs, len(values))
			for _, v := range values {
				if m > 0 {
					blocks[t.blocks[v.Run]] = append(blocks[t.blocks[v.Run]], v.Value/m)
				}
			}
		}
		var deviations []float64
		for _, shares := range blocks {
			if len(shares) > 1 {
				// The median deviation of such a sample is smaller than that of the distribution (Wilson and Hilferty, The
				// distribution of chi-square, PNAS 17, 1931).
				short := 1 - 2/9.0/float64(len(shares)-1)
				deviations = append(deviations, deviation(shares)/math.Pow(short, 1.5))
			}
		}
		if len(deviations) == 0 || runs < 2 {
			continue
		}
		n := float64(runs)
		if s := middleOf(deviations) * math.Sqrt(n/(n-1)); s > 0 { // a run is near the median that it is a part of
			spread[c.Name] = s
		}
	}
	return spread
}
