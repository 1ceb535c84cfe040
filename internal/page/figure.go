package page

import "slices"

// A Figure has charts with common axes: one chart, panels, or rows on one
// horizontal axis.
type Figure struct {
	File   string // name of its picture, without extension
	Title  string
	Of     string // the subject, for screen readers, if the title does not name it
	Help   string // how to read it
	Note   string // omissions and simplifications, if there are any
	Keys   []Key
	X, Y   Axis
	Height int // of a chart, in pixels
	Rows   bool
	Charts []Chart
}

// A Key explains a CSS class that the charts use: a colour, and a form if it is
// not a line.
type Key struct{ Class, Name string }

// A Chart draws values: bars, dots over them, and curves over both.
type Chart struct {
	Name   string // empty if the figure has one chart
	Value  string // beside a row
	Bars   []Bar
	Dots   []Dot
	Curves []Curve
	Spots  []Bar // invisible areas with tooltips
}

// A Bar is a rectangle with a tooltip. If Low and High are 0 it is as high as
// the chart.
type Bar struct {
	Class     string
	From, To  float64
	Low, High float64
	Text      string
}

// A Dot is a value with a tooltip.
type Dot struct {
	Class string
	X, Y  float64
	Big   bool
	Text  string
}

// A Point is a value without a tooltip.
type Point struct{ X, Y float64 }

// A Curve is drawn through points. A point whose Y has no place on the axis is a gap.
type Curve struct {
	Class  string
	Shape  Shape
	Points []Point
	Low    []float64 // lower edge of an area at each point; nil is the bottom of the chart
	Text   string    // tooltip
}

// A Shape is the form of a curve.
type Shape string

// The shapes. Each is also a CSS class.
const (
	Line   Shape = "line"
	Area   Shape = "area"
	Dotted Shape = "dots" // a dot at each point
)

// Filled returns an area with a line at its upper edge.
func Filled(class string, points []Point, low []float64) []Curve {
	return []Curve{{Class: class, Shape: Area, Points: points, Low: low}, {Class: class, Shape: Line, Points: points}}
}

// A Drawing is a chart with the figure that it belongs to. Its methods return
// places in percent of the width and the height, from the upper left corner.
type Drawing struct {
	*Figure
	Chart
}

// Drawings returns the charts of the figure.
func (f Figure) Drawings() []Drawing {
	all := make([]Drawing, len(f.Charts))
	for i, c := range f.Charts {
		all[i] = Drawing{&f, c}
	}
	return all
}

// HasSpots reports whether a chart has tooltips of areas.
func (f Figure) HasSpots() bool {
	return slices.ContainsFunc(f.Charts, func(c Chart) bool { return len(c.Spots) > 0 })
}

// Label describes the drawing to screen readers.
func (d Drawing) Label() string {
	label := d.Title
	for _, part := range []struct{ before, text string }{{" of ", d.Of}, {": ", d.Name}, {", ", d.Value}} {
		if part.text != "" {
			label += part.before + part.text
		}
	}
	return label
}

// Left returns the place of a value from the left.
func (d Drawing) Left(v float64) Percent { return Percent(100 * d.X.place(v)) }

// Top returns the place of a value from the top.
func (d Drawing) Top(v float64) Percent { return Percent(100 * (1 - d.Y.place(v))) }

// Sides are the place and the size of a bar.
type Sides struct{ Left, Top, Width, Height Percent }

// Sides returns the place of a bar.
func (d Drawing) Sides(b Bar) Sides {
	s := Sides{Left: d.Left(b.From), Width: d.Left(b.To) - d.Left(b.From), Height: 100}
	if b.Low != 0 || b.High != 0 {
		s.Top, s.Height = d.Top(b.High), d.Top(b.Low)-d.Top(b.High)
	}
	return s
}
