package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// A Style is the format of text.
type Style struct {
	Width int // characters per line; 0 is 80, and less than 76 is 76

	// Color uses colours and Unicode's blocks and dots, for a terminal.
	// Without it the text is plain ASCII.
	Color bool
}

// minWidth is the least width for the tables.
const minWidth = 76

// Text writes a summary of a result, warnings last. It writes once, or not at
// all if the result's histograms cannot be read.
func Text(w io.Writer, r *load.Result, style Style) error {
	distributions, err := distributions(r)
	if err != nil {
		return err
	}
	if style.Width == 0 {
		style.Width = 80
	}
	p := &screen{page.Text{Width: max(style.Width, minWidth), Pen: page.Pen{Colored: style.Color}, Indent: indent}}
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

func (p *screen) headline(sentences []string) {
	p.Println("")
	for _, line := range readable.Wrap(p.Clean(strings.Join(sentences, " ")), p.Width-len(indent)) {
		p.Println(p.Paint(page.Bold, line))
	}
	p.Println("")
}

func (p *screen) facts(facts []page.Fact) {
	width := 6
	for _, f := range facts {
		width = max(width, len(f.Name)+1)
	}
	for _, f := range facts {
		p.Labelled(width, p.Paint(page.Dim, fmt.Sprintf("%-*s", width, f.Name)), f.Text, page.Plain)
	}
}

// tables writes tables with aligned columns.
func (p *screen) tables(tables []page.Table) {
	name, cell := 12, 7
	for _, t := range tables {
		for _, r := range t.Rows {
			name = max(name, min(16, len([]rune(p.Clean(r[0].Text)))+1))
		}
	}
	gap := 1
	if len(indent)+name+len(columns)*(cell+2) <= p.Width {
		gap = 2
	}
	for _, t := range tables {
		p.table(t, name, max(cell, p.widestCell(t))+gap)
	}
}

func (p *screen) widestCell(t page.Table) int {
	widest := 0
	for _, r := range t.Rows {
		for _, c := range r[1 : len(r)-1] {
			widest = max(widest, len([]rune(p.Clean(c.Text))))
		}
	}
	return widest
}

func (p *screen) table(t page.Table, nameWidth, cellWidth int) {
	p.Println("")
	title := p.Clean(t.Columns[0].Name)
	head, width := p.Paint(page.Bold, title), nameWidth+cellWidth-len([]rune(title))
	for _, c := range t.Columns[1 : len(t.Columns)-1] {
		head += p.Paint(page.Dim, fmt.Sprintf("%*s", width, c.Name))
		width = cellWidth
	}
	p.Println(head)
	for _, r := range t.Rows {
		p.row(r, nameWidth, cellWidth)
	}
	for _, note := range t.Notes {
		p.Labelled(0, "", note, page.Dim)
	}
}

// minRemark is the least width of a remark beside its row. With less room it is
// below the row.
const minRemark = 24

func (p *screen) row(r []page.Cell, nameWidth, cellWidth int) {
	cells, remark, c := r[1:len(r)-1], r[len(r)-1].Text, page.Plain
	if r[0].Class == "bad" {
		c = page.Red
	}
	name := p.Clean(r[0].Text)
	if len([]rune(name)) >= nameWidth { // too long: a line above its row
		p.Labelled(0, "", r[0].Text, c)
		name = ""
	}
	label := fmt.Sprintf("%-*s", nameWidth, name)
	for _, c := range cells {
		label += fmt.Sprintf("%*s", cellWidth, p.Clean(c.Text))
	}
	width := nameWidth + len(cells)*cellWidth
	switch {
	case remark == "":
		p.Println(p.Paint(c, label))
	case len(cells) == 0:
		p.Labelled(width, label, remark, page.Plain)
	case p.Width-width-2*len(indent) < minRemark:
		p.Println(p.Paint(c, label))
		p.Labelled(nameWidth, strings.Repeat(" ", nameWidth), remark, page.Dim)
	default:
		p.Labelled(width+len(indent), p.Paint(c, label)+indent, remark, page.Dim)
	}
}

// overTime draws each track as a line of small bars, all on the same time axis.
func (p *screen) overTime(r *load.Result) {
	end := end(r)
	var shown []track
	for _, t := range tracks(r) {
		if len(t.segments) > 1 && t.most() > 0 {
			shown = append(shown, t)
		}
	}
	if len(shown) == 0 || end <= 0 {
		return
	}
	p.Println("")
	p.Println(p.Paint(page.Bold, "Over time") + p.Paint(page.Dim, "    from 0 to the maximum, shown at the end"))
	width := min(p.Width-len(indent)-13-11, 120)
	for _, t := range shown {
		p.Println(fmt.Sprintf("%-13s", t.name) + p.Paint(t.color, sparkline(p.Pen, t.worst(width, end), t.most())) +
			"  " + p.Paint(page.Dim, p.Clean(t.greatest())))
	}
}

func (p *screen) warnings(s *sheet) {
	if s.Distrust != "" {
		p.Println("")
		p.Println(p.Paint(page.BoldYellow, "NOT TO BE TRUSTED: "+s.Distrust))
	}
	if len(s.Warnings) > 0 && s.Distrust == "" {
		p.Println("")
	}
	for _, warning := range s.Warnings {
		p.Labelled(9, p.Paint(page.Yellow, "warning: "), warning, page.Yellow)
	}
	p.Println("")
}
