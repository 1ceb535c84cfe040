package main

import (
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
)

type labReportCmd struct {
	Dir  string `arg:"" help:"A folder of results."`
	JSON bool   `name:"json" help:"Print what was found as a JSON document, that of analysis.json."`
}

// Help implements kong.HelpProvider.
func (labReportCmd) Help() string {
	return `Reads the runs that DIR has, of an interrupted experiment too, and writes the report there.

Example:
  weir lab report lab-results/log-cost-20261122-091500`
}

// Run writes the report again.
func (c *labReportCmd) Run(s streams) error {
	r, err := lab.Read(c.Dir)
	if err != nil {
		return noResults(err)
	}
	return reportResults(s, c.Dir, r, c.JSON)
}

type labCompareCmd struct {
	A        string `arg:"" help:"A folder of results."`
	B        string `arg:"" help:"Another one."`
	JSON     bool   `name:"json" help:"Print the comparison as a JSON document."`
	HTML     string `name:"html" placeholder:"FILE" help:"Write a page with charts."`
	Markdown string `name:"markdown" placeholder:"FILE" help:"Write the comparison as Markdown, for a pull request."`
}

// Help implements kong.HelpProvider.
func (labCompareCmd) Help() string {
	return `Compares each configuration of B with the one of that name in A: two commits, two machines, two days. It says when machines, experiments or loads differ.

Example:
  weir lab compare lab-results/before lab-results/after
  weir lab compare before after --html compared.html
  weir lab compare before after --markdown -`
}

// Run reads both folders and prints the comparison.
func (c *labCompareCmd) Run(s streams) error {
	a, err := lab.Read(c.A)
	if err != nil {
		return noResults(err)
	}
	b, err := lab.Read(c.B)
	if err != nil {
		return noResults(err)
	}
	json := ""
	if c.JSON {
		json = "-"
	}
	files, err := openReports(
		&reportFile[*analysis.Comparison]{flag: "--json", name: json, write: printJSON[*analysis.Comparison]},
		&reportFile[*analysis.Comparison]{flag: "--html", name: c.HTML, write: report.ComparisonHTML},
		&reportFile[*analysis.Comparison]{flag: "--markdown", name: c.Markdown, write: report.ComparisonMarkdown},
	)
	if err != nil {
		return err
	}
	defer files.discard()
	comparison := analysis.Compare(a, b)
	if err := files.write(s.out, comparison); err != nil || files.stdout() {
		return err
	}
	return report.Comparison(s.out, comparison, labStyle(s))
}

// noResults is about a folder that could not be read.
func noResults(err error) error {
	return &problem{err: err, hint: "weir lab run log-cost --out DIR -- COMMAND makes results", code: exitMisuse}
}
