package page

import (
	"math"
	"slices"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/vector"
)

// Panels is a chart of a value over time with a panel for each subject, all on
// the same axes.
type Panels struct {
	File  string // name of its pictures, without extension
	Title string
	Help  string // how to read the chart
	Axis  chart.Axis
	End   float64 // of the time axis, in seconds
	Parts int     // number of equal parts of the time axis
	Each  []Panel
}

// A Panel has the median and the range of several runs in each part of the time,
// or NaN where no run has a value.
type Panel struct {
	Name              string
	Baseline          bool
	Median, Low, High []float64
}

const panelHeight = 90

func (p Panels) baseline() int {
	if len(p.Each) < 2 {
		return -1
	}
	return slices.IndexFunc(p.Each, func(one Panel) bool { return one.Baseline })
}

// Keys explains the lines of all panels.
func (p Panels) Keys() []Key {
	keys := []Key{{"c1", "median of the runs"}, {"c1 area", "all runs"}}
	if base := p.baseline(); base >= 0 {
		keys = append(keys, Key{"faint dashed", "median of " + p.Each[base].Name})
	}
	return keys
}

// Figures returns the panels. The other panels also show the baseline's median.
func (p Panels) Figures() []Figure {
	rows := p.Axis.Rows()
	if len(rows) > 4 { // a panel is low
		for i := range rows {
			if i%2 == 1 {
				rows[i].Text = ""
			}
		}
	}
	base := p.baseline()
	var all []Figure
	for i, one := range p.Each {
		f := Figure{
			Title: one.Name, Label: p.Title + ": " + one.Name, Height: panelHeight,
			Rows: rows, Below: everySecond(chart.TimeTicks(p.End)),
			Paths: []Path{{"c1 area", p.band(one)}},
		}
		if base >= 0 && i != base {
			f.Paths = append(f.Paths, Path{"faint dashed", Line(p.points(p.Each[base].Median))})
		}
		f.Paths = append(f.Paths, Path{"c1", Line(p.points(one.Median))})
		all = append(all, f)
	}
	return all
}

// everySecond removes every other label if a narrow axis has too many.
func everySecond(ticks []chart.Tick) []chart.Tick {
	if len(ticks) <= 4 {
		return ticks
	}
	var kept []chart.Tick
	for i := 0; i < len(ticks); i += 2 {
		ticks[i].Minor = false
		kept = append(kept, ticks[i])
	}
	return kept
}

// x returns the middle of a part, from 0 to 1.
func (p Panels) x(part int) float64 { return (float64(part) + .5) / float64(p.Parts) }

func (p Panels) points(values []float64) []Point {
	points := make([]Point, len(values))
	for i, v := range values {
		points[i] = Point{FigureWidth * p.x(i), panelHeight * (1 - p.Axis.Place(v))}
	}
	return points
}

// band returns the path of the range of the runs: along the top of each piece,
// and back along its bottom.
func (p Panels) band(one Panel) string {
	high, low := p.points(one.High), p.points(one.Low)
	band := ""
	for _, piece := range pieces(one.Low) {
		bottom := slices.Clone(low[piece[0]:piece[1]])
		slices.Reverse(bottom)
		band += Line(slices.Concat(high[piece[0]:piece[1]], bottom)) + "Z"
	}
	return band
}

// pieces returns the ranges of indices of values that are not NaN, each up to but
// without its second index.
func pieces(values []float64) [][2]int {
	var all [][2]int
	for from := 0; from < len(values); from++ {
		to := from
		for to < len(values) && !math.IsNaN(values[to]) {
			to++
		}
		if to > from {
			all = append(all, [2]int{from, to})
		}
		from = to
	}
	return all
}

const (
	panelsBeside = 3
	panelWide    = 260
	panelTall    = 150
)

// Plot draws the panels for print, side by side and in rows.
func (p Panels) Plot() *vector.Picture {
	columns := min(len(p.Each), panelsBeside)
	rows := (len(p.Each) + columns - 1) / columns
	width := float64(panelWide * columns)
	picture := vector.New(width, float64(panelTall*rows+40))
	picture.Text(titleSize, vector.Point{X: width / 2, Y: 20}, vector.Center, p.Title+", median and range of the runs")
	for i, one := range p.Each {
		left, top := float64(panelWide*(i%columns))+plotMargin, 36+float64(panelTall*(i/columns))
		p.plot(picture, one, rectangle{left, top, left + panelWide - 3*plotMargin, top + panelTall - plotMargin})
	}
	return picture
}

func (p Panels) plot(picture *vector.Picture, one Panel, outer rectangle) {
	var times []label
	for _, t := range everySecond(chart.TimeTicks(p.End)) {
		times = append(times, label{float64(t.At) / 100, t.Text})
	}
	middle := (outer.left + outer.right) / 2
	picture.Text(10, vector.Point{X: middle, Y: outer.top + 10}, vector.Center, plotText(one.Name))
	outer.top += 18
	area := axes(picture, outer, times, labels(p.Axis))
	for _, t := range p.Axis.Ticks {
		picture.Line(ink("line"), .7, area.at(0, p.Axis.Place(t)), area.at(1, p.Axis.Place(t)))
	}
	at := func(part int, v float64) vector.Point { return area.at(p.x(part), p.Axis.Place(v)) }
	for _, piece := range pieces(one.Median) {
		var line, band []vector.Point
		for i := piece[0]; i < piece[1]; i++ {
			line, band = append(line, at(i, one.Median[i])), append(band, at(i, one.High[i]))
		}
		for i := piece[1] - 1; i >= piece[0]; i-- {
			band = append(band, at(i, one.Low[i]))
		}
		picture.Polygon(faded("c1", 0x40), band...)
		picture.Line(ink("c1"), 1.2, line...)
	}
}
