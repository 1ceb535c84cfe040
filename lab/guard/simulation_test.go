package guard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/internal/noisetest"
)

var noiseModels = noisetest.Named("even", "independent, 4%", "skewed", "heavy tails", "two levels", "outliers", "counts",
	"drift of 50%", "AR(0.8), 4%", "AR(0.95), 4%", "step of 15%", "a neighbour")

// answers has the percentages of simulated guards by their answer, and the
// mean number of blocks.
type answers struct{ worse, fine, blocks float64 }

// simulate returns the answers of guards with a bound of 5%, to a change that
// multiplies each value by 1+effect.
func simulate(random *rand.Rand, model noisetest.Model, effect float64, blocks, sets int) (a answers) {
	for range sets {
		noise := model.Of(random, 2*blocks)
		t := newTest(math.Log(1.05), level, level)
		k := 0
		for ; k < blocks && t.answer == Undecided; k++ {
			base, change := noise[2*k], noise[2*k+1]
			if random.IntN(2) == 0 {
				base, change = change, base
			}
			t.add(math.Log((1+change)*(1+effect)/(1+base)), float64(k+1)/float64(blocks))
		}
		switch t.answer {
		case Worse:
			a.worse += 100 / float64(sets)
		case Fine:
			a.fine += 100 / float64(sets)
		}
		a.blocks += float64(k) / float64(sets)
	}
	return a
}

// TestAnswersAreSeldomWrong simulates guards on machines with different kinds of
// noise. With WEIR_SOAK it prints the table of docs/decisions/guard.md.
func TestAnswersAreSeldomWrong(t *testing.T) {
	t.Parallel()
	long := os.Getenv("WEIR_SOAK") != ""
	sets, sizes := 25, []int{14}
	if long {
		sets, sizes = 2000, []int{10, 20, 40}
	}
	effects := []float64{0, 0.03, 0.05, 0.1}
	wrong := 0.0                                  // at the bound, of all models
	tables := make([]strings.Builder, len(sizes)) // of each size
	for i, model := range noiseModels {
		random := rand.New(rand.NewPCG(uint64(i), 31))
		for k, blocks := range sizes {
			fmt.Fprintf(&tables[k], "\n| %s |", model.Name)
			for _, effect := range effects {
				a := simulate(random, model, effect, blocks, sets)
				fmt.Fprintf(&tables[k], " %.1f, %.1f, %.0f |", a.worse, a.fine, a.blocks)
				var bad, most float64
				switch {
				case effect < 0.05:
					bad, most = a.worse, 2.5
				case effect > 0.05:
					bad, most = a.fine, 2.5
				default:
					bad, most = a.worse+a.fine, 5
					wrong += bad / float64(len(noiseModels)*len(sizes))
				}
				if limit := most + 4*math.Sqrt(most*(100-most)/float64(sets)); bad > limit {
					t.Errorf("%s, %d blocks, effect %g: %.1f%% are wrong, want at most %.1f%%", model.Name, blocks, effect, bad, limit)
				}
			}
		}
	}
	for k := range tables {
		if long {
			fmt.Printf("| room for %d blocks | 0%% | 3%% | 5%% | 10%% |\n|---|--:|--:|--:|--:|%s\n\n", sizes[k], &tables[k])
		}
	}
	all := float64(sets * len(noiseModels) * len(sizes))
	if limit := 5 + 3*math.Sqrt(5*95/all); wrong > limit {
		t.Errorf("at the bound, %.1f%% of %.0f guards decide, want at most %.1f%%", wrong, all, limit)
	}
}

// TestDecisionNeedsFewBlocks checks the power where the noise is small: 2%
// between the runs of a block, and a difference of 5% from the bound.
func TestDecisionNeedsFewBlocks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 31))
	for _, effect := range []float64{0, 0.1} {
		a := simulate(random, noiseModels[0], effect, 20, 200)
		if decided := max(a.worse, a.fine); decided < 99 || a.blocks > 8 {
			t.Errorf("effect %g: %.0f%% are right after %.1f blocks, want 99%% after 8", effect, decided, a.blocks)
		}
	}
}
