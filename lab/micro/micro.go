package micro

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// Options select the benchmarks. A and B are required.
type Options struct {
	// Dir is the folder to which other names are relative; "" is the
	// current one.
	Dir string

	// A and B are the two sides. Each is a folder, or else a commit of the
	// repository that contains Dir. A is the baseline. "." is the work tree
	// with its changes.
	A, B string

	// Packages are patterns such as "./router" and "./...", relative to Dir
	// or to a side that is a folder; the default is ".".
	Packages []string

	Bench string // a regular expression as for go test -bench; "" is all
	Time  string // as for go test -benchtime: "500ms", "100x"; "" is 1s
	Count int    // number of runs of each side; 0 is 10
	Seed  uint64 // of the order of the runs

	// Version is the version of the program, for the results.
	Version string

	// Progress, if not nil, is called by the goroutine of Run, and so is Begin, before the first run, with the results
	// without runs.
	Progress func(lab.Progress)
	Begin    func(*results.Results)
}

// Run builds the benchmarks of both sides and runs them. A commit is checked
// out into a temporary work tree of its repository, which is removed at the
// end.
//
// A failed run is part of the results, with its Outcome and last output. When
// ctx ends, Run returns the results so far as Interrupted, or the error of ctx
// if there are none. Run fails if a side cannot be built or has no benchmark
// that was measured.
func Run(ctx context.Context, o Options) (*results.Results, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("micro: %w", err)
	}
	temp, err := os.MkdirTemp("", "weir-micro-")
	if err != nil {
		return nil, fmt.Errorf("micro: %w", err)
	}
	defer os.RemoveAll(temp)
	e := &experiment{Options: o, began: time.Now()}
	defer e.close()
	if err := e.build(ctx, temp); ctx.Err() != nil {
		return nil, fmt.Errorf("micro: %w", ctx.Err()) // without the output of an interrupted compiler
	} else if err != nil {
		return nil, fmt.Errorf("micro: %w", err)
	}
	r, err := e.run(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("micro: %w", err)
	case len(r.Runs) == 0:
		return nil, fmt.Errorf("micro: %w", ctx.Err())
	case r.Interrupted:
		return r, nil
	}
	if err := checkMeasured(r); err != nil {
		return nil, fmt.Errorf("micro: %w", err)
	}
	return r, nil
}

const defaultCount = 10

// withDefaults sets the defaults of zero values.
func (o Options) withDefaults() (Options, error) {
	if o.A == "" || o.B == "" {
		return o, errors.New("a side is missing: A and B are commits or folders, such as HEAD and . for the last " +
			"commit and the work tree")
	}
	if o.Count < 0 {
		return o, fmt.Errorf("the count %d is below zero", o.Count)
	}
	if o.Count == 0 {
		o.Count = defaultCount
	}
	if o.Bench == "" {
		o.Bench = "."
	}
	if o.Time == "" {
		o.Time = "1s"
	}
	if len(o.Packages) == 0 {
		o.Packages = []string{"."}
	}
	dir, err := filepath.Abs(o.Dir)
	o.Dir = dir
	return o, err
}

// An experiment is the state of Run.
type experiment struct {
	Options
	began time.Time
	sides []*side
	built time.Time // when the first run began
	done  int       // number of runs
}

// build makes the binaries of both sides.
func (e *experiment) build(ctx context.Context, temp string) error {
	for i, what := range []string{e.A, e.B} {
		s, err := newSide(ctx, e.Dir, what, filepath.Join(temp, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		e.sides = append(e.sides, s)
		if err := s.build(ctx, e.Packages,
			func(line string) { e.tell(lab.Progress{Step: lab.Building, Line: line}) }); err != nil {
			return err
		}
	}
	if a, b := e.sides[0], e.sides[1]; a.name == b.name {
		b.name += " (B)"
	}
	return nil
}

func (e *experiment) close() {
	for _, s := range e.sides {
		s.Remove()
	}
}

// run makes all runs, or those until ctx ends. It fails immediately if a side
// has no such benchmark, because other runs would not have it either.
func (e *experiment) run(ctx context.Context) (*results.Results, error) {
	r := e.results()
	if e.Begin != nil {
		e.Begin(r)
	}
	e.built = time.Now()
	for _, turn := range lab.Order(len(r.Configurations), e.Count, e.Seed) {
		configuration := r.Configurations[turn.Case] // the baseline, its twin, or the other side
		e.tell(lab.Progress{Step: lab.Loading, Configuration: configuration.Name, Repeat: turn.Repeat})
		run := e.sides[turn.Case/2].run(ctx, e.Bench, e.Time)
		if ctx.Err() != nil {
			r.Interrupted = true
			break
		}
		if run.Outcome == results.NoAnswer {
			return nil, fmt.Errorf("%s: %s", configuration.Name, run.Error)
		}
		run.Number, run.Repeat, run.Configuration = turn.Number, turn.Repeat, configuration.Name
		r.Runs = append(r.Runs, run)
		e.done++
		e.tell(lab.Progress{Step: lab.Ended, Configuration: configuration.Name, Repeat: turn.Repeat, Last: &run})
	}
	r.Ended = time.Now()
	return r, nil
}

// results returns results without runs.
func (e *experiment) results() *results.Results {
	a, b := e.sides[0], e.sides[1]
	return &results.Results{
		Name:     "micro",
		Title:    fmt.Sprintf("Benchmarks of %s against %s", b.name, a.name),
		Question: fmt.Sprintf("Which benchmarks of %s does %s change?", strings.Join(e.Packages, " "), b.name),
		Source:   e.source(),
		Started:  e.began,
		Seed:     e.Seed,
		Version:  e.Version,
		Machine:  load.Machine(machine.Describe()),
		Configurations: []results.Configuration{
			{Name: a.name, Baseline: true, About: a.About},
			{Name: a.name + " again", Again: true, About: "the same binaries once more, for the noise"},
			{Name: b.name, About: b.About},
		},
	}
}

// source returns the options in YAML.
func (e *experiment) source() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# Go benchmarks of two sides\nmicro:\n  a: %q\n  b: %q\n  packages:\n", e.A, e.B)
	for _, p := range e.Packages {
		fmt.Fprintf(&s, "    - %q\n", p)
	}
	fmt.Fprintf(&s, "  bench: %q\n  time: %q\n  count: %d\n  seed: %d\n", e.Bench, e.Time, e.Count, e.Seed)
	return s.String()
}

// tell reports the progress.
func (e *experiment) tell(p lab.Progress) {
	if e.Progress == nil {
		return
	}
	p.Of, p.Elapsed = 3*e.Count, time.Since(e.began)
	if p.Step != lab.Building {
		p.Run = min(e.done+1, p.Of)
	}
	if p.Step == lab.Ended {
		p.Run = e.done
	}
	if e.done > 0 {
		p.Left = time.Since(e.built) / time.Duration(e.done) * time.Duration(p.Of-e.done)
	}
	e.Progress(p)
}

// checkMeasured returns an error unless every side has a run with a benchmark.
func checkMeasured(r *results.Results) error {
	for _, c := range r.Configurations {
		last, any := "", false
		for _, run := range r.Runs {
			if run.Configuration == c.Name {
				any = any || run.Outcome == results.Done
				last = run.Error
				if run.LastOutput != "" {
					last += ":\n" + run.LastOutput
				}
			}
		}
		if !any {
			return fmt.Errorf("%s has no run that was measured: %s", c.Name, last)
		}
	}
	return nil
}
