package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/internal/noisetest"
)

// TestFalseSentencesAreRare has experiments without any difference. About 5% of the
// pages of experiments, and of the pages of comparisons of two experiments, may
// have a sentence that reports a difference. With WEIR_SOAK it makes 1,000 sets
// of each design and noise model, which takes hours of CPU time.
func TestFalseSentencesAreRare(t *testing.T) {
	analysis.Simulates(t)
	designs, sets := []design{{1, 1, 6, closedLoad}, {1, 10, 6, noLoad}, {1, 0, 6, openLoad}, {4, 2, 6, closedLoad}},
		12
	soak := os.Getenv("WEIR_SOAK") != ""
	if soak {
		designs, sets = allDesigns(), 1000
	}
	for i, model := range noisetest.Models {
		t.Run(model.Name, func(t *testing.T) {
			t.Parallel()
			var all falseSentences
			for k, d := range designs {
				random := rand.New(rand.NewPCG(uint64(i), uint64(k)))
				f := falseSentencesOf(random, model, d, sets)
				all.add(f)
				if soak {
					t.Logf("%s: %v", d, f)
				}
			}
			t.Log(all)
			all.check(t)
		})
	}
}

// allDesigns returns the corners of the promised range, which is 1 to 6
// configurations, 1 to 40 measures and 6 to 20 runs, and one design inside of
// it.
func allDesigns() []design {
	var all []design
	for _, load := range []loop{closedLoad, noLoad, openLoad} {
		all = append(all, design{2, 8, 10, load})
		for _, configurations := range []int{1, 6} {
			for _, measures := range []int{1, 40} {
				for _, runs := range []int{6, 20} {
					all = append(all, design{configurations, measures, runs, load})
				}
			}
		}
	}
	return all
}

// falseSentences counts pages with a false sentence.
type falseSentences struct{ sets, pages, comparisons int }

func falseSentencesOf(random *rand.Rand, model noisetest.Model, d design, sets int) falseSentences {
	f := falseSentences{sets: sets}
	for range sets {
		a, b := d.experiment(random, model, 1), d.experiment(random, model, 1)
		if page := analysis.Of(a); claims(page.Findings, page.Warnings) {
			f.pages++
		}
		if page := analysis.Compare(a, b); claims(page.Findings, page.Warnings) {
			f.comparisons++
		}
	}
	return f
}

func (f *falseSentences) add(other falseSentences) {
	f.sets, f.pages, f.comparisons = f.sets+other.sets, f.pages+other.pages, f.comparisons+other.comparisons
}

func (f falseSentences) String() string {
	return fmt.Sprintf("%.1f%% of %d pages and %.1f%% of as many comparisons have a false sentence",
		100*float64(f.pages)/float64(f.sets), f.sets, 100*float64(f.comparisons)/float64(f.sets))
}

// check allows 5%, and three standard deviations of the count.
func (f falseSentences) check(t *testing.T) {
	t.Helper()
	const share = 0.05
	sets := float64(f.sets)
	if most := int(share*sets + 3*math.Sqrt(share*(1-share)*sets)); f.pages > most || f.comparisons > most {
		t.Errorf("of %d sets without a difference, %d pages and %d comparisons have a false sentence, want at most %d",
			f.sets, f.pages, f.comparisons, most)
	}
}

// TestDifferenceOfFivePercentIsFound has a CPU per request that is 5% lower in one configuration. At
// least 95% of the experiments of 10 runs have to find it, on a machine that
// drifts and on one that changes slowly, however many other results there are.
func TestDifferenceOfFivePercentIsFound(t *testing.T) {
	analysis.Simulates(t)
	const experiments, least = 20, 19
	for _, model := range noisetest.Models {
		if model.Name != "drift" && model.Name != "slow" {
			continue
		}
		for _, d := range []design{{1, 0, 10, closedLoad}, {3, 2, 10, closedLoad}} {
			t.Run(fmt.Sprintf("%s, %s", model.Name, d), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(5, uint64(d.configurations)))
				found := 0
				for range experiments {
					a := analysis.Of(d.experiment(random, model, 0.95))
					if a.Metric("CPU per request").Row("x0").Versus.Verdict == analysis.Better {
						found++
					}
				}
				t.Logf("%d of %d experiments find 5%%", found, experiments)
				if found < least {
					t.Errorf("%d of %d experiments find 5%%, want at least %d", found, experiments, least)
				}
			})
		}
	}
}
