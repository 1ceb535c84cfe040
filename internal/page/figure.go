package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/chart"
)

// A Figure is a chart in SVG. Its lines fill a box of FigureWidth by Height that
// is stretched to the width of the page. Its labels are outside of the box, so
// they keep their size.
type Figure struct {
	Title  string
	Label  string // for screen readers, if it is not the title
	Help   string // how to read the chart
	Note   string // omissions and simplifications, if there are any
	Keys   []Key
	Height int
	Rows   []chart.Tick // left of the box
	Below  []chart.Tick
	Paths  []Path
	Boxes  []Box
	Spots  []Spot
}

// FigureWidth is the width of a figure's coordinates.
const FigureWidth = 1000

// ViewBox returns the attribute of the SVG element.
func (f Figure) ViewBox() string { return fmt.Sprintf("0 0 %d %d", FigureWidth, f.Height) }

// A Key explains a CSS class that the chart uses.
type Key struct{ Class, Name string }

// A Path is an SVG path element.
type Path struct{ Class, D string }

// A Box is a bar of a histogram.
type Box struct{ X, Y, Width, Height chart.Percent }

// A Spot is a part of the width with a tooltip.
type Spot struct {
	X, Width chart.Percent
	Text     string
}

// A Point has the coordinates of a figure: y is 0 at the top.
type Point struct{ X, Y float64 }

// Line returns the path through points, with a gap where Y is NaN.
func Line(points []Point) string {
	var b strings.Builder
	letter := byte('M')
	for _, p := range points {
		if math.IsNaN(p.Y) {
			letter = 'M'
			continue
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", letter, p.X, p.Y)
		letter = 'L'
	}
	return b.String()
}

// Area returns the path of the area from points, none of them NaN, down to a
// height.
func Area(points []Point, height int) string {
	if len(points) == 0 {
		return ""
	}
	return Line(points) + fmt.Sprintf("V%dH%.1fZ", height, points[0].X)
}

// Dots returns the path of a dot at each point, which is a line of length 0 with
// round ends. Points without Y are left out, and so are dots that would cover
// another.
func Dots(points []Point) string {
	type place struct{ x, y int }
	var b strings.Builder
	seen := map[place]bool{}
	for _, p := range points {
		if math.IsNaN(p.Y) {
			continue
		}
		if at := (place{int(math.Round(p.X)), int(math.Round(p.Y))}); !seen[at] {
			seen[at] = true
			fmt.Fprintf(&b, "M%d %dh0", at.x, at.y)
		}
	}
	return b.String()
}
