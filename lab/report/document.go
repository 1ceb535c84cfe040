package report

import (
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// A document has all parts of a report.
type document struct {
	*sheet
	results  *results.Results
	analysis *analysis.Analysis
	Charts   []page.Figure // by configuration
	Left     int           // number of the runs' own measures beyond maxOwn, which have no chart
	OverTime []page.Figure
	Details  []detail
}

func newDocument(dir string, r *results.Results, a *analysis.Analysis) *document {
	d := &document{sheet: newSheet(r, a), results: r, analysis: a}
	views, warnings := profileViews(dir, r)
	d.Warnings = append(d.Warnings, warnings...)
	d.Charts, d.Left = allStrips(r, a)
	d.OverTime = allPanels(r)
	d.Details = details(r, a, views)
	return d
}
