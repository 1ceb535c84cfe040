package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/internal/checkout"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// Options say what to compare. Base, Experiment, Conditions and Within are
// required.
type Options struct {
	// Dir is the folder of the change; "" is the current one. Base is a commit
	// of the repository that contains Dir, or a folder.
	Dir, Base string

	// Build is a command of the shell that runs in the folder of each side before
	// the first run, or "".
	Build string

	// Experiment has the service and the load. The service's command runs in the
	// folder of a side. Run sets the configurations and the number of runs.
	Experiment *experiment.Experiment

	Conditions []Condition

	// Within is the time for all runs, without the builds. No block begins that
	// would take longer, judged by the earlier ones.
	Within time.Duration

	// Duet is as in [lab.Options]: with it, a block has two duets.
	Duet []string

	// Version and Weir are as in [lab.Options], and so is Progress, if it is not nil.
	// Looked, if not nil, is called after each block that was measured, by the goroutine
	// of Run.
	Version, Weir string
	Progress      func(lab.Progress)
	Looked        func(*Result)
}

// A Result is the result of a guard, or of its blocks so far.
type Result struct {
	Answer     Answer
	Base       string // "origin/main (1a2b3c4 subject)"
	Commit     string // of the change: "1a2b3c4", or "1a2b3c4-dirty" with changes; "" outside of a repository
	Conditions []Judged
	Failure    *Failure // the run for which the change is worse, whatever the conditions say
	Blocks     []Block
	Left       []*results.Run // that were not measured; their blocks are not in Blocks
	Started    time.Time
	Elapsed    time.Duration // of the runs
	Seed       uint64
	Duet       bool   // base and change ran at the same time
	Load       string // the experiment in YAML
	Machine    load.Machine

	// Interrupted is set if ctx ended before the answer or the end of the time.
	Interrupted bool
}

// Run builds the base and the change, and runs them in turn, or as a duet, until it can
// answer, or Within is over. A commit is checked out into a temporary work tree, which
// is removed at the end. The working tree does not change, but for the results
// of the build.
//
// It returns an error if a side cannot be built, or if the base cannot be
// measured: see [Decision.Add]. When ctx ends, it returns the result so far as
// Interrupted.
func Run(ctx context.Context, o Options) (*Result, error) {
	r, err := run(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return r, nil
}

func run(ctx context.Context, o Options) (*Result, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "weir-guard-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	base, err := checkout.New(ctx, dir, o.Base, filepath.Join(temp, "base"))
	if err != nil {
		return nil, err
	}
	defer base.Remove()
	e, err := o.experiment(base.Dir, dir)
	if err != nil {
		return nil, err
	}
	w := &watch{Options: o, decision: NewDecision(o.Conditions), result: Result{
		Base: fmt.Sprintf("%s (%s)", base.Name, base.About), Commit: checkout.Head(ctx, dir), Started: time.Now(),
		Seed: e.Seed, Duet: o.Duet != nil, Load: string(o.Experiment.Source()),
	}}
	runs, err := lab.Run(ctx, e, lab.Options{Dir: filepath.Join(temp, "results"), Version: o.Version, Weir: o.Weir,
		Progress: o.Progress, Until: w.until, Duet: o.Duet})
	switch {
	case w.err != nil:
		return nil, w.err
	case ctx.Err() != nil && err != nil: // before the end of the first run
		w.result.Interrupted = true
		return w.now(), nil
	case err != nil:
		return nil, err
	}
	w.result.Interrupted, w.result.Machine = runs.Interrupted, runs.Machine
	return w.now(), nil
}

// maxBlocks bounds the blocks of an experiment whose runs have no duration.
const maxBlocks = 10_000

// experiment returns the experiment with both sides as its configurations.
func (o *Options) experiment(base, change string) (*experiment.Experiment, error) {
	if o.Experiment == nil || len(o.Conditions) == 0 || o.Within <= 0 {
		return nil, errors.New("an option is missing: Experiment, Conditions and Within are required")
	}
	e := *o.Experiment
	e.Name, e.Title, e.Folder = "guard", "Did the change make the service slower?", change
	e.Matrix, e.Exclude, e.Include = nil, nil, nil
	e.Build = nil
	for _, side := range []struct{ name, dir string }{{BaseName, base}, {ChangeName, change}} {
		dir := filepath.Join(side.dir, e.Service.Dir)
		e.Include = append(e.Include, experiment.Addition{Name: side.name,
			Settings: []experiment.Setting{{Path: "service.dir", Value: dir}}})
		if o.Build != "" {
			e.Build = append(e.Build, experiment.Command{"sh", "-c", `cd "$0" || exit; ` + o.Build, side.dir})
		}
	}
	e.Baseline = map[string]string{"name": BaseName}
	e.Lead = nil
	for _, c := range o.Conditions {
		if c.metric.lab != "" {
			e.Lead = append(e.Lead, c.metric.lab)
		}
	}
	e.Repeats = maxBlocks
	if block := leastBlock(&e); block > 0 {
		e.Repeats = max(1, min(maxBlocks, int(o.Within/block)))
	}
	if o.Duet != nil {
		e.Repeats *= 2 // a block has two duets
	}
	return &e, nil
}

// leastBlock returns the time that a block takes at least, or 0 if that is not
// known.
func leastBlock(e *experiment.Experiment) time.Duration {
	if e.Load.Duration == 0 {
		return 0
	}
	return 2 * (e.WarmUp + e.Load.Duration)
}

// CheckTime returns an error if the time has no room for the blocks that an
// answer needs.
func CheckTime(e *experiment.Experiment, within time.Duration) error {
	if block := leastBlock(e); within < LeastBlocks*block {
		return fmt.Errorf("%v has room for %d blocks of %v or more, and fewer than %d can answer nothing", within,
			within/block, block, LeastBlocks)
	}
	return nil
}

// A watch looks at the blocks of an experiment.
type watch struct {
	Options
	decision *Decision
	began    time.Time // of the first run
	pairs    []Pair    // of the current block
	result   Result
	err      error
}

// until adds a pair, and reports whether it is the last one.
func (w *watch) until(runs []results.Run) bool {
	pair := newPair(&runs[0], &runs[1])
	w.pairs = append(w.pairs, pair)
	if w.began.IsZero() {
		w.began = runs[0].Started
	}
	w.result.Elapsed = time.Since(w.began)
	if w.Duet != nil && len(w.pairs) == 1 && !pair.failed() {
		return false
	}
	b := Block{Pairs: w.pairs}
	w.pairs = nil
	before := len(w.decision.blocks)
	blocks := time.Duration(before + len(w.decision.left) + 1)
	b.Share = min(1, float64(w.result.Elapsed)/float64(w.Within))
	if w.result.Elapsed+w.result.Elapsed/blocks > w.Within {
		b.Share = 1 // another block would take too long
	}
	if w.err = w.decision.Add(b); w.err != nil {
		return true
	}
	if w.Looked != nil && len(w.decision.blocks) == before+1 {
		w.Looked(w.now())
	}
	return w.decision.Answer() != Undecided || b.Share == 1
}

// now returns the result so far.
func (w *watch) now() *Result {
	r := w.result
	r.Answer, r.Conditions, r.Failure = w.decision.Answer(), w.decision.Judged(), w.decision.failure
	r.Blocks, r.Left = w.decision.blocks, w.decision.left
	return &r
}
