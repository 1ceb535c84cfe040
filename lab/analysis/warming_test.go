package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// warmedRuns returns runs of configurations whose speed in both halves of the load scatters by that much. In the first
// configurations, which are warming in number, the second half is faster by the ratio.
func warmedRuns(random *rand.Rand, configurations, runs, warming int, scatter, ratio float64) (all []results.Run) {
	for c := range configurations {
		for range runs {
			faster := math.Exp(scatter * random.NormFloat64())
			if c < warming {
				faster *= ratio
			}
			all = append(all, results.Run{Configuration: fmt.Sprint("c", c), Outcome: results.Done,
				WarmUp: &results.WarmUp{Seconds: 2, Faster: &faster}})
		}
	}
	return all
}

// TestServicesThatWarmUpAreReported counts simulated experiments with the sentence. With WEIR_SOAK it prints the table of
// docs/decisions/runs-not-requests.md.
func TestServicesThatWarmUpAreReported(t *testing.T) {
	sets := 100
	if os.Getenv("WEIR_SOAK") != "" {
		sets = 1000
	}
	for _, scatter := range []float64{0.01, 0.04, 0.1, 0.2} {
		row := fmt.Sprintf("| %.0f%% |", 100*scatter)
		for _, d := range []struct{ configurations, runs int }{{2, 6}, {6, 6}, {2, 10}, {6, 10}} {
			random := rand.New(rand.NewPCG(uint64(d.configurations), uint64(d.runs)))
			count := func(warming int, ratio float64) (percent float64) {
				for range sets {
					if analysis.StillWarming(warmedRuns(random, d.configurations, d.runs, warming, scatter, ratio)) != "" {
						percent += 100 / float64(sets)
					}
				}
				return percent
			}
			none, all, one := count(0, 1), count(d.configurations, 1.1), count(1, 1.35)
			row += fmt.Sprintf(" %.1f, %.0f, %.0f |", none, all, one)
			if none > 11 { // 5, and almost three standard deviations
				t.Errorf("%d configurations, %d runs, scatter %.2f: %.1f%% of services that do not change are reported", d.configurations,
					d.runs, scatter, none)
			}
			if scatter < 0.1 && all < 95 {
				t.Errorf("%d configurations, %d runs, scatter %.2f: %.0f%% of services that become faster by 10%% are reported",
					d.configurations, d.runs, scatter, all)
			}
		}
		if os.Getenv("WEIR_SOAK") != "" {
			fmt.Println(row)
		}
	}
}

func TestSentenceNamesTheConfigurationThatWarmsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	unfinished := warmedRuns(random, 2, 4, 0, 0.01, 1)
	for i := range unfinished {
		unfinished[i].WarmUp.Warming = i < 4
	}
	chance := warmedRuns(random, 2, 4, 0, 0.01, 1) // faster in most runs, but not in enough of them
	for i := range chance {
		chance[i].WarmUp.Warming, *chance[i].WarmUp.Faster = i < 4, []float64{1.2, 1.2, 1.2, 0.9}[i%4]
	}
	for _, c := range []struct {
		name string
		runs []results.Run
		want string
	}{
		{"all", warmedRuns(random, 3, 6, 3, 0.01, 1.3), "The service still warmed up while it was measured: it was"},
		{"one", warmedRuns(random, 3, 10, 1, 0.01, 1.3), "With c0, the service still warmed up while it was measured"},
		{"the longest extension", unfinished, "With c0, the service still warmed up when the measurement began, in 4 of 4 runs. " +
			"Set warm_up to more than 2 s."},
		{"the longest extension, and by chance faster", chance, "With c0, the service still warmed up when the measurement began"},
	} {
		r := &results.Results{Runs: c.runs}
		if got := analysis.Of(r).Findings[0].Text; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: the first sentence is %q, want %q", c.name, got, c.want)
		}
	}
}
