package labcmd

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A plan describes what an experiment can find, before its first run.
type plan struct {
	analysis.Plan
	lead []string
}

func planOf(e *experiment.Experiment, cases []experiment.Case) (plan, error) {
	contrasts, err := e.Questions()
	p := plan{analysis.Plan{Contrasts: contrasts, Configurations: len(cases) - 1, Metrics: len(e.Leading()),
		Runs: cmp.Or(e.Repeats, experiment.DefaultRepeats)}, e.Leading()}
	for _, c := range cases {
		if c.Baseline {
			p.Baseline = c.Name
		}
	}
	return p, err
}

// check returns an error if the number of runs cannot answer a question.
func (p *plan) check() error {
	needed := p.NeededRuns()
	if p.Runs >= needed {
		return nil
	}
	return fmt.Errorf("%s of each configuration cannot tell a difference from chance: %s in %s need at least %d",
		readable.Things(int64(p.Runs), "run"), readable.Things(int64(len(p.Contrasts)), "comparison"),
		readable.Things(int64(p.Metrics), "leading metric"), needed)
}

// assumedSpread is the spread of runs without earlier results.
const assumedSpread = 0.05

// sentence describes the differences that the experiment finds, or is "" if it compares nothing. Spread has the spread of
// the leading metrics in earlier results, in a folder.
func (p *plan) sentence(spread map[string]float64, folder string) string {
	if len(p.Contrasts) == 0 {
		return ""
	}
	runs := fmt.Sprintf("%s of %d configurations find ", readable.Things(int64(p.Runs), "run"), p.Configurations)
	finds := p.Finds()
	if math.IsInf(finds, 1) {
		more := p.Plan
		for math.IsInf(finds, 1) {
			more.Runs++
			finds = more.Finds()
		}
		runs += fmt.Sprintf("even a large difference in less than 80%% of experiments; %d runs find ", more.Runs)
	}
	runs += "a difference of "
	var parts []string
	for _, name := range p.lead {
		if s := spread[name]; s > 0 {
			parts = append(parts, fmt.Sprintf("%s in %s", share(finds*s), name))
		}
	}
	if len(parts) > 0 {
		return runs + fmt.Sprintf("%s in 80%% of experiments, if they scatter as in %s", readable.Enumerate(parts), folder)
	}
	return runs + fmt.Sprintf("%s in 80%% of experiments, if they scatter by %s; that is assumed, because there are no "+
		"earlier results of this experiment", share(finds*assumedSpread), share(assumedSpread))
}

// share formats a share with two digits.
func share(v float64) string {
	if p := 100 * v; p < 9.95 {
		return fmt.Sprintf("%.1f%%", p)
	}
	return fmt.Sprintf("%.0f%%", math.Round(100*v))
}

// earlierSpread returns the spread in the last results of the same experiment on this machine, and their folder. They may
// have another number of runs in another order.
func earlierSpread(e *experiment.Experiment) (spread map[string]float64, folder string) {
	folders, _ := filepath.Glob(filepath.Join(resultsRoot, e.Name+"-*")) // the pattern is valid
	for _, folder := range slices.Backward(folders) {
		r, err := lab.Read(folder)
		if err == nil && r.Machine == load.Machine(machine.Describe()) && sameExperiment(r, e) {
			return analysis.SpreadOf(r), folder
		}
	}
	return nil, ""
}

func sameExperiment(r *results.Results, e *experiment.Experiment) bool {
	old, err := experiment.Parse(r.Name+".yaml", []byte(r.Source))
	if err != nil {
		return false
	}
	old.Repeats, old.Seed = e.Repeats, e.Seed
	return string(old.Source()) == string(e.Source())
}
