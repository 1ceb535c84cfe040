package page

import (
	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/vector"
)

// Strips is a chart with a row for each subject, all on one horizontal axis.
type Strips struct {
	File  string // name of its pictures, without extension
	Title string
	Help  string // how to read the chart
	Keys  []Key
	Axis  chart.Axis
	Rows  []Strip
}

// A Strip is a row of the chart.
type Strip struct {
	Name  string
	Value string // beside the strip
	Bars  []Range
	Lines []Range
	Dots  []Dot
	Marks []Dot
}

// A Range is a part of the axis.
type Range struct {
	Class    string
	From, To float64
	Text     string
}

// A Dot is a value. Down is its distance from the top of the strip, from 0 to 1.
type Dot struct {
	Class string
	At    float64
	Down  float64
	Text  string
}

// X returns the place of a value on the axis.
func (s Strips) X(v float64) chart.Percent { return chart.Percent(100 * s.Axis.Place(v)) }

// Width returns the width of a stretch on the axis.
func (s Strips) Width(b Range) chart.Percent { return s.X(b.To) - s.X(b.From) }

// Y returns the place of a dot in its strip.
func (d Dot) Y() chart.Percent { return chart.Percent(100 * d.Down) }

const stripHeight = 24

// Plot draws the chart for print.
func (s Strips) Plot() *vector.Picture {
	n := float64(len(s.Rows))
	const width = 640
	height := 90 + stripHeight*n
	p := vector.New(width, height)
	var names []label
	for i, row := range s.Rows {
		names = append(names, label{1 - (float64(i)+.5)/n, plotText(row.Name)})
	}
	p.Text(titleSize, vector.Point{X: width / 2, Y: 20}, vector.Center, s.Title)
	p.Text(titleSize, vector.Point{X: width / 2, Y: 36}, vector.Center, keysText(s.Keys))
	area := axes(p, rectangle{plotMargin, 46, width - plotMargin, height - plotMargin}, labels(s.Axis), names)
	for _, t := range s.Axis.Ticks {
		p.Line(ink("line"), .7, area.at(s.Axis.Place(t), 0), area.at(s.Axis.Place(t), 1))
	}
	for i, row := range s.Rows {
		row.plot(p, func(v float64) vector.Point { return area.at(s.Axis.Place(v), names[i].at) })
	}
	return p
}

func (s Strip) plot(p *vector.Picture, at func(float64) vector.Point) {
	const half = stripHeight * .36
	off := func(v, y float64) vector.Point { a := at(v); return vector.Point{X: a.X, Y: a.Y + y} }
	for _, b := range s.Bars {
		p.Polygon(faded(b.Class, 0xc0), off(b.From, -half), off(b.To, -half), off(b.To, half), off(b.From, half))
	}
	for _, l := range s.Lines {
		if l.Class == "thin" {
			p.Line(ink(l.Class), 1, at(l.From), at(l.To))
		} else {
			p.Line(faded(l.Class, 0x60), 9, at(l.From), at(l.To))
		}
	}
	for _, d := range s.Dots {
		p.Circle(faded(d.Class, 0xc0), off(d.At, half*(2*d.Down-1)), 2.4)
	}
	for _, m := range s.Marks {
		p.Line(ink(m.Class), 2, off(m.At, -half), off(m.At, half))
	}
}
