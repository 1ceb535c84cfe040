package report

import (
	"slices"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
)

// A document has all parts of a report.
type document struct {
	*sheet
	results  *lab.Results
	analysis *analysis.Analysis
	Strips   []page.Strips
	Left     int // number of the runs' own measures beyond maxOwn, which have no strips
	Panels   []page.Panels
	Details  []detail
}

func newDocument(dir string, r *lab.Results, a *analysis.Analysis) *document {
	d := &document{sheet: newSheet(r, a), results: r, analysis: a}
	views, warnings := profileViews(dir, r)
	d.Warnings = append(d.Warnings, warnings...)
	d.Strips, d.Left = allStrips(r, a)
	d.Panels = allPanels(r)
	d.Details = details(r, a, views)
	return d
}

// light returns results without the large parts: points, and samples, which are
// in samples.csv.
func light(r *lab.Results) *lab.Results {
	c := *r
	c.Runs, c.Profiled = lightRuns(r.Runs), lightRuns(r.Profiled)
	return &c
}

func lightRuns(runs []lab.Run) []lab.Run {
	light := slices.Clone(runs)
	for i := range light {
		run := &light[i]
		run.Samples = nil
		if run.Load != nil {
			l := *run.Load
			l.Points = nil
			run.Load = &l
		}
	}
	return light
}
