package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A chart is a picture in SVG, which page.html draws: its lines in a box of
// chartWidth by chartHeight that is stretched to the width of the page, its
// labels beside that box, so that they keep their size.
type chart struct {
	Title string
	Help  string // how to read it
	Note  string // what was merged, if anything was
	Keys  []key
	Rows  []tick // beside the box, at a height from its top
	Below []tick // at a share of the width in percent
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

// A percent of a length is written with two decimals, which a pixel never needs,
// and stays within 0 and 100.
type percent float64

func (p percent) String() string {
	if !(p > 0) { // NaN too
		p = 0
	}
	return strconv.FormatFloat(min(float64(p), 100), 'f', 2, 64)
}

// A tick is a label of an axis.
type tick struct {
	At     percent
	Text   string
	Anchor string // of the text: start, middle or end
	Minor  bool   // left out where there is little room
}

// anchored keeps the labels below a chart within its width, and tells which to
// leave out where not all have room.
func anchored(ticks []tick) []tick {
	for i := range ticks {
		t := &ticks[i]
		switch {
		case t.At < 3:
			t.Anchor = "start"
		case t.At > 97:
			t.Anchor = "end"
		default:
			t.Anchor = "middle"
		}
		t.Minor = len(ticks) > 4 && i%2 == 1
	}
	return ticks
}

// A path is what the d of SVG's path element is.
type path struct{ Class, D string }

// A box is a bar of a histogram, of the chart.
type box struct{ X, Y, Width, Height percent }

// A spot is a part of the width that tells its values.
type spot struct {
	X, Width percent
	Text     string
}

// A valueAxis places values on a chart's height, from 0 at its bottom to 1.
type valueAxis struct {
	place func(float64) float64
	ticks []float64
	text  func(float64) string
}

func linearAxis(most float64, text func(float64) string) valueAxis {
	ticks := linearTicks(most*1.02, 5)
	top := ticks[len(ticks)-1]
	return valueAxis{func(v float64) float64 { return min(max(v/top, 0), 1) }, ticks, text}
}

// latencyAxis is logarithmic. What is not above 0 has no place on it.
func latencyAxis(low, high float64) valueAxis {
	a := newLogAxis(low, high, 8)
	return valueAxis{func(v float64) float64 {
		if v <= 0 {
			return math.NaN()
		}
		return a.place(v)
	}, a.ticks, tickSpan}
}

func (a valueAxis) rows() []tick {
	var rows []tick
	for _, t := range a.ticks {
		rows = append(rows, tick{At: percent(100 * (1 - a.place(t))), Text: a.text(t)})
	}
	return rows
}

// y is where v is from the top of a chart's box.
func (a valueAxis) y(v float64) float64 { return chartHeight * (1 - a.place(v)) }

// steps draws stretches of time as level lines, joined where they follow each
// other: nothing is known of what was between. Those without a place are left
// out.
func (a valueAxis) steps(stretches []stretch, end float64) string {
	var b strings.Builder
	until := math.Inf(-1) // where the line ends that is being drawn
	for _, s := range stretches {
		y := a.y(s.value)
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
func (a valueAxis) area(stretches []stretch, end float64) string {
	var b strings.Builder
	for _, s := range stretches {
		fmt.Fprintf(&b, "M%.1f %dV%.1fH%.1fV%dZ", chartWidth*s.from/end, chartHeight, a.y(s.value), chartWidth*s.to/end, chartHeight)
	}
	return b.String()
}
