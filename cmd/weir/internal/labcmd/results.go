package labcmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
)

type reportCommand struct {
	Dir  string `arg:"" help:"A folder of results."`
	JSON bool   `name:"json" help:"Print the analysis as the JSON document of analysis.json."`
}

// Help implements kong.HelpProvider.
func (reportCommand) Help() string {
	return `Reads the runs in DIR, also of an interrupted experiment, and writes the report there.

Example:
  weir lab report lab-results/log-cost-20261122-091500`
}

// Run writes the report again.
func (c *reportCommand) Run(s cli.Streams) error {
	r, err := readResults(c.Dir, "weir lab report ")
	if err != nil {
		return err
	}
	return reportResults(s, c.Dir, r, analysis.Of(r), c.JSON)
}

type compareCommand struct {
	A        string `arg:"" complete:"folders" help:"A folder of results."`
	B        string `arg:"" complete:"folders" help:"Another one."`
	JSON     bool   `name:"json" help:"Print the comparison as a JSON document."`
	HTML     string `name:"html" placeholder:"FILE" help:"Write a page with charts."`
	Markdown string `name:"markdown" placeholder:"FILE" help:"Write the comparison as Markdown, for a pull request."`
}

// Help implements kong.HelpProvider.
func (compareCommand) Help() string {
	return `Compares each configuration of B with the configuration of the same name in A, of two commits, machines
or days. It reports if machines, experiments or loads differ.

Examples:
  weir lab compare lab-results/before lab-results/after
  weir lab compare before after --html compared.html
  weir lab compare before after --markdown -`
}

// Run reads both folders and prints the comparison.
func (c *compareCommand) Run(s cli.Streams) error {
	a, err := readResults(c.A, "weir lab compare ")
	if err != nil {
		return err
	}
	b, err := readResults(c.B, "weir lab compare "+c.A+" ")
	if err != nil {
		return err
	}
	json := ""
	if c.JSON {
		json = "-"
	}
	files, err := cli.OpenReports(
		&cli.ReportFile[*analysis.Comparison]{Flag: "--json", Name: json, Write: cli.PrintJSON[*analysis.Comparison]},
		&cli.ReportFile[*analysis.Comparison]{Flag: "--html", Name: c.HTML, Write: report.ComparisonHTML},
		&cli.ReportFile[*analysis.Comparison]{Flag: "--markdown", Name: c.Markdown, Write: report.ComparisonMarkdown},
	)
	if err != nil {
		return err
	}
	defer files.Discard()
	comparison := analysis.Compare(a, b)
	if err := files.Write(s.Out, comparison); err != nil || files.Stdout() {
		return err
	}
	return report.Comparison(s.Out, comparison, style(s))
}

// readResults reads a folder. The hint of its error is verb and a better name.
func readResults(dir, verb string) (*results.Results, error) {
	r, err := lab.Read(dir)
	if err == nil {
		return r, nil
	}
	hint := "weir lab run log-cost --out DIR -- COMMAND makes results"
	below, _ := filepath.Glob(filepath.Join(dir, "*", "results.json"))
	switch info, statErr := os.Stat(dir); {
	case statErr == nil && !info.IsDir():
		err, hint = fmt.Errorf("%s is a file; results are in a folder", dir), verb+filepath.Dir(dir)
	case len(below) > 0:
		hint = verb + filepath.Dir(below[len(below)-1])
	}
	return nil, cli.Misuse(err, hint)
}
