package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/internal/service"
	"github.com/weirhq/weir/lab/internal/watch"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/settings"
)

// points is the number of requests of a run that are kept.
const points = 4000

// measure makes a run. The caller discards it if ctx was done before its end.
func (s *session) measure(ctx context.Context, c experiment.Case, t Turn, stem *string) results.Run {
	r := results.Run{Number: t.Number, Configuration: c.Name, Repeat: t.Repeat, Started: time.Now().Round(0),
		Outcome: results.Done}
	r.Warnings, s.notes = s.notes, nil
	a := &attempt{session: s, Case: c, run: &r, stem: stem, dir: s.store.path(tmpDir, strconv.Itoa(t.Number))}
	if err := a.prepare(); err != nil {
		a.failed(results.Failed, err)
	} else {
		a.perform(ctx)
	}
	os.RemoveAll(a.dir)
	r.Seconds = time.Since(r.Started).Seconds()
	return r
}

// prepare makes the run's folder and expands the texts of the case.
func (a *attempt) prepare() error {
	if err := errors.Join(os.RemoveAll(a.dir), os.MkdirAll(a.dir, 0o777)); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	names := a.names()
	names["dir"], names["port"] = a.dir, strconv.Itoa(port)
	ownPort := usesPort(a.Service)
	if a.Case, err = a.Expand(names); err != nil {
		return err
	}
	switch {
	case a.Service.URL != "":
		a.url = a.Service.URL
	case strings.Contains(a.Load.URL, "://"):
		a.url = a.Load.URL
	case ownPort:
		a.url = "http://127.0.0.1:" + names["port"] + "/"
	default:
		return nil // awaitReady finds it
	}
	a.url = settings.WithScheme(a.url)
	if a.Service.Running() {
		return nil
	}
	return checkFree(a.url)
}

// usesPort reports whether a service is given the port of the run.
func usesPort(s experiment.Service) bool {
	isPort := func(text string) bool { return strings.Contains(text, "${port}") }
	return slices.ContainsFunc(s.Command, isPort) || slices.ContainsFunc(s.Args, isPort) ||
		slices.ContainsFunc(slices.Collect(maps.Values(s.Env)), isPort)
}

// perform starts the service, loads it and stops it. A service that already runs is only loaded.
func (a *attempt) perform(ctx context.Context) {
	if a.Service.Running() {
		a.service = a.attached[processesOf(a.Service)]
		select {
		case <-a.service.Ended(): // another process may have its URL now
			a.failed(results.Died, a.endedError("before the run began"))
		default:
			a.useService(ctx)
		}
		return
	}
	started, err := service.Start(a.spec())
	if err != nil {
		a.failed(results.Failed, err)
		return
	}
	a.service = started
	a.useService(ctx)
	a.stop(ctx, started)
}

func (a *attempt) spec() service.Spec {
	own := a.Service
	spec := service.Spec{
		Command: append(append([]string{}, own.Command...), own.Args...),
		Dir:     a.folder(own.Dir),
		Env:     os.Environ(),
		Stdout:  a.sink(own.Output, "stdout"),
		Mark:    a.mark(strconv.Itoa(a.run.Number)),
		Limits:  service.Limits(own.Limits),
	}
	if own.Stderr != (experiment.Sink{}) {
		spec.Stderr = a.sink(own.Stderr, "stderr")
	}
	for name, value := range own.Env {
		spec.Env = append(spec.Env, name+"="+value)
	}
	spec.Env = append(spec.Env, "WEIR_LAB_MEASURES="+a.measuresFile())
	return spec
}

func (a *attempt) sink(s experiment.Sink, name string) *service.Sink {
	switch s.Kind {
	case experiment.File:
		return service.File(filepath.Join(a.dir, name))
	case experiment.Pipe:
		return service.Pipe(s.PerSecond)
	case experiment.Terminal:
		return service.Terminal()
	}
	return service.Null()
}

// useService waits for the service, checks and watches it, and loads it.
func (a *attempt) useService(ctx context.Context) {
	began := time.Now()
	if err := a.awaitReady(ctx); err != nil {
		if errors.Is(err, errEnded) {
			a.failed(results.Died, a.endedError("before it was ready"))
		}
		a.failed(results.NeverReady, err)
		return
	}
	if !a.Service.Running() {
		a.run.ReadyAfter = time.Since(began).Seconds()
	}
	if err := a.checkAnswerer(ctx); err != nil {
		a.failed(results.Failed, err)
		return
	}
	if err := a.watch(); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			err = a.endedError("before it was loaded")
		}
		a.failed(results.Died, err)
		return
	}
	ctx, release := a.untilEnded(ctx)
	defer release()
	if a.warmUp(ctx) {
		if a.together != nil {
			a.together(ctx)
		}
		a.load(ctx)
	}
	a.settle(ctx)
	a.warnOfPorts()
	if err := a.checkAnswerer(ctx); err != nil {
		a.failed(results.Failed, err)
	}
	a.unwatch()
}

// untilEnded returns a context that ends with errEnded when the service does.
// The caller must call release.
func (a *attempt) untilEnded(ctx context.Context) (_ context.Context, release func()) {
	ctx, ends := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-a.service.Ended():
			ends(errEnded)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		ends(nil)
		<-over
	}
}

// plan returns the load with the URL of the service. Its log can be read once.
func (a *attempt) plan() (load.Plan, error) {
	if a.Load.RequestsFile != "" || a.Load.FromLog != "" {
		a.Load.To = cmp.Or(a.Load.To, below(a.url, "/"))
	} else {
		a.Load.URL = cmp.Or(below(a.url, a.Load.URL), a.url)
	}
	plan, err := a.Load.Plan()
	if wrong := new(settings.Error); errors.As(err, &wrong) {
		err = fmt.Errorf("load.%w", err)
	}
	plan.Process = -1
	plan.Points = points
	return plan, err
}

func (a *attempt) watch() (err error) {
	goURL := ""
	if a.Service.Go != "" {
		goURL = below(a.url, a.Service.Go)
	}
	a.watcher, err = watch.Start(a.processes(), watch.Options{
		Every: cmp.Or(a.experiment.Sample, defaultSample),
		Output: func() (bytes, behind int64) {
			c := a.service.Count()
			return c.Bytes, c.Unread
		},
		GoURL:        goURL,
		Instructions: slices.Contains(a.experiment.Leading(), results.InstructionsPerRequest),
	})
	return err
}

// unwatch adds the watcher's results to the run.
func (a *attempt) unwatch() {
	s := a.watcher.Stop()
	a.run.Usage, a.run.Missing, a.run.Go, a.run.Samples = s.Usage, s.Missing, s.Go, s.Samples
	for _, sample := range s.Samples {
		a.run.Output.MostBehind = max(a.run.Output.MostBehind, sample.Behind)
	}
	for _, warning := range s.Warnings {
		a.warn("%s", warning)
	}
}

// load sends the load and measures it.
func (a *attempt) load(ctx context.Context) {
	plan, err := a.plan()
	if err != nil {
		a.failed(results.Failed, err)
		return
	}
	a.reporter.step(Loading)
	plan.Progress, plan.ProgressEvery = a.options.LoadProgress, time.Second
	profiles := a.startProfiles(ctx, plan)
	a.watcher.Begin()
	a.hold(a.Service.Output)
	a.hold(a.Service.Stderr)
	a.before = a.service.Count()
	began, own := time.Now(), a.cpu()
	result, err := load.Run(ctx, plan)
	a.ended = time.Now()
	own = a.cpu() - own
	a.after = a.service.Count()
	a.watcher.End()
	if profiles != nil {
		a.saveProfiles(ctx, profiles)
	}
	if result != nil {
		a.run.Load = result
		if w := a.run.WarmUp; w != nil && a.even() {
			w.Faster = faster(result)
		}
		a.run.LabCPU = own.Seconds() / a.ended.Sub(began).Seconds()
	}
	a.answered(ctx, result, err, "while it was loaded")
}

// cpu returns the CPU time that the lab has used for the run so far: to sample,
// to poll, and to read the output of the service.
func (a *attempt) cpu() time.Duration { return a.watcher.CPU() + a.service.CPU() }

// hold stops the reader of a sink for the time that the sink says.
func (a *attempt) hold(s experiment.Sink) {
	if s.StopFor > 0 {
		from := time.Now().Add(s.StopAt)
		a.service.Hold(from, from.Add(s.StopFor))
	}
}

// answered reports whether the service has lived and answered, and sets the
// outcome if not.
func (a *attempt) answered(ctx context.Context, result *load.Result, err error, when string) bool {
	unreachable := new(load.UnreachableError)
	switch {
	case errors.Is(context.Cause(ctx), errEnded), a.closedBeforeEnd(result):
		a.failed(results.Died, a.endedError(when))
	case errors.As(err, &unreachable):
		a.failed(results.NoAnswer, fmt.Errorf("%s: %w", when, err))
	case err != nil:
		a.failed(results.Failed, err)
	case result.Sent == 0:
		a.failed(results.Failed,
			fmt.Errorf("the load has sent nothing in %.3g s: it has to last longer, unless the machine "+
				"was too busy", result.DurationSeconds))
	case result.Requests == 0:
		a.failed(results.NoAnswer, fmt.Errorf("none of %d requests was answered %s%s", result.Sent, when,
			firstError(result)))
	default:
		return true
	}
	return false
}

func firstError(r *load.Result) string {
	for _, example := range r.ErrorExamples {
		return ": " + example
	}
	return ""
}

// startProfiles returns nil if no profiles are taken.
func (a *attempt) startProfiles(ctx context.Context, plan load.Plan) *watch.Profiling {
	if a.stem == nil {
		return nil
	}
	if a.Service.Go == "" {
		a.warn("there are no profiles: the experiment does not say where they are to be had (service.go)")
		return nil
	}
	p, err := watch.StartProfiles(ctx, below(a.url, a.Service.Go), a.experiment.Profiles, plan.Duration)
	if err != nil {
		a.warn("there are no profiles: %v", err)
		return nil
	}
	return p
}

func (a *attempt) saveProfiles(ctx context.Context, p *watch.Profiling) {
	var err error
	if a.run.Profiles, err = p.Save(ctx, a.store.dir, *a.stem); err != nil {
		a.warn("profiles are missing: %v", err)
	}
}

// The output has ended when nothing came for this long.
const (
	readyQuiet = 20 * time.Millisecond
	loadQuiet  = 200 * time.Millisecond
)

// settle waits until the service has written its output, before it is told to
// end. A line that is lost now was lost while the service could write.
func (a *attempt) settle(ctx context.Context) {
	a.reporter.step(Stopping)
	a.awaitQuiet(ctx, loadQuiet, cmp.Or(a.Service.StopWithin, defaultStopWithin))
	a.quietEnd = a.service.Count().Last
}

// awaitQuiet returns when no output has come for the given time and none waits
// for its reader. It waits for at most limit.
func (a *attempt) awaitQuiet(ctx context.Context, quiet, limit time.Duration) {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		c := a.service.Count()
		if c.Unread == 0 && time.Since(c.Last) >= quiet {
			return
		}
		select {
		case <-ctx.Done(): // also when the service has ended
			return
		case <-deadline.C:
			return
		case <-time.After(quiet / 10):
		}
	}
}

// stop ends the service and completes the run.
func (a *attempt) stop(ctx context.Context, started *service.Service) {
	a.reporter.step(Stopping)
	e := started.Stop(ctx, cmp.Or(a.Service.StopWithin, defaultStopWithin))
	a.run.Exit = e.Exit
	a.judgeLeft(e)
	if len(e.Alive) > 0 {
		a.warn("could not be ended, and may disturb all that is measured from now on: %s", strings.Join(e.Alive, ", "))
	}
	if e.Full {
		a.warn("the disk of %s has no room left for the service's output: its output since then is lost, but the run "+
			"was measured", a.store.dir)
	}
	if e.OutOfMemory > 0 {
		a.warn("the kernel has killed %d of its processes, which needed more memory than the limit allows",
			e.OutOfMemory)
		if a.run.Outcome == results.Died {
			a.run.Error += ": it needed more memory than its limit allows"
		}
	}
	a.readMeasures()
	a.setOutput(e)
	if a.run.Outcome != results.Done || e.Failed {
		a.run.LastOutput = strings.ToValidUTF8(string(e.Tail), "\uFFFD")
	}
}

// judgeLeft notes processes that outlived the service or had to be killed.
func (a *attempt) judgeLeft(e service.Ending) {
	if a.run.Outcome == results.Died && len(e.Outlived) > 0 {
		a.run.Error += fmt.Sprintf(", and left %s running: the lab measures the process that it starts, so the "+
			"service must stay in the foreground", strings.Join(e.Outlived, ", "))
	}
	if len(e.Left) > 0 {
		a.failed(results.Leaked, fmt.Errorf("had to be killed: %s", strings.Join(e.Left, ", ")))
	}
}

func (a *attempt) setOutput(e service.Ending) {
	out := &a.run.Output
	out.Bytes, out.Lines = e.Written.Bytes, e.Lines
	if a.run.Load == nil {
		return
	}
	if seconds := a.ended.Sub(a.run.Load.Started).Seconds(); seconds > 0 {
		out.BytesPerSecond = float64(a.after.Bytes-a.before.Bytes) / seconds
	}
	if a.quietEnd.After(a.ended) {
		out.After = a.quietEnd.Sub(a.ended).Seconds()
	}
	if a.writes() {
		a.countLost(e.Lines)
	}
}

// countLost compares the lines that came with those that were expected.
func (a *attempt) countLost(lines int64) {
	out := &a.run.Output
	for _, own := range a.run.Own {
		if own.Name == results.LinesEmitted {
			out.Expected = int64(math.Round(own.Value))
			out.Lost = max(0, out.Expected-lines)
			return
		}
	}
	responses := a.warmed + a.run.Load.Requests
	out.Expected = int64(math.Round(a.Service.LinesPerRequest * float64(responses)))
	out.Lost = max(0, out.Expected-(lines-a.linesAt))
}

// writes reports whether the stdout of the service is read or stored.
func (a *attempt) writes() bool {
	return a.Service.Output.Kind != "" && a.Service.Output.Kind != experiment.Null
}
