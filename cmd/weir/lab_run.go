package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
)

type labRunCmd struct {
	Name    string   `arg:"" help:"A built-in experiment (weir lab list), or a file."`
	Command []string `arg:"" optional:"" help:"After --: the command that starts the service, instead of the experiment's."`

	Out      string        `group:"Results:" placeholder:"DIR" help:"Keep the results in DIR; a new folder below lab-results unless given."`
	Resume   bool          `group:"Results:" help:"Go on with the results that --out has."`
	Quick    bool          `group:"Experiment:" help:"Make it short, as the experiment says: for a first look."`
	Set      []string      `group:"Experiment:" sep:"none" placeholder:"KEY=VALUE" help:"Change a setting of the file, such as load.duration=5s. May be repeated."`
	URL      string        `group:"Experiment:" name:"url" placeholder:"URL" help:"Where the service is; the first port that it listens on unless given."`
	Repeats  int           `group:"Experiment:" placeholder:"N" help:"Make N runs of each configuration."`
	Duration time.Duration `group:"Experiment:" short:"d" placeholder:"TIME" help:"Load each run for TIME."`
	Seed     uint64        `group:"Experiment:" placeholder:"N" help:"Shuffle the runs by N."`
	Quiet    bool          `group:"Results:" short:"q" help:"Print nothing but what was found, and errors."`
}

// Help implements kong.HelpProvider.
func (labRunCmd) Help() string {
	return `Starts the service in each configuration again and again, in a shuffled order, loads and watches it, and says which differences are more than noise. DIR then has report.html, report.md, runs.csv, samples.csv, results.json, analysis.json and plots/.

The first Ctrl-C ends the run that is being made, stops all that was started, and reports the runs before; --resume goes on later. It exits with 1 when no run could be measured.

Examples:
  weir lab run three-events --quick
  weir lab run log-cost -- python3 -m http.server
  weir lab run log-cost --url http://127.0.0.1:8000/ -- ./my-service
  weir lab run mine.yaml --set load.connections=16 --repeats 20
  weir lab run mine.yaml --out lab-results/mine --resume`
}

// Run runs the experiment and reports it.
func (c *labRunCmd) Run(s streams) error {
	e, err := c.experiment()
	if err != nil {
		return err
	}
	if err := c.place(e); err != nil {
		return err
	}
	weir, err := os.Executable()
	if err != nil {
		return err
	}
	screen := newLabScreen(s, c.Quiet)
	ctx, stop := labInterrupt()
	defer stop()
	results, err := e.Run(ctx, lab.Options{
		Dir: c.Out, Resume: c.Resume, Version: version(), Weir: weir, Repo: repository(), Progress: screen.show,
	})
	screen.close()
	if err != nil {
		return labProblem(err, c.Out)
	}
	return reportResults(s, c.Out, results)
}

// labInterrupt returns a context that the first SIGINT or SIGTERM ends. A second
// one ends weir at once, and the kernel then ends what it has started.
func labInterrupt() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// experiment reads the experiment and changes it as the flags say.
func (c *labRunCmd) experiment() (*lab.Experiment, error) {
	e, err := readExperiment(c.Name)
	if err != nil {
		return nil, err
	}
	if c.Quick {
		if err := e.Shorten(); err != nil {
			return nil, err
		}
	}
	settings, err := c.settings()
	if err != nil {
		return nil, err
	}
	for _, set := range settings {
		if err := e.Set(set.key, set.value); err != nil {
			return nil, &problem{err: fmt.Errorf("%s: %w", set.flag, err), hint: "weir lab run --help", code: exitMisuse}
		}
	}
	if len(e.Service.Command) == 0 {
		return nil, &problem{
			err:  fmt.Errorf("%s has no command that starts the service", c.Name),
			hint: "weir lab run " + c.Name + " -- python3 -m http.server", code: exitMisuse,
		}
	}
	if _, err := e.Configurations(); err != nil {
		return nil, &problem{err: err, hint: "weir lab run --help", code: exitMisuse}
	}
	return e, nil
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
	for _, f := range []struct {
		flag, key, value string
		given            bool
	}{
		{"--repeats", "repeats", strconv.Itoa(c.Repeats), c.Repeats != 0},
		{"--duration", "load.duration", c.Duration.String(), c.Duration != 0},
		{"--seed", "seed", strconv.FormatUint(c.Seed, 10), c.Seed != 0},
	} {
		if f.given {
			list = append(list, labSetting{f.flag, f.key, f.value})
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

// Results without --out are below this folder, in one that is named by the time.
const (
	labResults = "lab-results"
	labTime    = "20060102-150405"
)

// place names the folder of the results.
func (c *labRunCmd) place(e *lab.Experiment) error {
	if c.Out == "" && c.Resume {
		return &problem{err: errors.New("--resume goes on with the results of --out, which is not given"), hint: "weir lab run " + c.Name + " --out DIR --resume", code: exitMisuse}
	}
	if c.Out == "" {
		c.Out = filepath.Join(labResults, e.Name+"-"+time.Now().Format(labTime))
	}
	return nil
}

// reportResults writes the report into the folder, and prints the short of it.
func reportResults(s streams, dir string, r *lab.Results) error {
	a := analysis.Of(r)
	if err := report.Write(dir, r, a); err != nil {
		return err
	}
	if err := report.Text(s.out, r, a, dir, labStyle(s)); err != nil {
		return err
	}
	for _, runs := range a.Runs {
		if runs.Counted > 0 {
			return nil
		}
	}
	complain(s.err, &problem{err: errors.New("no run could be measured"), hint: "read the runs' last output in " + filepath.Join(dir, "report.html")})
	return errFound
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
