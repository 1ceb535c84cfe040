package report

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/analysis"
)

var (
	//go:embed found.html
	foundHTML string
	//go:embed page.html
	pageHTML string
	//go:embed compare.html
	compareHTML string
)

var (
	functions         = template.FuncMap{"lines": visibleLines, "mark": markOf}
	documentTemplate  = page.Template(functions, foundHTML, pageHTML)
	comparingTemplate = page.Template(functions, foundHTML, compareHTML)
)

func (d *document) html(w io.Writer) error { return page.Write(w, documentTemplate, d) }

// ComparisonHTML writes the comparison as a page that needs no other file. Every
// run of the leading metrics is a dot. It writes once.
func ComparisonHTML(w io.Writer, c *analysis.Comparison) error {
	return page.Write(w, comparingTemplate, struct {
		page.Sheet
		Findings []analysis.Finding
		Metrics  []comparedMetric
		HowSure  []string
	}{
		newPage(comparisonTitle(c), []page.Fact{{Name: "A", Text: sideText(c.A)}, {Name: "B", Text: sideText(c.B)}},
			comparisonWarnings(c)),
		c.Findings, comparedMetrics(c), family(c.Family),
	})
}
