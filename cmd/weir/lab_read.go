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
	A    string `arg:"" help:"A folder of results."`
	B    string `arg:"" help:"Another one."`
	JSON bool   `name:"json" help:"Print the comparison as a JSON document."`
}

// Help implements kong.HelpProvider.
func (labCompareCmd) Help() string {
	return `Compares each configuration of B with the one of that name in A: two commits, two machines, two days. It says when machines, experiments or loads differ.

Example:
  weir lab compare lab-results/before lab-results/after`
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
	comparison := analysis.Compare(a, b)
	if !c.JSON {
		return report.Comparison(s.out, comparison, labStyle(s))
	}
	return printJSON(s.out, comparison)
}

// noResults is about a folder that could not be read.
func noResults(err error) error {
	return &problem{err: err, hint: "weir lab run log-cost --out DIR -- COMMAND makes results", code: exitMisuse}
}
