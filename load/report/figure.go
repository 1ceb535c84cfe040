package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/chart"
)

// A figure is a chart in SVG, which page.html draws: its lines in a box of
// chartWidth by chartHeight that is stretched to the width of the page, its
// labels beside that box, so that they keep their size.
type figure struct {
	Title string
	Help  string // how to read it
	Note  string // what was merged, if anything was
	Keys  []key
	Rows  []chart.Tick // beside the box, at a height from its top
	Below []chart.Tick // at a share of the width in percent
	Lines []path
	Boxes []box
	Spots []spot
}

const (
	chartWidth  = 1000
	chartHeight = 180
)

// A key names a line by how it looks, which is its class in page.css.
type key struct{ Class, Name string }

// A path is what the d of SVG's path element is.
type path struct{ Class, D string }

// A box is a bar of a histogram, of the figure.
type box struct{ X, Y, Width, Height chart.Percent }

// A spot is a part of the width that tells its values.
type spot struct {
	X, Width chart.Percent
	Text     string
}

// height is where v is from the top of a chart's box.
func height(a chart.Axis, v float64) float64 { return chartHeight * (1 - a.Place(v)) }

// level draws stretches of time as level lines, joined where they follow each
// other: nothing is known of what was between. Those without a place are left
// out.
func level(a chart.Axis, stretches []stretch, end float64) string {
	var b strings.Builder
	until := math.Inf(-1) // where the line ends that is being drawn
	for _, s := range stretches {
		y := height(a, s.value)
		if math.IsNaN(y) {
			until = math.Inf(-1)
			continue
		}
		if math.Abs(s.from-until) < 1e-6 {
			fmt.Fprintf(&b, "V%.1f", y)
		} else {
			fmt.Fprintf(&b, "M%.1f %.1f", chartWidth*s.from/end, y)
		}
		fmt.Fprintf(&b, "H%.1f", chartWidth*s.to/end)
		until = s.to
	}
	return b.String()
}

// area draws the same stretches filled down to the axis.
func area(a chart.Axis, stretches []stretch, end float64) string {
	var b strings.Builder
	for _, s := range stretches {
		fmt.Fprintf(&b, "M%.1f %dV%.1fH%.1fV%dZ", chartWidth*s.from/end, chartHeight, height(a, s.value), chartWidth*s.to/end, chartHeight)
	}
	return b.String()
}
