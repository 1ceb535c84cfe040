package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
)

var (
	//go:embed parts.html
	partsHTML string
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var pageTemplate = pageOf(pageHTML)

// pageOf is the template of a page that is made of parts.html.
func pageOf(text string) *template.Template {
	return chart.Page(template.FuncMap{"lines": visibleLines, "mark": markOf, "breaks": breaks}, partsHTML, text)
}

// breaks parts the name of a column where a line may break: a benchmark's, with
// those of its cases, is longer than a table has room for.
func breaks(name string) []string {
	parts := strings.SplitAfter(name, "/")
	if rest, ok := strings.CutPrefix(parts[0], "Benchmark"); ok {
		parts = append([]string{"Benchmark", rest}, parts[1:]...)
	}
	return parts
}

// A look is what a page has of style and script.
type look struct {
	CSS template.CSS
	JS  template.JS
}

func newLook() look { return look{template.CSS(chart.CSS() + pageCSS), template.JS(pageJS)} }

// visibleLines is visible text that keeps its lines.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = readable.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// A mark is a verdict's class in page.css and what it is called beside a finding.
type mark struct{ Class, Name string }

func markOf(v analysis.Verdict) mark {
	switch v {
	case analysis.Better, analysis.Worse:
		return mark{string(v), string(v)}
	case analysis.Noise:
		return mark{"noise", "no difference"}
	}
	return mark{}
}

func (d *document) html(w io.Writer) error {
	page := struct {
		*document
		Strips  []stripsView
		Panels  []panelsView
		Details []detailView
		Left    int
		look
	}{d, nil, nil, nil, d.left, newLook()}
	for _, s := range d.strips {
		page.Strips = append(page.Strips, s.view())
	}
	for i := range d.panels {
		page.Panels = append(page.Panels, d.panels[i].view())
	}
	for i := range d.details {
		page.Details = append(page.Details, d.details[i].view())
	}
	return writePage(w, pageTemplate, page)
}

// writePage writes once, and nothing when the page cannot be made.
func writePage(w io.Writer, t *template.Template, page any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// The views are what page.html draws: places in percent instead of values.
type (
	stripsView struct {
		Title, Help string
		Keys        []key
		Grid        []chart.Percent
		Below       []chart.Tick
		Lanes       []laneView
	}
	laneView struct {
		Name, Value string
		Bars        []barView
		Lines       []barView
		Dots        []dotView
		Marks       []dotView
	}
	barView struct {
		Class    string
		X, Width chart.Percent
		End      chart.Percent
		Text     string
	}
	dotView struct {
		Class string
		X, Y  chart.Percent
		Text  string
	}
	panelsView struct {
		Title, Help string
		Keys        []key
		Each        []plotView
	}
	plotView struct {
		Title, Help string
		Keys        []key
		Label       string
		Height      int
		ViewBox     string
		Rows, Below []chart.Tick
		Paths       []path
	}
	detailView struct {
		Name, Note, Which string
		Plots             []plotView
		Profiles          []profileView
	}
)

func (s strips) view() stripsView {
	v := stripsView{Title: s.Title, Help: s.Help, Keys: s.Keys, Below: s.Axis.Below()}
	at := func(x float64) chart.Percent { return chart.Percent(100 * s.Axis.Place(x)) }
	for _, t := range s.Axis.Ticks {
		v.Grid = append(v.Grid, at(t))
	}
	for _, row := range s.Rows {
		lane := laneView{Name: row.Name, Value: row.Value}
		for _, b := range row.Bars {
			lane.Bars = append(lane.Bars, barView{b.Class, at(b.From), at(b.To) - at(b.From), at(b.To), b.Text})
		}
		for _, l := range row.Lines {
			lane.Lines = append(lane.Lines, barView{l.Class, at(l.From), at(l.To) - at(l.From), at(l.To), l.Text})
		}
		for _, d := range row.Dots {
			lane.Dots = append(lane.Dots, dotView{d.Class, at(d.At), chart.Percent(100 * d.Down), d.Text})
		}
		for _, m := range row.Marks {
			lane.Marks = append(lane.Marks, dotView{m.Class, at(m.At), 50, m.Text})
		}
		v.Lanes = append(v.Lanes, lane)
	}
	return v
}

const panelHeight = 90

func (p *panels) view() panelsView {
	v := panelsView{
		Title: p.Title,
		Help:  p.Help + " Each panel is a configuration: the line is the median of its runs, the band all that they had, until the load and its log end.",
		Keys:  []key{{"c1", "median of the runs"}, {"c1 area", "all runs"}},
	}
	rows := p.Axis.Rows()
	if len(rows) > 4 { // a panel is low
		for i := range rows {
			if i%2 == 1 {
				rows[i].Text = ""
			}
		}
	}
	base := slices.IndexFunc(p.Each, func(one panel) bool { return one.Baseline })
	if base >= 0 && len(p.Each) > 1 {
		v.Keys = append(v.Keys, key{"faint dashed", "median of " + p.Each[base].Name})
	}
	for i, one := range p.Each {
		plot := plotView{
			Title: one.Name, Label: p.Title + ": " + one.Name, Height: panelHeight, ViewBox: fmt.Sprintf("0 0 %d %d", figureWidth, panelHeight),
			Rows: rows, Below: fewer(chart.TimeTicks(p.End)),
			Paths: []path{{"c1 area", p.band(one)}},
		}
		if base >= 0 && i != base {
			plot.Paths = append(plot.Paths, path{"faint dashed", p.line(p.Each[base].Median)})
		}
		plot.Paths = append(plot.Paths, path{"c1", p.line(one.Median)})
		v.Each = append(v.Each, plot)
	}
	return v
}

// fewer leaves every other label out of a narrow axis.
func fewer(ticks []chart.Tick) []chart.Tick {
	if len(ticks) <= 4 {
		return ticks
	}
	var kept []chart.Tick
	for i := 0; i < len(ticks); i += 2 {
		kept = append(kept, ticks[i])
	}
	for i := range kept {
		kept[i].Minor = false
	}
	return kept
}

// line draws values where there are some.
func (p *panels) line(values []float64) string {
	var b strings.Builder
	down := false
	for i, v := range values {
		if math.IsNaN(v) {
			down = false
			continue
		}
		b.WriteByte(map[bool]byte{false: 'M', true: 'L'}[down])
		fmt.Fprintf(&b, "%.0f %.1f", figureWidth*p.middle(i)/p.End, panelHeight*(1-p.Axis.Place(v)))
		down = true
	}
	return b.String()
}

// band draws the range of the runs, part by part.
func (p *panels) band(one panel) string {
	var b strings.Builder
	for from := 0; from < p.Parts; {
		if math.IsNaN(one.Low[from]) {
			from++
			continue
		}
		to := from
		for to < p.Parts && !math.IsNaN(one.Low[to]) {
			to++
		}
		p.bandPart(&b, one, from, to)
		from = to
	}
	return b.String()
}

// bandPart goes along the top and comes back along the bottom.
func (p *panels) bandPart(b *strings.Builder, one panel, from, to int) {
	place := func(letter byte, i int, v float64) {
		b.WriteByte(letter)
		fmt.Fprintf(b, "%.0f %.1f", figureWidth*p.middle(i)/p.End, panelHeight*(1-p.Axis.Place(v)))
	}
	for i := from; i < to; i++ {
		place("ML"[min(i-from, 1)], i, one.High[i])
	}
	for i := to - 1; i >= from; i-- {
		place('L', i, one.Low[i])
	}
	b.WriteByte('Z')
}

func (d *detail) view() detailView {
	v := detailView{Name: d.Name, Note: d.Note, Which: d.Which, Profiles: d.Profiles}
	for i, f := range d.Figures {
		plot := plotView{
			Title: f.Title, Help: f.Help, Keys: f.Keys, Label: f.Title + " of " + d.Name,
			Height: figureHeight, ViewBox: fmt.Sprintf("0 0 %d %d", figureWidth, figureHeight),
			Rows: f.Rows, Paths: f.Paths,
		}
		if i == len(d.Figures)-1 {
			plot.Below = d.Below
		}
		v.Plots = append(v.Plots, plot)
	}
	return v
}
