package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// A Style says how text is drawn.
type Style struct {
	Width int // of a line, in characters; 0 is 80, and less than 76 is 76

	// Color draws in colours and in Unicode's blocks and dots, for a terminal.
	// Without it the text is plain ASCII.
	Color bool
}

// leastWidth has room for the tables.
const leastWidth = 76

// Text writes what a person wants to know at the end of a run, warnings last. It
// writes once, or nothing when the result's histograms cannot be read.
func Text(w io.Writer, r *load.Result, style Style) error {
	distributions, err := distributions(r)
	if err != nil {
		return err
	}
	if style.Width == 0 {
		style.Width = 80
	}
	p := &page{width: max(style.Width, leastWidth), pen: pen{style.Color}}
	s := newSheet(r)
	p.headline(s.Headline)
	p.facts(s.Facts)
	p.tables(s.Tables)
	p.overTime(r)
	if len(distributions) > 0 {
		p.percentilePlot(distributions)
		p.histogram(&distributions[0])
	}
	p.warnings(s)
	_, err = w.Write(p.Bytes())
	return err
}

// A page is text that is being written.
type page struct {
	bytes.Buffer
	pen
	width int
}

const indent = "  "

// line writes one, without what it would end in invisibly.
func (p *page) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteByte('\n')
}

func (p *page) headline(sentences []string) {
	p.line("")
	for _, line := range readable.Wrap(p.clean(strings.Join(sentences, " ")), p.width-len(indent)) {
		p.line(indent + p.paint(bold, line))
	}
	p.line("")
}

func (p *page) facts(facts []fact) {
	for _, f := range facts {
		p.labelled(6, p.paint(dim, fmt.Sprintf("%-6s", f.Name)), f.Text, plain)
	}
}

// labelled writes a label, already padded to that width, and a text beside it
// that may take several lines.
func (p *page) labelled(width int, label, text string, c color) {
	lines := readable.Wrap(p.clean(text), p.width-len(indent)-width)
	for i, line := range lines {
		if i > 0 {
			label = strings.Repeat(" ", width)
		}
		p.line(indent + label + p.paint(c, line))
	}
}

// tables writes them with their columns one below the other.
func (p *page) tables(tables []table) {
	name, cell := 12, 7
	for _, t := range tables {
		for _, r := range t.Rows {
			name = max(name, min(16, len([]rune(p.clean(r.Name)))+1))
		}
	}
	gap := 1
	if len(indent)+name+len(columns)*(cell+2) <= p.width {
		gap = 2
	}
	for _, t := range tables {
		p.table(t, name, max(cell, p.widestCell(t))+gap)
	}
}

func (p *page) widestCell(t table) int {
	widest := 0
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			widest = max(widest, len([]rune(p.clean(c))))
		}
	}
	return widest
}

func (p *page) table(t table, nameWidth, cellWidth int) {
	p.line("")
	head := p.paint(bold, p.clean(t.Title))
	if len(t.Columns) > 0 {
		first := nameWidth + cellWidth - len([]rune(p.clean(t.Title)))
		head += p.paint(dim, fmt.Sprintf("%*s", first, t.Columns[0]))
		for _, c := range t.Columns[1:] {
			head += p.paint(dim, fmt.Sprintf("%*s", cellWidth, c))
		}
	}
	p.line(indent + head)
	for _, r := range t.Rows {
		p.row(r, nameWidth, cellWidth)
	}
	for _, note := range t.Notes {
		p.labelled(0, "", note, dim)
	}
}

// leastRemark is what a remark needs beside its row; with less it stands below.
const leastRemark = 24

func (p *page) row(r row, nameWidth, cellWidth int) {
	c := plain
	if r.Bad {
		c = red
	}
	name := p.clean(r.Name)
	if len([]rune(name)) >= nameWidth { // stands above its row
		p.labelled(0, "", r.Name, c)
		name = ""
	}
	label := fmt.Sprintf("%-*s", nameWidth, name)
	for _, c := range r.Cells {
		label += fmt.Sprintf("%*s", cellWidth, p.clean(c))
	}
	width := nameWidth + len(r.Cells)*cellWidth
	switch {
	case r.Remark == "":
		p.line(indent + p.paint(c, label))
	case len(r.Cells) == 0:
		p.labelled(width, label, r.Remark, plain)
	case p.width-width-2*len(indent) < leastRemark:
		p.line(indent + p.paint(c, label))
		p.labelled(nameWidth, strings.Repeat(" ", nameWidth), r.Remark, dim)
	default:
		p.labelled(width+len(indent), p.paint(c, label)+indent, r.Remark, dim)
	}
}

// overTime draws each track as a line of small bars, all on the same axis.
func (p *page) overTime(r *load.Result) {
	end := end(r)
	var shown []track
	for _, t := range tracks(r) {
		if len(t.stretches) > 1 && t.most() > 0 {
			shown = append(shown, t)
		}
	}
	if len(shown) == 0 || end <= 0 {
		return
	}
	p.line("")
	p.line(indent + p.paint(bold, "Over time") + p.paint(dim, "    from 0 to the most, which stands at the end"))
	width := min(p.width-len(indent)-13-11, 120)
	for _, t := range shown {
		p.line(indent + fmt.Sprintf("%-13s", t.name) + p.paint(t.color, p.sparkline(t.worst(width, end), t.most())) + "  " + p.paint(dim, p.clean(t.greatest())))
	}
}

func (p *page) warnings(s *sheet) {
	if s.Distrust != "" {
		p.line("")
		p.line(indent + p.paint(boldYellow, "NOT TO BE TRUSTED: "+s.Distrust))
	}
	if len(s.Warnings) > 0 && s.Distrust == "" {
		p.line("")
	}
	for _, warning := range s.Warnings {
		p.labelled(9, p.paint(yellow, "warning: "), warning, yellow)
	}
	p.line("")
}

// distrust is the reason for which a result is Saturated, or "".
func distrust(r *load.Result) string {
	switch {
	case !r.Saturated:
		return ""
	case r.MachineBusy():
		return "the machine was busy"
	}
	return "the generator was at its limit"
}
