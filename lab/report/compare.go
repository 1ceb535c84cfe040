package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
)

// Comparison writes a comparison of two results as text for a terminal. It
// writes once.
func Comparison(w io.Writer, c *analysis.Comparison, style Style) error {
	p := newPaper(style)
	p.heading("A: " + sideText(c.A) + "; B: " + sideText(c.B))
	p.findings(c.Findings)
	for _, t := range comparedMetrics(c) {
		p.Println(p.Paint(page.Bold, p.Clean(t.Title)))
		p.table(t.Table)
	}
	p.warnings(comparisonWarnings(c))
	_, err := w.Write(p.Bytes())
	return err
}

// ComparisonMarkdown writes the comparison as Markdown.
func ComparisonMarkdown(w io.Writer, c *analysis.Comparison) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s against %s\n\n", plainText(sideText(c.B)), plainText(sideText(c.A)))
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "- %s%s\n", markText(f.Verdict), plainText(f.Text))
	}
	for _, t := range comparedMetrics(c) {
		fmt.Fprintf(&b, "\n## %s\n\n", plainText(t.Title))
		markdownTable(&b, t.Table)
	}
	for _, sentence := range family(c.Family) {
		fmt.Fprintf(&b, "\n%s\n", plainText(sentence))
	}
	if ws := comparisonWarnings(c); len(ws) > 0 {
		b.WriteString("\nBefore relying on this:\n\n")
		for _, warning := range ws {
			fmt.Fprintf(&b, "- %s\n", plainText(warning))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func sideText(s analysis.Side) string {
	return strings.Join(slices.DeleteFunc([]string{s.Name, s.Started, s.Version},
		func(s string) bool { return s == "" }), ", ")
}

// comparisonWarnings also names the configurations that only one side has.
func comparisonWarnings(c *analysis.Comparison) []string {
	ws := slices.Clone(c.Warnings)
	for _, side := range []struct {
		name string
		only []string
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(side.only) > 0 {
			ws = append(ws, fmt.Sprintf("Only %s has %s.", side.name, readable.Enumerate(side.only)))
		}
	}
	return ws
}

// A comparedMetric is one metric of both sides.
type comparedMetric struct {
	Title string
	Table page.Table
	Runs  *page.Figure // nil without rows
}

// comparedMetrics returns the leading metrics, or all if there are none, and also those of worthKnowing.
func comparedMetrics(c *analysis.Comparison) []comparedMetric {
	leads := slices.ContainsFunc(c.Metrics, func(m analysis.ComparedMetric) bool { return m.Leads })
	var all []comparedMetric
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if leads && !m.Leads && !slices.Contains(worthKnowing, m.Name) {
			continue
		}
		numbers := page.Numbers("A", "B", "B against A", "p, corrected")
		t := page.Table{Columns: append(page.Texts("configuration"), numbers...)}
		for _, row := range m.Rows {
			t.Rows = append(t.Rows, []page.Cell{
				{Text: row.Configuration},
				valueCell(row.A, m.Unit), valueCell(row.B, m.Unit),
				versusCell(&row.Versus, false, false), {Text: pText(row.Versus.Corrected)},
			})
		}
		one := comparedMetric{Title: upperFirst(m.Name), Table: t}
		if len(t.Rows) > 0 {
			one.Runs = comparedStrips(m)
		}
		all = append(all, one)
	}
	return all
}

// comparedStrips draws the runs of both sides below each other.
func comparedStrips(m *analysis.ComparedMetric) *page.Figure {
	f := strips("", "Every run", runHelp(m.Better), page.Key{Class: "c1 dots", Name: "a run of A"},
		page.Key{Class: "c3 dots", Name: "a run of B"}, page.Key{Class: "c2 interval", Name: "median and its 95% interval"})
	for _, row := range m.Rows {
		f.Charts = append(f.Charts,
			runStrip(row.Configuration+", A", row.A, m.Unit, "c1"),
			runStrip(row.Configuration+", B", row.B, m.Unit, "c3"))
	}
	fit(&f, m.Unit)
	return &f
}

// comparisonTitle names the compared results. Usually both are of the same
// experiment.
func comparisonTitle(c *analysis.Comparison) string {
	if c.A.Name == c.B.Name {
		return c.A.Name + ", B against A"
	}
	return c.B.Name + " against " + c.A.Name
}
