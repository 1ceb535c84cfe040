package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
)

type labRunCmd struct {
	Name    string   `arg:"" help:"A built-in experiment (weir lab list), or a file."`
	Command []string `arg:"" optional:"" help:"After --: the command that starts the service, instead of the experiment's."`

	Out      string   `group:"Results:" placeholder:"DIR" help:"Keep the results in DIR; a new folder below lab-results unless given."`
	Resume   bool     `group:"Results:" help:"Go on with the results that --out has; the other flags are as they were."`
	JSON     bool     `group:"Results:" name:"json" help:"Print what was found as a JSON document, that of analysis.json."`
	Quiet    bool     `group:"Results:" short:"q" help:"Print nothing but what was found, and errors."`
	Quick    bool     `group:"Experiment:" help:"Make it short, as the experiment says: for a first look."`
	Set      []string `group:"Experiment:" sep:"none" placeholder:"KEY=VALUE" help:"Change a setting of the file, such as load.duration=5s. May be repeated."`
	URL      string   `group:"Experiment:" name:"url" placeholder:"URL" help:"Where the service is; the first port that it listens on unless given."`
	Repeats  string   `group:"Experiment:" placeholder:"N" help:"Make N runs of each configuration."`
	Duration string   `group:"Experiment:" short:"d" placeholder:"TIME" help:"Load each run for TIME."`
	Seed     string   `group:"Experiment:" placeholder:"N" help:"Shuffle the runs by N."`
}

// Help implements kong.HelpProvider.
func (labRunCmd) Help() string {
	return `Starts the service in each configuration again and again, in a shuffled order, loads and watches it, and says which differences are more than noise. DIR then has report.html, report.md, runs.csv, samples.csv, results.json, analysis.json and plots/.

The first Ctrl-C ends the run that is being made, stops all that was started, and reports the runs before; --resume goes on later. The second one leaves at once. Both exit with 130, and 1 means that no run could be measured.

Examples:
  weir lab run three-events --quick
  weir lab run log-cost -- python3 -m http.server
  weir lab run log-cost --url http://127.0.0.1:8000/ -- ./my-service
  weir lab run log-cost --set 'matrix.service.output=[null, pipe]' -- ./app
  weir lab run mine.yaml --set load.connections=16 --repeats 20
  weir lab run mine.yaml --out lab-results/mine --resume`
}

// Run runs the experiment and reports it.
func (c *labRunCmd) Run(s streams) error {
	e, cases, err := c.experiment()
	if err != nil {
		return err
	}
	if c.Out == "" && c.Resume {
		return &problem{err: errors.New("--resume goes on with the results of --out, which is not given"), hint: c.again("DIR"), code: exitMisuse}
	}
	weir, err := os.Executable()
	if err != nil {
		return err
	}
	folder, err := makeLabFolder(c.Out, e.Name)
	if err != nil {
		return err
	}
	screen := newLabScreen(s, c.Quiet)
	if c.Resume && folder.made {
		screen.show(lab.Progress{Line: "weir: there is nothing in " + folder.name + " to go on with: all runs are made"})
	}
	signals, stop := interrupts()
	results, err := interruptible(screen, labEnds, signals, func(ctx context.Context) (*lab.Results, error) {
		screen.begin(cases, folder.name)
		return e.Run(ctx, lab.Options{
			Dir: folder.name, Resume: c.Resume, Version: version(), Weir: weir, Repo: repository(), Progress: screen.show,
		})
	})
	stop() // the report may be left
	if err != nil {
		return folder.problem(err)
	}
	if results.Interrupted && !c.Quiet {
		defer fmt.Fprintf(s.err, "weir: the same command with --out %s --resume makes the other runs\n", folder.name)
	}
	return reportRun(s, folder.name, results, c.JSON)
}

// reportRun reports results that were just measured. The error is errLeft when not all of their runs were made.
func reportRun(s streams, dir string, r *lab.Results, asJSON bool) error {
	err := reportResults(s, dir, r, asJSON)
	if err == nil && r.Interrupted {
		return errLeft
	}
	return err
}

// again is the command that goes on with the results of a folder.
func (c *labRunCmd) again(dir string) string {
	text := "weir lab run " + c.Name + " --out " + dir + " --resume"
	if len(c.Command) > 0 {
		text += " -- " + strings.Join(c.Command, " ")
	}
	return text
}

// experiment reads the experiment and changes it as the flags say. It returns
// its configurations, too.
func (c *labRunCmd) experiment() (*lab.Experiment, []lab.Case, error) {
	e, err := readExperiment(c.Name)
	if err != nil {
		return nil, nil, err
	}
	if err := c.change(e); err != nil {
		return nil, nil, err
	}
	cases, err := e.Configurations()
	if err != nil {
		return nil, nil, &problem{err: err, hint: "weir lab run --help", code: exitMisuse}
	}
	if slices.ContainsFunc(cases, func(c lab.Case) bool { return len(c.Service.Command) == 0 }) {
		return nil, nil, &problem{
			err:  fmt.Errorf("%s has no command that starts the service", c.Name),
			hint: "weir lab run " + c.Name + " -- python3 -m http.server", code: exitMisuse,
		}
	}
	return e, cases, nil
}

// change makes the experiment what the flags say.
func (c *labRunCmd) change(e *lab.Experiment) error {
	if c.Quick {
		if err := e.Shorten(); err != nil {
			return err
		}
	}
	settings, err := c.settings()
	if err != nil {
		return err
	}
	for _, set := range settings {
		if err := e.Set(set.key, set.value); err != nil {
			return &problem{err: fmt.Errorf("%s: %w", set.flag, err), hint: "weir lab run --help", code: exitMisuse}
		}
	}
	return nil
}

// A labSetting is a setting that a flag changes.
type labSetting struct{ flag, key, value string }

// settings returns what the flags set, in the order in which it is to be set.
func (c *labRunCmd) settings() ([]labSetting, error) {
	var list []labSetting
	if len(c.Command) > 0 {
		words, err := json.Marshal(c.Command)
		if err != nil {
			return nil, err
		}
		list = append(list, labSetting{"--", "service.command", string(words)})
	}
	if c.URL != "" {
		list = append(list, labSetting{"--url", "service.url", strconv.Quote(c.URL)})
	}
	for _, set := range []labSetting{
		{"--repeats", "repeats", c.Repeats}, {"--duration", "load.duration", c.Duration}, {"--seed", "seed", c.Seed},
	} {
		if set.value != "" {
			list = append(list, set)
		}
	}
	for _, set := range c.Set {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return nil, &problem{err: fmt.Errorf("--set: there is no = in %q", set), hint: "--set load.duration=5s", code: exitMisuse}
		}
		list = append(list, labSetting{"--set", key, value})
	}
	return list, nil
}

// reportResults writes the report into the folder, and prints the short of it, or
// the document of what was found.
func reportResults(s streams, dir string, r *lab.Results, asJSON bool) error {
	a := analysis.Of(r)
	err := report.Write(dir, r, a)
	switch {
	case err != nil:
	case asJSON:
		err = printJSON(s.out, a)
	default:
		err = report.Text(s.out, r, a, dir, labStyle(s))
	}
	if err != nil {
		return err
	}
	missing := unmeasured(r, a)
	if missing == nil {
		return nil
	}
	complain(s.err, &problem{err: missing, hint: whyNot(dir, r.Runs)})
	return errFound
}

// unmeasured is an error when there was nothing to compare, or to compare with.
func unmeasured(r *lab.Results, a *analysis.Analysis) error {
	has := func(name string) bool {
		return slices.ContainsFunc(a.Runs, func(runs analysis.Runs) bool { return runs.Counted > 0 && (name == "" || runs.Configuration == name) })
	}
	switch {
	case !has(""):
		return errors.New("no run could be measured")
	case !has(a.Baseline) && !r.Interrupted:
		return fmt.Errorf("no run of the baseline, %s, could be measured: the others are compared with nothing", readable.Visible(a.Baseline))
	}
	return nil
}

// whyNot says where to look when no run could be measured.
func whyNot(dir string, runs []lab.Run) string {
	page := filepath.Join(dir, "report.html")
	switch {
	case slices.ContainsFunc(runs, func(r lab.Run) bool { return r.LastOutput != "" }):
		return "read the runs' last output in " + page
	case slices.ContainsFunc(runs, func(r lab.Run) bool { return r.Outcome != lab.Failed }):
		return "the service said nothing, or to /dev/null; --set service.stderr=pipe would show what"
	}
	return "read why in " + page
}

// labStyle is how text on stdout looks.
func labStyle(s streams) report.Style {
	width, _ := terminalSize(s.out)
	return report.Style{Width: width, Color: isTerminal(s.out) && os.Getenv("NO_COLOR") == ""}
}

// repository is the folder of Weir's sources that the working directory is in,
// or "" where it is in none.
func repository() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		text, _ := os.ReadFile(filepath.Join(dir, "go.mod")) // most folders have none
		if strings.HasPrefix(string(text), "module github.com/weirhq/weir\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// explainBare is for those who give weir lab run a command without the -- before
// it, so that the command's flags are taken for weir's.
func explainBare(p *problem) *problem {
	var parse *kong.ParseError
	if !errors.As(p.err, &parse) || parse.Context.Selected() == nil || parse.Context.Selected().FullPath() != "weir lab run" {
		return p
	}
	isCommand := func(at *kong.Path) bool { return at.Positional != nil && at.Positional.Name == "command" }
	if !slices.ContainsFunc(parse.Context.Path, isCommand) {
		return p
	}
	text := p.err.Error()
	if flag, unknown := strings.CutPrefix(text, "unknown flag "); unknown {
		flag, _, _ := strings.Cut(flag, ",") // of its guesses, which are of weir's flags
		p.err = errors.New("unknown flag " + flag)
		p.hint = "weir lab run NAME -- COMMAND: what stands behind -- is the command's"
	} else if strings.HasPrefix(text, "unexpected argument ") {
		p.hint = "weir lab run NAME -- COMMAND: before the -- is one word too many; a value with a space wants quotes, as in --set 'matrix.service.output=[null, pipe]'"
	}
	return p
}
