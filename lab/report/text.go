package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// A Style is the format of text.
type Style struct {
	Width int // characters per line; 0 is 80, and less than 40 is 40

	// Color uses colours and Unicode, for a terminal. Without it the text
	// is plain ASCII.
	Color bool
}

// Text writes a summary of an experiment: the findings, the configurations, the
// warnings, and the name of the report if dir is not empty. It writes once.
func Text(w io.Writer, r *results.Results, a *analysis.Analysis, dir string, style Style) error {
	s := newSheet(r, a)
	p := newPaper(style)
	p.heading(s.Title)
	p.findings(s.Findings)
	p.overview(overview(r, a, worthKnowingBriefly))
	p.warnings(s.Warnings)
	if dir != "" {
		if len(s.Warnings) > 0 {
			p.Println("")
		}
		p.wrapped("", "The report is "+filepath.Join(dir, "report.html")+"; beside it are report.md, runs.csv, "+
			"samples.csv, results.json, analysis.json and plots/.", "")
	}
	_, err := w.Write(p.Bytes())
	return err
}

// A paper is a text for a terminal that is being written.
type paper struct{ page.Text }

func newPaper(style Style) *paper {
	if style.Width == 0 {
		style.Width = 80
	}
	return &paper{page.Text{Width: max(style.Width, 40), Pen: page.Pen{Colored: style.Color}}}
}

// wrapped writes a coloured label and a text beside it.
func (p *paper) wrapped(label, text string, c page.Color) {
	p.Labelled(len([]rune(label)), p.Paint(c, label), text, page.Plain)
}

func (p *paper) heading(title string) {
	p.Println(p.Paint(page.Bold, p.Clean(title)))
	p.Println("")
}

var verdictColors = map[analysis.Verdict]page.Color{analysis.Better: page.Green, analysis.Worse: page.Red,
	analysis.Noise: page.Dim}

// verdictMarks are prefixes of findings.
var verdictMarks = map[analysis.Verdict]string{analysis.Better: "+ ", analysis.Worse: "- ", analysis.Noise: "~ "}

func (p *paper) findings(fs []analysis.Finding) {
	for _, f := range fs {
		mark := verdictMarks[f.Verdict]
		if mark == "" {
			mark = "  "
		}
		p.wrapped(mark, f.Text, verdictColors[f.Verdict])
	}
	p.Println("")
}

func (p *paper) warnings(ws []string) {
	for _, w := range ws {
		p.wrapped("warning: ", w, page.Yellow)
	}
}

// overview writes a table of metrics. It has the differences of all metrics if
// they fit, otherwise those of the first metrics for which there is room. It
// names the metrics that do not fit.
func (p *paper) overview(t page.Table) {
	metrics := (len(t.Columns) - beforeMetrics) / 2
	for shown := metrics; shown > 0; shown-- {
		for compared := shown; compared > 0; compared-- {
			if p.fits(narrowed(t, shown, compared)) {
				p.leftOut(t, shown)
				return
			}
		}
	}
	p.blocks(t)
}

// beforeMetrics is the number of columns of an overview before those of its
// metrics. Each metric has two: its value and the difference.
const beforeMetrics = 2

// narrowed returns an overview of the first metrics: shown is their number. The
// first ones, compared in number, also have a column with their difference. The
// values of the others have the colour of the difference instead.
func narrowed(t page.Table, shown, compared int) page.Table {
	n := beforeMetrics + 2*compared
	narrow := page.Table{Columns: slices.Clone(t.Columns[:n])}
	for m := compared; m < shown; m++ {
		narrow.Columns = append(narrow.Columns, t.Columns[beforeMetrics+2*m])
	}
	for _, row := range t.Rows {
		cells := slices.Clone(row[:n])
		for m := compared; m < shown; m++ {
			value, versus := row[beforeMetrics+2*m], row[beforeMetrics+2*m+1]
			value.Class = versus.Class
			cells = append(cells, value)
		}
		narrow.Rows = append(narrow.Rows, cells)
	}
	return narrow
}

// leftOut names the metrics that are not shown.
func (p *paper) leftOut(t page.Table, shown int) {
	var left []string
	for k := beforeMetrics + 2*shown; k < len(t.Columns); k += 2 {
		left = append(left, t.Columns[k].Name)
	}
	if left != nil {
		p.wrapped("", "Not in this table, but in the report: "+strings.Join(left, "; ")+".", "")
		p.Println("")
	}
}

// table writes a table in columns, or as a block for each row if they are too
// wide.
func (p *paper) table(t page.Table) {
	if !p.fits(t) {
		p.blocks(t)
	}
}

// fits writes a table in columns, with its intervals if they fit. If the
// columns are too wide it writes nothing and returns false.
func (p *paper) fits(t page.Table) bool {
	return p.columns(t, all) || p.columns(t, medians) || p.columns(t, texts)
}

// detailed is the amount of detail in a cell.
type detailed int

const (
	texts   detailed = iota // its text
	medians                 // with the uncertainty of a median
	all                     // with every interval
)

// columns writes a table, or writes nothing and returns false if it is too
// wide.
func (p *paper) columns(t page.Table, much detailed) bool {
	widths := make([]int, len(t.Columns))
	cells := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for k, c := range row {
			text := p.Clean(cellText(c, k, much))
			cells[i] = append(cells[i], text)
			widths[k] = max(widths[k], len([]rune(text)))
		}
	}
	heads := make([][]string, len(t.Columns)) // lines
	tall, total := 0, -2
	for k, c := range t.Columns {
		for word := range strings.FieldsSeq(c.Name) {
			widths[k] = max(widths[k], len([]rune(p.Clean(word))))
		}
		heads[k] = wordLines(p.Clean(c.Name), widths[k])
		tall = max(tall, len(heads[k]))
		total += widths[k] + 2
	}
	if total > p.Width {
		return false
	}
	for i := range tall {
		var line []string
		for k := range t.Columns {
			line = append(line, at(heads[k], i-tall+len(heads[k])))
		}
		p.Println(p.Paint(page.Dim, strings.TrimRight(padded(t, line, widths, nil), " ")))
	}
	for i, row := range t.Rows {
		paint := func(k int, s string) string { return p.Paint(classColors[row[k].Class], s) }
		p.Println(padded(t, cells[i], widths, paint))
	}
	p.Println("")
	return true
}

// wordLines breaks a text at spaces into lines of at most that width, unless a
// word is longer.
func wordLines(s string, width int) []string {
	var lines []string
	for word := range strings.FieldsSeq(s) {
		last := len(lines) - 1
		if last >= 0 && len([]rune(lines[last]))+1+len([]rune(word)) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// classColors are the colours of cells by CSS class.
var classColors = map[string]page.Color{"better": page.Green, "worse": page.Red, "quiet": page.Dim,
	"baseline": page.Dim, "outlier": page.Yellow}

// cellText returns a cell in one line. The small text of the first column is
// left out.
func cellText(c page.Cell, column int, much detailed) string {
	switch {
	case c.Small == "" || column == 0 || much == texts:
		return c.Text
	case strings.HasPrefix(c.Small, "±"):
		return c.Text + " " + c.Small
	case much == medians:
		return c.Text
	}
	return c.Text + " (" + c.Small + ")"
}

func at(lines []string, i int) string {
	if i < 0 || i >= len(lines) {
		return ""
	}
	return lines[i]
}

func padded(t page.Table, cells []string, widths []int, paint func(int, string) string) string {
	var b strings.Builder
	for k, c := range cells {
		if k > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[k]-len([]rune(c)))
		if paint != nil {
			c = paint(k, c)
		}
		if t.Columns[k].Number {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	return b.String()
}

// blocks writes each row as its name and a line for each column.
func (p *paper) blocks(t page.Table) {
	wide := 0
	for _, c := range t.Columns[1:] {
		wide = max(wide, min(len([]rune(p.Clean(c.Name))), p.Width/2))
	}
	for _, row := range t.Rows {
		p.wrapped("", row[0].Text, page.Bold)
		for k := 1; k < len(row); k++ {
			if row[k].Text == "" || t.Columns[k].Name == versusName && k > 1 {
				continue // is beside its value
			}
			text := cellText(row[k], k, all)
			if k+1 < len(row) && t.Columns[k+1].Name == versusName && row[k+1].Text != "" {
				text += "  " + cellText(row[k+1], k+1, texts)
			}
			name := p.Clean(t.Columns[k].Name)
			p.wrapped(fmt.Sprintf("  %-*s  ", wide, name[:min(len(name), wide)]), text, page.Dim)
		}
	}
	p.Println("")
}
