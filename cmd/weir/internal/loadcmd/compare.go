package loadcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/compare"
)

type compareCommand struct {
	Files []string `arg:"" name:"file" help:"Results of weir load --json: A.json B.json, or several files of A, --, and several of B."`
	Fail  []string `sep:"none" placeholder:"CHECK" help:"Exit with 1 if CHECK is true of B, such as 'p99 > 5%'. May be repeated."`
	JSON  bool     `name:"json" help:"Print the comparison as a JSON document."`
}

// Help implements kong.HelpProvider.
func (compareCommand) Help() string {
	return `Shows each metric of A and B and the difference. With at least four runs per side, a Mann-Whitney U test
of the runs tells a difference from noise; ~ marks one that is not significant. Of twenty metrics that do
not differ, one appears to differ. With fewer runs there is no test, and differences are in parentheses.

CHECK is "worse", which is true if any metric is significantly worse, or a metric (rate, p50, p90, p99, p99.9, mean,
errors, cpu, memory), < or >, and a difference from A, such as 'rate < -5%'. With four or more runs per side, a
difference that is not significant does not make a check true.

Examples:
  weir load compare before.json after.json
  weir load compare --fail 'p99 > 10%' before.json after.json
  weir load compare --fail worse a1.json a2.json a3.json a4.json -- b?.json`
}

// versus separates the files of both sides. No file has this name.
const versus = ""

// MarkSides replaces the -- of weir load compare by versus: kong removes --.
func MarkSides(args []string) []string {
	if len(args) < 2 || args[0] != "load" || args[1] != "compare" {
		return args
	}
	args = slices.Clone(args)
	if i := slices.Index(args, "--"); i >= 0 {
		args[i] = versus
	}
	return args
}

// split returns the files of both sides.
func (c *compareCommand) split() (a, b []string, err error) {
	i := slices.Index(c.Files, versus)
	switch {
	case i < 0 && len(c.Files) == 2:
		return c.Files[:1], c.Files[1:], nil
	case i > 0 && i < len(c.Files)-1:
		return c.Files[:i], c.Files[i+1:], nil
	}
	text := fmt.Sprintf("%d files: unclear which are A and which are B", len(c.Files))
	if i >= 0 || len(c.Files) < 2 {
		text = "one side has no file"
	}
	return nil, nil, cli.Misuse(errors.New(text),
		"weir load compare A.json B.json, or weir load compare A1.json A2.json -- B1.json B2.json")
}

// Run reads the files and prints the comparison.
func (c *compareCommand) Run(s cli.Streams) error {
	namesA, namesB, err := c.split()
	if err != nil {
		return err
	}
	checks, err := parseChecks(c.Fail, compare.ParseCheck, "weir load compare --fail 'p99 > 10%' A.json B.json")
	if err != nil {
		return err
	}
	a, err := readResults(namesA, resultHint)
	if err != nil {
		return err
	}
	b, err := readResults(namesB, resultHint)
	if err != nil {
		return err
	}
	comparison, err := compare.Compare(a, b)
	if err != nil {
		return err
	}
	write := comparison.WriteText
	if c.JSON {
		write = func(w io.Writer) error { return cli.PrintJSON(w, comparison) }
	}
	if err := write(s.Out); err != nil {
		return err
	}
	return evaluate(s, checks, comparison)
}

const resultHint = "weir load --json=FILE URL writes one"

// readResults reads results. The hint of its errors has the command that writes one.
func readResults(names []string, hint string) ([]*load.Result, error) {
	var results []*load.Result
	for _, name := range names {
		r, err := readResult(name)
		if err != nil {
			return nil, cli.Misuse(err, hint)
		}
		results = append(results, r)
	}
	return results, nil
}

// readResult reads a document of weir load --json.
func readResult(name string) (*load.Result, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r load.Result
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("%s is not a result: %w", name, err)
	}
	if r.URL == "" || r.DurationSeconds == 0 {
		return nil, fmt.Errorf("%s is not a result: it has no url or duration_seconds", name)
	}
	return &r, nil
}
