package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
)

// A Style says how text is drawn.
type Style struct {
	Width int // of a line, in characters; 0 is 80, and less than 40 is 40

	// Color draws in colours and in Unicode, for a terminal. Without it the text
	// is plain ASCII.
	Color bool
}

// Text writes what a person wants to know at the end of an experiment: what was
// found, the configurations, what to know before believing it, and where the
// report is, if dir is not empty. It writes once.
func Text(w io.Writer, r *lab.Results, a *analysis.Analysis, dir string, style Style) error {
	s := newSheet(r, a)
	p := newPaper(style)
	p.heading(s.Title)
	p.findings(s.Findings)
	p.overview(overview(r, a, worthKnowingBriefly))
	p.warnings(s.Warnings)
	if dir != "" {
		if len(s.Warnings) > 0 {
			p.line("")
		}
		p.wrapped("", "The report is "+filepath.Join(dir, "report.html")+"; beside it are report.md, runs.csv, samples.csv, results.json, analysis.json and plots/.", "")
	}
	_, err := w.Write(p.Bytes())
	return err
}

// A paper is text that is being written.
type paper struct {
	bytes.Buffer
	width int
	color bool
}

func newPaper(style Style) *paper {
	if style.Width == 0 {
		style.Width = 80
	}
	return &paper{width: max(style.Width, 40), color: style.Color}
}

// The colours, as between the brackets of an SGR sequence.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *paper) paint(color, s string) string {
	if !p.color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// spellings are the characters that this package writes and plain ASCII has not.
var spellings = map[rune]string{'µ': "u", '±': "+-", '×': "x", '…': "...", '–': "-"}

// clean returns s in characters that steer no terminal: printable ASCII and the
// few others of spellings, spelled in ASCII when there is to be no other. The
// rest stands as escapes.
func (p *paper) clean(s string) string {
	return readable.Escape(s, func(r rune) string {
		ascii, known := spellings[r]
		switch {
		case r >= ' ' && r <= '~', known && p.color:
			return string(r)
		}
		return ascii
	})
}

func (p *paper) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteByte('\n')
}

// wrapped writes a text beside a label that stands at its first line.
func (p *paper) wrapped(label, text, color string) {
	indent := strings.Repeat(" ", len([]rune(label)))
	for i, line := range readable.Wrap(p.clean(text), p.width-len(indent)) {
		if i > 0 {
			label = indent
		}
		p.line(p.paint(color, label) + line)
	}
}

func (p *paper) heading(title string) {
	p.line(p.paint(bold, p.clean(title)))
	p.line("")
}

var verdictColors = map[analysis.Verdict]string{analysis.Better: green, analysis.Worse: red, analysis.Noise: dim}

// verdictMarks stand before a finding.
var verdictMarks = map[analysis.Verdict]string{analysis.Better: "+ ", analysis.Worse: "- ", analysis.Noise: "~ "}

func (p *paper) findings(fs []analysis.Finding) {
	for _, f := range fs {
		mark := verdictMarks[f.Verdict]
		if mark == "" {
			mark = "  "
		}
		p.wrapped(mark, f.Text, verdictColors[f.Verdict])
	}
	p.line("")
}

func (p *paper) warnings(ws []string) {
	for _, w := range ws {
		p.wrapped("warning: ", w, yellow)
	}
}

// overview writes a table of metrics. It has the differences of all metrics where they fit, else those of as many
// metrics as have room, from the first one on. It names the metrics that do not fit.
func (p *paper) overview(t table) {
	metrics := (len(t.Columns) - beforeMetrics) / 2
	for shown := metrics; shown > 0; shown-- {
		for compared := shown; compared > 0; compared-- {
			if p.fits(t.narrowed(shown, compared)) {
				p.leftOut(t, shown)
				return
			}
		}
	}
	p.blocks(t)
}

// beforeMetrics is the number of columns of an overview before those of its metrics, of which each has two: its value
// and the difference.
const beforeMetrics = 2

// narrowed is an overview of so many metrics, of which the first ones have their difference. The values of the others
// have its colour.
func (t table) narrowed(shown, compared int) table {
	n := beforeMetrics + 2*compared
	narrow := table{Columns: slices.Clone(t.Columns[:n])}
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

// leftOut names the metrics after the first ones.
func (p *paper) leftOut(t table, shown int) {
	var left []string
	for k := beforeMetrics + 2*shown; k < len(t.Columns); k += 2 {
		left = append(left, t.Columns[k].Name)
	}
	if left != nil {
		p.wrapped("", "Not in this table, but in the report: "+strings.Join(left, "; ")+".", "")
		p.line("")
	}
}

// table writes a table in columns, or as a block for each row when they are too wide.
func (p *paper) table(t table) {
	if !p.fits(t) {
		p.blocks(t)
	}
}

// fits writes a table in columns: with its intervals where they fit, else without. It writes nothing when the columns
// are too wide.
func (p *paper) fits(t table) bool {
	return p.columns(t, all) || p.columns(t, medians) || p.columns(t, texts)
}

// detailed is how much of a cell is written.
type detailed int

const (
	texts   detailed = iota // its text
	medians                 // with how far a median may be off
	all                     // with every interval
)

// columns writes a table, and nothing when that would be too wide.
func (p *paper) columns(t table, much detailed) bool {
	widths := make([]int, len(t.Columns))
	cells := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for k, c := range row {
			text := p.clean(cellText(c, k, much))
			cells[i] = append(cells[i], text)
			widths[k] = max(widths[k], len([]rune(text)))
		}
	}
	heads := make([][]string, len(t.Columns)) // in lines
	tall, total := 0, -2
	for k, c := range t.Columns {
		for word := range strings.FieldsSeq(c.Name) {
			widths[k] = max(widths[k], len([]rune(p.clean(word))))
		}
		heads[k] = wordLines(p.clean(c.Name), widths[k])
		tall = max(tall, len(heads[k]))
		total += widths[k] + 2
	}
	if total > p.width {
		return false
	}
	for i := range tall {
		var line []string
		for k := range t.Columns {
			line = append(line, at(heads[k], i-tall+len(heads[k])))
		}
		p.line(p.paint(dim, strings.TrimRight(padded(t, line, widths, nil), " ")))
	}
	for i, row := range t.Rows {
		p.line(padded(t, cells[i], widths, func(k int, s string) string { return p.paint(classColors[row[k].Class], s) }))
	}
	p.line("")
	return true
}

// wordLines breaks a text at spaces alone, into lines of at most width where its
// words are no longer.
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

// classColors are the colours of a cell's class.
var classColors = map[string]string{"better": green, "worse": red, "quiet": dim, "baseline": dim, "outlier": yellow}

// cellText is a cell in one line. What stands small beside a name has no room.
func cellText(c cell, column int, much detailed) string {
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

func padded(t table, cells []string, widths []int, paint func(int, string) string) string {
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
func (p *paper) blocks(t table) {
	wide := 0
	for _, c := range t.Columns[1:] {
		wide = max(wide, min(len([]rune(p.clean(c.Name))), p.width/2))
	}
	for _, row := range t.Rows {
		p.wrapped("", row[0].Text, bold)
		for k := 1; k < len(row); k++ {
			if row[k].Text == "" || t.Columns[k].Name == versusName && k > 1 {
				continue // stands beside its value
			}
			text := cellText(row[k], k, all)
			if k+1 < len(row) && t.Columns[k+1].Name == versusName && row[k+1].Text != "" {
				text += "  " + cellText(row[k+1], k+1, texts)
			}
			name := p.clean(t.Columns[k].Name)
			p.wrapped(fmt.Sprintf("  %-*s  ", wide, name[:min(len(name), wide)]), text, dim)
		}
	}
	p.line("")
}
