package labcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/labpage"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
)

type runCommand struct {
	Name    experimentName `arg:"" complete:"files" help:"A built-in experiment (weir lab list), or a file."`
	Command []string       `arg:"" optional:"" help:"After --: the command that starts the service, instead of the experiment's."`

	Out    string `group:"Results:" placeholder:"DIR" help:"Keep the results in DIR (default a new folder below lab-results)."`
	Resume bool   `group:"Results:" help:"Continue with the results in --out. Repeat the other flags as they were."`
	JSON   bool   `group:"Results:" name:"json" help:"Print the analysis as the JSON document of analysis.json."`
	Quiet  bool   `group:"Results:" short:"q" help:"Print only the findings and errors."`

	Web cli.WebAddress `group:"Results:" placeholder:"ADDR" help:"Show the experiment on a page while it lasts, at a free port of 127.0.0.1, or at ADDR with --web=ADDR."`

	PID     string `group:"Experiment:" name:"pid" placeholder:"PID" help:"Measure this process and its children, which already run, instead of starting the service."`
	Cgroup  string `group:"Experiment:" placeholder:"PATH" help:"Measure the processes of a control group (v2), which already run."`
	Against string `group:"Experiment:" placeholder:"CMD" help:"Compare the command after -- with CMD, which becomes the baseline."`

	Log     string `group:"Experiment:" placeholder:"FILE" help:"Send the requests of a log at their recorded times: weir, nginx, Apache or Caddy."`
	Speed   string `group:"Experiment:" placeholder:"N" help:"Send the log so many times as fast (default 1)."`
	Quick   bool   `group:"Experiment:" help:"Use the short settings of the experiment, for a first look."`
	Repeats string `group:"Experiment:" placeholder:"N" help:"Make N runs of each configuration."`
	settingFlags
}

// Help implements kong.HelpProvider.
func (runCommand) Help() string {
	return `Starts the service in each configuration repeatedly, in shuffled order, sends requests, measures it, and
reports the differences that are larger than noise. Before the first run it says which differences the runs
can find, and it refuses a number of runs that cannot tell any from chance. DIR then has report.html,
report.md, runs.csv, samples.csv, results.json, analysis.json and plots/.

The first Ctrl-C ends the current run, stops all started processes, and reports the earlier runs; --resume continues
later. The second one ends weir immediately. Both exit with 130. Exit code 1 means that no run could be measured.

Examples:
  weir lab run three-events --quick
  weir lab run log-cost -- python3 -m http.server
  weir lab run log-cost --url http://127.0.0.1:8000/ -- ./my-service
  weir lab run log-cost --set 'matrix.service.output=[null, pipe]' -- ./app
  weir lab run mine.yaml --set load.connections=16 --repeats 20
  weir lab run mine.yaml --out lab-results/mine --resume
  weir lab run mine.yaml --web
  weir lab run replay --log access.log -- ./my-service --port '${port}'
  weir lab run replay --log access.log --against ./old -- ./new
  weir lab run replay --log access.log --url http://127.0.0.1:8080 --pid 4711`
}

// Run runs the experiment and writes the report.
func (c *runCommand) Run(s cli.Streams) error {
	e, cases, plan, err := c.experiment()
	if err != nil {
		return err
	}
	if c.Out == "" && c.Resume {
		return cli.Misuse(errors.New("--resume needs the results in --out"),
			c.resumeCommand("DIR"))
	}
	weir, err := os.Executable()
	if err != nil {
		return err
	}
	folder, err := makeFolder(c.Out, e.Name)
	if err != nil {
		return err
	}
	page, err := serveWeb(s, c.Web, labpage.New(e.Name, folder.name, e.Lead, func(string) bool { return true }), folder.name)
	if err != nil {
		return folder.fail(err)
	}
	defer page.close()
	page.begin(e.Title, e.Question, configurations(cases))
	if c.Resume {
		page.addOld()
	}
	screen := newScreen(s, c.Quiet)
	if c.Resume && folder.created {
		screen.show(lab.Progress{Line: "weir: " + folder.name + " has no results to resume: starting with the first run"})
	}
	signals, stop := cli.Interrupts()
	r, err := cli.Interruptible(screen, interruptNotice, signals,
		func(ctx context.Context) (*results.Results, error) {
			screen.begin(cases, folder.name, plan.sentence(earlierSpread(e)))
			return lab.Run(ctx, e, lab.Options{
				Dir: folder.name, Resume: c.Resume, Version: version.String(), Weir: weir, Repo: repository(),
				LoadProgress: page.load(),
				Progress: func(p lab.Progress) {
					screen.show(p)
					page.show(p)
				},
			})
		})
	stop() // Ctrl-C ends the report
	if err != nil {
		page.fail(err)
		return folder.fail(err)
	}
	a := analysis.Of(r)
	page.end(r, a)
	if r.Interrupted && !c.Quiet {
		defer cli.Say(s.Err, "the same command with --out "+folder.name+" --resume makes the remaining runs")
	}
	return reportRun(s, folder.name, r, a, c.JSON)
}

// configurations returns the configurations of the cases.
func configurations(cases []experiment.Case) (all []results.Configuration) {
	for _, c := range cases {
		all = append(all, c.Configuration)
	}
	return all
}

// reportRun reports new results. It returns ErrInterrupted if runs are missing.
func reportRun(s cli.Streams, dir string, r *results.Results, a *analysis.Analysis, asJSON bool) error {
	err := reportResults(s, dir, r, a, asJSON)
	if err == nil && r.Interrupted {
		return cli.ErrInterrupted
	}
	return err
}

// resumeCommand returns the command that resumes an experiment.
func (c *runCommand) resumeCommand(dir string) string {
	text := "weir lab run " + string(c.Name) + " --out " + dir + " --resume"
	if len(c.Command) > 0 {
		text += " -- " + strings.Join(c.Command, " ")
	}
	return text
}

// experiment reads the experiment, applies the flags and returns it with its
// configurations.
func (c *runCommand) experiment() (*experiment.Experiment, []experiment.Case, plan, error) {
	e, err := readExperiment(string(c.Name))
	if err != nil {
		return nil, nil, plan{}, err
	}
	if err := c.change(e); err != nil {
		return nil, nil, plan{}, err
	}
	cases, err := e.Configurations()
	if err != nil {
		return nil, nil, plan{}, cli.Misuse(err, "weir lab run --help")
	}
	if slices.ContainsFunc(cases, func(c experiment.Case) bool { return !c.Service.Named() }) {
		err := fmt.Errorf("%s has no command that starts the service", c.Name)
		return nil, nil, plan{}, cli.Misuse(err, "weir lab run "+string(c.Name)+" -- python3 -m http.server")
	}
	p, err := planOf(e, cases)
	if err != nil {
		return nil, nil, plan{}, err
	}
	if err := p.check(); err != nil {
		return nil, nil, plan{}, cli.Misuse(err, fmt.Sprintf("weir lab run %s --repeats %d", c.Name, p.NeededRuns()))
	}
	return e, cases, p, nil
}

// change applies the flags to the experiment.
func (c *runCommand) change(e *experiment.Experiment) error {
	if c.Against != "" && len(c.Command) == 0 {
		return cli.Misuse(errors.New("--against compares two commands, and the one after -- is missing"),
			"weir lab run "+string(c.Name)+" --against 'OLD COMMAND' -- NEW COMMAND")
	}
	if c.Quick {
		if err := e.Shorten(); err != nil {
			return err
		}
	}
	return c.apply(e, c.Command, c.against(), setting{"--repeats", "repeats", c.Repeats}, setting{"--pid", "service.pid", c.PID},
		setting{"--cgroup", "service.cgroup", quoted(c.Cgroup)}, setting{"--log", "load.from_log", quoted(c.Log)},
		setting{"--speed", "load.speed", c.Speed})
}

// against returns the matrix that compares the command with that of --against, the baseline.
func (c *runCommand) against() setting {
	if c.Against == "" {
		return setting{}
	}
	return setting{"--against", "matrix.service.command", fmt.Sprintf("{base: %s, change: %s}", quoted(c.Against), words(c.Command))}
}

// reportResults writes the report into the folder and prints its summary, or the
// analysis as JSON.
func reportResults(s cli.Streams, dir string, r *results.Results, a *analysis.Analysis, asJSON bool) error {
	err := report.Write(dir, r, a)
	switch {
	case err != nil:
	case asJSON:
		err = cli.PrintJSON(s.Out, a)
	default:
		err = report.Text(s.Out, r, a, dir, style(s))
	}
	if err != nil {
		return err
	}
	missing := unmeasured(r, a)
	if missing == nil {
		return nil
	}
	cli.PrintError(s.Err, cli.WithHint(missing, unmeasuredHint(dir, r.Runs)))
	return cli.ErrReported
}

// unmeasured returns an error if no run, or no run of the baseline, was measured.
func unmeasured(r *results.Results, a *analysis.Analysis) error {
	has := func(name string) bool {
		return slices.ContainsFunc(a.Runs, func(runs analysis.Runs) bool {
			return runs.Counted > 0 && (name == "" || runs.Configuration == name)
		})
	}
	switch {
	case !has(""):
		return errors.New("no run could be measured")
	case !has(a.Baseline) && !r.Interrupted:
		return fmt.Errorf("no run of the baseline, %s, could be measured: nothing to compare the others with",
			readable.Visible(a.Baseline))
	}
	return nil
}

// unmeasuredHint returns where to look if no run could be measured.
func unmeasuredHint(dir string, runs []results.Run) string {
	page := filepath.Join(dir, "report.html")
	switch {
	case slices.ContainsFunc(runs, func(r results.Run) bool { return r.LastOutput != "" }):
		return "read the runs' last output in " + page
	case slices.ContainsFunc(runs, func(r results.Run) bool { return r.Outcome != results.Failed && r.Exit != "" }):
		return "the service wrote nothing, or to /dev/null; --set service.stderr=pipe shows its errors"
	}
	return "read why in " + page
}

// style returns the style of text on stdout.
func style(s cli.Streams) report.Style {
	width, _ := cli.TerminalSize(s.Out)
	return report.Style{Width: width, Color: cli.IsScreen(s.Out) && os.Getenv("NO_COLOR") == ""}
}

// repository returns the root of Weir's sources around the working directory, or
// "".
func repository() string {
	dir, err := os.Getwd()
	for err == nil {
		text, _ := os.ReadFile(filepath.Join(dir, "go.mod")) // most folders have no go.mod
		if strings.HasPrefix(string(text), "module github.com/weirhq/weir\n") {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// ExplainUsage explains a command given to weir lab run or guard without the -- before
// it: its flags are then taken for flags of weir. It returns nil for other mistakes.
func ExplainUsage(u cli.UsageError) error {
	switch {
	case u.Command == "weir lab guard" && u.UnknownFlag != "" && slices.Contains(u.Arguments, "command"):
		return cli.Misuse(errors.New("unknown flag "+u.UnknownFlag),
			"weir lab guard --base origin/main -- COMMAND: the flags after -- belong to the command")
	case u.Command != "weir lab run" || !slices.Contains(u.Arguments, "command"):
	case u.UnknownFlag != "":
		return cli.Misuse(errors.New("unknown flag "+u.UnknownFlag),
			"weir lab run NAME -- COMMAND: the flags after -- belong to the command")
	case u.UnexpectedArgument:
		return cli.Misuse(u, "weir lab run NAME -- COMMAND: there is one word too many before --; "+
			"quote a value with a space, as in --set 'matrix.service.output=[null, pipe]'")
	}
	return nil
}
