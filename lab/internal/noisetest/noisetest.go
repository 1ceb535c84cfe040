// Package noisetest has models of machines whose runs scatter, for tests that simulate experiments.
package noisetest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Model returns the noise of runs in the order in which they are made,
// as a share of the true value.
type Model struct {
	Name string
	Of   func(random *rand.Rand, runs int) []float64
}

// independent returns noise in which runs do not depend on each other.
func independent(one func(*rand.Rand) float64) func(*rand.Rand, int) []float64 {
	return func(random *rand.Rand, runs int) []float64 {
		noise := make([]float64, runs)
		for i := range noise {
			noise[i] = one(random)
		}
		return noise
	}
}

// Models are nine ways in which the runs of a machine may scatter. The
// last three change with time.
var Models = []Model{
	{"even", independent(func(r *rand.Rand) float64 { return 0.01 * r.NormFloat64() })},
	{"skewed", independent(func(r *rand.Rand) float64 { return 0.02 * math.Exp(r.NormFloat64()) })},
	{"heavy tails", independent(func(r *rand.Rand) float64 { // Student's t of two degrees of freedom, bounded
		return max(-0.5, min(0.5, 0.01*r.NormFloat64()/math.Sqrt(r.ExpFloat64())))
	})},
	{"two levels", independent(func(r *rand.Rand) float64 { return 0.05*float64(r.IntN(2)) + 0.003*r.NormFloat64() })},
	{"outliers", independent(func(r *rand.Rand) float64 {
		if r.IntN(10) == 0 {
			return -0.3 * r.Float64()
		}
		return 0.01 * r.NormFloat64()
	})},
	{"counts", independent(func(r *rand.Rand) float64 { return math.Round(2*r.NormFloat64()) / 100 })},
	{"drift", func(r *rand.Rand, runs int) []float64 {
		noise := make([]float64, runs)
		for i := range noise {
			noise[i] = 0.08*float64(i)/float64(runs) + 0.01*r.NormFloat64()
		}
		return noise
	}},
	{"slow", func(r *rand.Rand, runs int) []float64 { // an autoregressive process
		const keeps, deviation = 0.9, 0.02
		noise, level := make([]float64, runs), deviation*r.NormFloat64()
		for i := range noise {
			level = keeps*level + deviation*math.Sqrt(1-keeps*keeps)*r.NormFloat64()
			noise[i] = level + 0.01*r.NormFloat64()
		}
		return noise
	}},
	{"a neighbour", func(r *rand.Rand, runs int) []float64 { // is present during some runs
		noise, there := make([]float64, runs), false
		for i := range noise {
			if r.IntN(6) == 0 {
				there = !there
			}
			noise[i] = 0.01 * r.NormFloat64()
			if there {
				noise[i] -= 0.05
			}
		}
		return noise
	}},
}

// Noisier are machines on which 5% is little.
var Noisier = []Model{
	{"independent, 4%", independent(func(r *rand.Rand) float64 { return 0.04 * r.NormFloat64() })},
	{"drift of 50%", func(r *rand.Rand, runs int) []float64 {
		noise := make([]float64, runs)
		for i := range noise {
			noise[i] = 0.5*float64(i)/float64(runs) + 0.02*r.NormFloat64()
		}
		return noise
	}},
	{"AR(0.8), 4%", autoregressive(0.8, 0.04)},
	{"AR(0.95), 4%", autoregressive(0.95, 0.04)},
	{"step of 15%", func(r *rand.Rand, runs int) []float64 {
		noise, at := make([]float64, runs), r.IntN(runs)
		for i := range noise {
			noise[i] = 0.02 * r.NormFloat64()
			if i >= at {
				noise[i] += 0.15
			}
		}
		return noise
	}},
}

func autoregressive(keeps, deviation float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, runs int) []float64 {
		noise, level := make([]float64, runs), deviation*r.NormFloat64()
		for i := range noise {
			noise[i] = level
			level = keeps*level + deviation*math.Sqrt(1-keeps*keeps)*r.NormFloat64()
		}
		return noise
	}
}

// Named returns the models with these names, of both kinds.
func Named(names ...string) []Model {
	var all []Model
	for _, name := range names {
		for _, m := range slices.Concat(Models, Noisier) {
			if m.Name == name {
				all = append(all, m)
			}
		}
	}
	return all
}
