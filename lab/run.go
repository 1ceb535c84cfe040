package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/internal/service"
	"github.com/weirhq/weir/lab/internal/watch"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// Run runs an experiment and keeps the measurements in o.Dir as it goes: see [Options].
// When it returns, all processes that it started have ended, except processes that
// could not be killed, which are named in the run's Warnings.
//
// If a service dies, is never ready, does not respond or leaves processes
// behind, the run has that Outcome, and Run returns no error. When ctx is done,
// the current run is discarded, and the results of the earlier runs are
// returned with Interrupted set, or the error of ctx if there are none. Other
// errors concern the experiment, its build or the folder. The runs kept by then
// can be continued with o.Resume.
//
// While Run is active, orphans among the descendants of this process become its
// children. Services can only be run on Linux.
func Run(ctx context.Context, e *experiment.Experiment, o Options) (*results.Results, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("run an experiment on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	}
	s, err := newSession(e, o)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	defer s.close()
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return s.results, nil
}

func newSession(e *experiment.Experiment, o Options) (*session, error) {
	s := &session{experiment: e, options: o, failures: make(map[string]int),
		attached: make(map[watch.Processes]*service.Running)}
	var err error
	if s.cases, err = configurations(e, o.Until != nil); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.cases, func(c experiment.Case) bool { return !c.Service.Named() }) {
		return nil, errors.New("the experiment has no command to run: write service.command, or give it after --; a " +
			"service that already runs has a service.url or a service.pid")
	}
	if o.Repo == "" && strings.Contains(string(e.Source()), "${repo}") {
		return nil, errors.New("the experiment builds parts of Weir, and needs its sources: run it in a clone of Weir")
	}
	contrasts, err := e.Questions()
	if err != nil {
		return nil, err
	}
	s.turns = Order(len(s.cases), cmp.Or(e.Repeats, experiment.DefaultRepeats), e.Seed)
	s.results = &results.Results{
		Name: e.Name, Title: e.Title, Question: e.Question, Lead: e.Leading(), Contrasts: contrasts, Source: string(e.Source()),
		Started: time.Now().Round(0), Seed: e.Seed, Version: o.Version, Machine: load.Machine(machine.Describe()),
		Interrupted: true,
	}
	for _, c := range s.cases {
		s.results.Configurations = append(s.results.Configurations, c.Configuration)
	}
	if o.Duet != nil {
		if err := s.checkDuet(); err != nil {
			return nil, err
		}
		mirror(s.turns, len(s.cases))
	}
	if err := s.openStore(); err != nil {
		return nil, err
	}
	s.reporter = startReporter(o.Progress)
	return s, nil
}

// configurations returns the configurations of an experiment, with the twin of the baseline or without.
func configurations(e *experiment.Experiment, single bool) ([]experiment.Case, error) {
	cases, err := e.Configurations()
	if single {
		cases = slices.DeleteFunc(cases, func(c experiment.Case) bool { return c.Again })
	}
	return cases, err
}

// openStore opens the folder and adopts earlier runs.
func (s *session) openStore() error {
	store, old, err := openStore(s.options.Dir, s.options.Resume)
	if err != nil {
		return err
	}
	s.store = store
	if old != nil {
		err = s.resume(old)
	}
	if err == nil {
		err = store.keepResults(s.results)
	}
	if err != nil {
		store.close()
	}
	return err
}

// close also ends processes that the build has left running. Until now the
// service may have needed them.
func (s *session) close() {
	s.reporter.stop()
	s.detach()
	service.EndMarked(s.mark("build")) // the error is that a process of another user may not be killed
	s.store.close()
}

// run makes the missing runs.
func (s *session) run(ctx context.Context) error {
	if err := s.makeAll(ctx); err != nil {
		return err
	}
	s.results.Interrupted = ctx.Err() != nil && !s.complete()
	if s.results.Interrupted && len(s.results.Runs) == 0 {
		return context.Cause(ctx)
	}
	s.results.Ended = time.Now().Round(0)
	s.results.LabCPU = labCPU(s.results.Runs)
	if err := s.store.keepResults(s.results); err != nil {
		return err
	}
	os.RemoveAll(s.store.path(tmpDir))
	if !s.results.Interrupted {
		os.RemoveAll(s.store.path(buildDir))
	}
	return nil
}

// makeAll returns early when ctx is done.
func (s *session) makeAll(ctx context.Context) error {
	if s.complete() {
		return nil
	}
	if err := s.build(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := s.checkServices(ctx); err != nil {
		return err
	}
	s.noteChanges()
	s.lookAtMachine(ctx)
	if over, err := s.makeBlocks(ctx); over || err != nil {
		return err
	}
	return s.profile(ctx)
}

// makeBlocks makes the missing runs. It reports whether ctx is done, or Until said that a block was the last one.
func (s *session) makeBlocks(ctx context.Context) (over bool, err error) {
	var d *duet
	if s.options.Duet != nil {
		if d, err = s.startDuet(); err != nil {
			return false, err
		}
		defer d.end()
	}
	for block := range slices.Chunk(s.turns, len(s.cases)) {
		if d != nil {
			err = s.makeTogether(ctx, d, block)
		} else {
			err = s.makeInTurn(ctx, block)
		}
		if err != nil || ctx.Err() != nil {
			return true, err
		}
		if s.options.Until != nil && s.options.Until(s.block(block[0].Repeat)) {
			return true, nil
		}
	}
	return false, nil
}

// makeInTurn makes the missing runs of a block, until ctx is done.
func (s *session) makeInTurn(ctx context.Context, block []Turn) error {
	for _, t := range block {
		if s.has(t) {
			continue
		}
		if err := s.make(ctx, t); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

func (s *session) has(t Turn) bool {
	return slices.ContainsFunc(s.results.Runs, func(r results.Run) bool { return r.Number == t.Number })
}

// block returns the runs of a block.
func (s *session) block(repeat int) (runs []results.Run) {
	for _, r := range s.results.Runs {
		if r.Repeat == repeat {
			runs = append(runs, r)
		}
	}
	return runs
}

// make makes a run and keeps it, unless ctx is done before its end.
func (s *session) make(ctx context.Context, t Turn) error {
	c := s.cases[t.Case]
	s.reportLeft(func(p *Progress) {
		p.Step, p.Run, p.Of, p.Configuration, p.Repeat = Starting, t.Number, len(s.turns), c.Name, t.Repeat
	})
	began := time.Now()
	var r results.Run
	if s.failures[c.Name] >= maxFailures {
		r = s.notMade(t)
	} else {
		r = s.measure(ctx, c, t, nil)
		if ctx.Err() != nil {
			return nil
		}
		s.took = append(s.took, time.Since(began))
	}
	return s.keep(r)
}

// keep keeps a run that has ended.
func (s *session) keep(r results.Run) error {
	if err := s.store.keepRun(&r); err != nil {
		return err
	}
	s.add(r)
	s.reportLeft(func(p *Progress) { p.Step, p.Configuration, p.Last = Ended, r.Configuration, &r })
	return nil
}

// notMade returns the run of a configuration that has failed too often.
func (s *session) notMade(t Turn) results.Run {
	return results.Run{
		Number: t.Number, Configuration: s.cases[t.Case].Name, Repeat: t.Repeat, Started: time.Now().Round(0),
		Outcome: results.Failed,
		Error: fmt.Sprintf("not made: the %d runs of this configuration before have failed at their start",
			maxFailures),
	}
}

// left estimates the time of the remaining runs from the runs so far, or
// returns 0 if there are none.
func (s *session) left() time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range s.took {
		sum += d
	}
	runs := len(s.turns) - len(s.results.Runs)
	if len(s.experiment.Profiles) > 0 {
		runs += len(s.cases) - 1 - len(s.results.Profiled)
	}
	return sum / time.Duration(len(s.took)) * time.Duration(runs)
}

// reportLeft reports a change together with the time that is left.
func (s *session) reportLeft(change func(*Progress)) {
	left := s.left()
	s.reporter.change(func(p *Progress) {
		change(p)
		p.Left = left
	})
}

// profile makes a run with profiles of each configuration except the baseline's
// twin.
func (s *session) profile(ctx context.Context) error {
	if len(s.experiment.Profiles) == 0 {
		return nil
	}
	for i, c := range s.cases {
		if ctx.Err() != nil {
			return nil
		}
		if c.Again || slices.ContainsFunc(s.results.Profiled,
			func(r results.Run) bool { return r.Configuration == c.Name }) {
			continue
		}
		s.reporter.change(func(p *Progress) { p.Step, p.Configuration, p.Repeat = Profiling, c.Name, 0 })
		stem := profileStem(i+1, c.Name)
		r := s.measure(ctx, c, Turn{Number: i + 1}, &stem)
		if ctx.Err() != nil {
			return nil
		}
		if err := s.store.keepProfiled(&r, stem); err != nil {
			return err
		}
		s.results.Profiled = append(s.results.Profiled, r)
	}
	return nil
}

// checkServices checks before the first run that every program exists and that
// its limits can be set, or that the service already runs.
func (s *session) checkServices(ctx context.Context) error {
	for _, c := range s.cases {
		expanded, err := s.example(c)
		if err != nil {
			return fmt.Errorf("configuration %q: %w", c.Name, err)
		}
		if err := s.checkLog(expanded); err != nil {
			return fmt.Errorf("configuration %q cannot be loaded: %w", c.Name, err)
		}
		if c.Service.Running() {
			if c.Again {
				continue
			}
			if err := s.attach(ctx, expanded); err != nil {
				return fmt.Errorf("configuration %q cannot be measured: %w", c.Name, err)
			}
			continue
		}
		if _, err := s.program(expanded); err != nil {
			return fmt.Errorf("configuration %q cannot be started: %w", c.Name, err)
		}
		if err := service.Limits(c.Service.Limits).Check(); err != nil {
			return fmt.Errorf("configuration %q cannot be run: %w", c.Name, err)
		}
	}
	return nil
}

// checkLog checks that the log of the load, if it has one, can be read and has requests.
func (s *session) checkLog(c experiment.Case) error {
	if c.Load.FromLog == "" {
		return nil
	}
	plan, err := (&attempt{session: s, Case: c, url: "http://127.0.0.1/"}).plan()
	if plan.Log != nil {
		plan.Log.Close()
	}
	return err
}

// labCPU returns the share of one CPU that the lab used during the load of all
// runs.
func labCPU(runs []results.Run) float64 {
	var used, seconds float64
	for _, r := range runs {
		if r.Load != nil {
			used += r.LabCPU * r.Usage.Seconds
			seconds += r.Usage.Seconds
		}
	}
	if seconds == 0 {
		return 0
	}
	return used / seconds
}
