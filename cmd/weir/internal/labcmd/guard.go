package labcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/load/settings"
)

type guardCommand struct {
	Command []string `arg:"" help:"After --: the command that starts the service in the folder of each version."`

	Base   string        `group:"Guard:" required:"" placeholder:"COMMIT" help:"Compare the work tree with COMMIT, or with another folder."`
	Fail   []string      `group:"Guard:" sep:"none" default:"CPU per request > 5%" placeholder:"CONDITION" help:"A difference that is too large, such as 'p99 > 10%' (default '${default}'). May be repeated."`
	Within time.Duration `group:"Guard:" default:"5m" placeholder:"TIME" help:"Make runs for at most TIME (default ${default})."`
	Duet   bool          `group:"Guard:" help:"Run both versions at the same time, each on half of the processors."`
	Build  string        `group:"Guard:" placeholder:"COMMAND" help:"Build each version by COMMAND, for a shell in its folder."`

	Markdown string `group:"Results:" placeholder:"FILE" help:"Write the answer as Markdown, for a pull request."`
	JUnit    string `group:"Results:" name:"junit" placeholder:"FILE" help:"Write the answer in the format of JUnit, for a CI system."`
	History  string `group:"Results:" placeholder:"FILE" help:"Append a row of CSV to FILE."`
	Quiet    bool   `group:"Results:" short:"q" help:"Print only the answer and errors."`

	settingFlags
}

// Help implements kong.HelpProvider.
func (guardCommand) Help() string {
	return `Answers whether a change makes a service slower. Runs of the base and of the work tree take turns, in blocks of
one run each in random order, until the answer is clear:

  fine       exit code 0: the whole 95% interval of each difference is below its bound
  worse      exit code 1: the whole interval of one is above its bound, or the change does not serve
  undecided  exit code 4: the time is over; the answer says how many blocks more would probably decide

Exit code 3 means that there was nothing to compare: a version does not build, or the base does not serve. The metrics are
` + strings.Join(guard.Metrics(), ", ") + `. The bounds are relative to the base, but that of failed
requests, those without a response of 2xx, is in points of all requests. In GitHub Actions, the answer is an annotation,
too. docs/guard.md has workflow files.

Examples:
  weir lab guard --base origin/main --build 'go build -o service .' -- ./service --port '${port}'
  weir lab guard --base HEAD --fail 'p99 > 10%' --set load.rate=500 --within 10m -- node server.js
  weir lab guard --base HEAD~1 --fail 'memory > 20%' --fail 'failed requests > 0.1%' --markdown answer.md -- ./run.sh`
}

// The load of a guard without flags.
const (
	guardConnections = 16
	guardDuration    = 2 * time.Second
	guardWarmUp      = 500 * time.Millisecond
)

// Run runs the guard and reports its answer.
func (c *guardCommand) Run(s cli.Streams) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	files, err := cli.OpenReports(
		&cli.ReportFile[*guard.Result]{Flag: "--markdown", Name: c.Markdown, Write: report.GuardMarkdown},
		&cli.ReportFile[*guard.Result]{Flag: "--junit", Name: c.JUnit, Write: report.GuardJUnit},
	)
	if err != nil {
		return err
	}
	defer files.Discard()
	history, err := openHistory(c.History, o.Conditions)
	if err != nil {
		return err
	}
	defer history.close()
	screen := newScreen(s, c.Quiet)
	o.Progress, o.Looked = screen.showBlock, screen.looked
	signals, stop := cli.Interrupts()
	r, err := cli.Interruptible(screen, "stopping all started processes and removing the work tree", signals,
		func(ctx context.Context) (*guard.Result, error) { return guard.Run(ctx, o) })
	stop() // Ctrl-C ends the report
	if err != nil {
		return unguarded(err)
	}
	if r.Interrupted {
		if err := report.Guard(s.Out, r, style(s)); err != nil {
			return err
		}
		return cli.ErrInterrupted
	}
	if err := errors.Join(files.Write(s.Out, r), history.add(r)); err != nil {
		return err
	}
	return answer(s, r, files.Stdout())
}

// answer prints the answer, unless a report is on stdout, and returns its exit
// code.
func answer(s cli.Streams, r *guard.Result, reported bool) (err error) {
	if !reported {
		err = report.Guard(s.Out, r, style(s))
	}
	if err == nil && os.Getenv("GITHUB_ACTIONS") == "true" {
		err = report.GuardAnnotation(s.Err, r) // the runner reads both streams
	}
	switch {
	case err != nil:
		return err
	case r.Answer == guard.Worse:
		return cli.ErrReported
	case r.Answer == guard.Undecided:
		return &cli.Error{Err: cli.ErrReported, Code: cli.ExitUndecided}
	}
	return nil
}

// options returns the guard of the flags.
func (c *guardCommand) options() (guard.Options, error) {
	o := guard.Options{Base: c.Base, Build: c.Build, Within: c.Within, Version: version.String()}
	for _, text := range c.Fail {
		condition, err := guard.ParseCondition(text)
		if err != nil {
			return o, cli.Misuse(fmt.Errorf("--fail: %w", err), "--fail 'CPU per request > 5%'")
		}
		o.Conditions = append(o.Conditions, condition)
	}
	o.Experiment = &experiment.Experiment{WarmUp: guardWarmUp,
		Service: experiment.Service{Output: experiment.Sink{Kind: experiment.Pipe}}, // for the last output of one that dies
		Load:    settings.Settings{Connections: guardConnections, Duration: guardDuration}}
	if err := c.apply(o.Experiment, c.Command); err != nil {
		return o, err
	}
	var err error
	if o.Weir, err = os.Executable(); err != nil {
		return o, err
	}
	if c.Duet {
		o.Duet = []string{o.Weir, "lab", "half"}
	}
	if err := guard.CheckTime(o.Experiment, o.Within); err != nil {
		return o, cli.Misuse(fmt.Errorf("--within: %w", err), "--within 5m, or a shorter --duration")
	}
	return o, nil
}

// unguarded returns the error of a guard that had nothing to compare.
func unguarded(err error) error {
	if errors.Is(err, cli.ErrInterrupted) || errors.Is(err, context.Canceled) {
		return cli.ErrInterrupted
	}
	e := &cli.Error{Err: err, Code: cli.ExitUnmeasured}
	var run *guard.RunError
	switch {
	case errors.As(err, &run) && run.Run.LastOutput != "":
		e.Hint = "its last output: " + strings.TrimSpace(run.Run.LastOutput)
	case errors.As(err, new(*exec.Error)):
		e.Hint = programHint(err)
	case strings.Contains(err.Error(), "is neither a folder nor a commit"):
		e.Hint = "git fetch origin; a clone of CI often has only one commit (fetch-depth: 0 in actions/checkout)"
	}
	return e
}
