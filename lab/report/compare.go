package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
)

// Comparison writes what a comparison of two results has found as text for a
// terminal. It writes once.
func Comparison(w io.Writer, c *analysis.Comparison, style Style) error {
	p := newPaper(style)
	p.heading("A: " + sideText(c.A) + "; B: " + sideText(c.B))
	p.findings(c.Findings)
	for _, t := range comparedMetrics(c) {
		p.line(p.paint(bold, p.clean(t.title)))
		p.table(t.table)
	}
	p.warnings(comparisonWarnings(c))
	_, err := w.Write(p.Bytes())
	return err
}

// ComparisonMarkdown writes the same as Markdown.
func ComparisonMarkdown(w io.Writer, c *analysis.Comparison) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s against %s\n\n", plainText(sideText(c.B)), plainText(sideText(c.A)))
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "- %s%s\n", markText(f.Verdict), plainText(f.Text))
	}
	for _, t := range comparedMetrics(c) {
		fmt.Fprintf(&b, "\n## %s\n\n", plainText(t.title))
		markdownTable(&b, t.table)
	}
	for _, sentence := range families(c.Families) {
		fmt.Fprintf(&b, "\n%s\n", plainText(sentence))
	}
	if ws := comparisonWarnings(c); len(ws) > 0 {
		b.WriteString("\nTo be known before this is believed:\n\n")
		for _, warning := range ws {
			fmt.Fprintf(&b, "- %s\n", plainText(warning))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func sideText(s analysis.Side) string {
	return strings.Join(slices.DeleteFunc([]string{s.Name, s.Started, s.Version}, func(s string) bool { return s == "" }), ", ")
}

// comparisonWarnings end with what only one side has.
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
	metric *analysis.ComparedMetric
	title  string
	table  table
}

// comparedMetrics are those that lead, or all when none does, those of the findings, and those that are worth knowing of
// every service.
func comparedMetrics(c *analysis.Comparison) []comparedMetric {
	leads := slices.ContainsFunc(c.Metrics, func(m analysis.ComparedMetric) bool { return m.Leads })
	var all []comparedMetric
	for i := range c.Metrics {
		m := &c.Metrics[i]
		found := slices.ContainsFunc(c.Findings, func(f analysis.Finding) bool { return f.Metric == m.Name })
		if leads && !m.Leads && !found && !slices.Contains(worthKnowing, m.Name) {
			continue
		}
		t := table{Columns: []column{{Name: "configuration"}, {"A", true}, {"B", true}, {"B against A", true}, {"p, corrected", true}}}
		for _, row := range m.Rows {
			t.Rows = append(t.Rows, []cell{
				{Text: row.Configuration},
				{Text: analysis.Quantity(row.A.Median, m.Unit), Small: spread(row.A, m.Unit), Sort: sortNumber(row.A.Median)},
				{Text: analysis.Quantity(row.B.Median, m.Unit), Small: spread(row.B, m.Unit), Sort: sortNumber(row.B.Median)},
				versusCell(&row.Versus, false, false), {Text: pText(row.Versus.Corrected)},
			})
		}
		all = append(all, comparedMetric{m, upperFirst(m.Name), t})
	}
	return all
}

// strips draws the runs of both sides below each other.
func (m comparedMetric) strips() strips {
	s := strips{
		Title: "Every run", Help: runHelp(m.metric.Better), Unit: m.metric.Unit,
		Keys: []key{{"c1 dot", "a run of A"}, {"c3 dot", "a run of B"}, {"c2 interval", "median and its 95% interval"}},
	}
	for _, row := range m.metric.Rows {
		s.Rows = append(s.Rows,
			runStrip(row.Configuration+", A", row.A, s.Unit, "c1"),
			runStrip(row.Configuration+", B", row.B, s.Unit, "c3"))
	}
	s.fit()
	return s
}

//go:embed compare.html
var compareHTML string

var compareTemplate = pageOf(compareHTML)

// ComparisonHTML writes the same as a page that needs nothing else, with every
// run of what leads as a dot. It writes once.
func ComparisonHTML(w io.Writer, c *analysis.Comparison) error {
	type metric struct {
		Title  string
		Table  table
		Strips *stripsView
	}
	page := struct {
		Title    string
		Sides    []fact
		Findings []analysis.Finding
		Warnings []string
		Metrics  []metric
		HowSure  []string
		look
	}{comparisonTitle(c), []fact{{"A", sideText(c.A)}, {"B", sideText(c.B)}}, c.Findings, comparisonWarnings(c), nil, families(c.Families), newLook()}
	for _, m := range comparedMetrics(c) {
		one := metric{Title: m.title, Table: m.table}
		if len(m.table.Rows) > 0 {
			view := m.strips().view()
			one.Strips = &view
		}
		page.Metrics = append(page.Metrics, one)
	}
	return writePage(w, compareTemplate, page)
}

// comparisonTitle names what is compared, which is most often one experiment.
func comparisonTitle(c *analysis.Comparison) string {
	if c.A.Name == c.B.Name {
		return c.A.Name + ", B against A"
	}
	return c.B.Name + " against " + c.A.Name
}
