package page

import (
	"image/color"
	"strings"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/internal/vector"
)

const (
	plotMargin = 6  // around a plot
	titleSize  = 13 // of the font
	labelSize  = 9
)

// inks are the colours of base.css on a light screen.
var inks = map[string]color.NRGBA{
	"c1": {0x0a, 0x6a, 0xa1, 0xff}, "c2": {0xb4, 0x50, 0x0b, 0xff}, "c3": {0x6d, 0x3f, 0xc0, 0xff},
	"faint": {0x8b, 0x95, 0xa1, 0xff}, "thin": {0x8b, 0x95, 0xa1, 0xff}, "bad": {0xb3, 0x16, 0x1b, 0xff},
	"line": {0xdf, 0xe2, 0xe6, 0xff},
}

// ink returns the colour of the first word of a CSS class.
func ink(class string) color.NRGBA { return faded(class, 0xff) }

// faded returns the colour of the first word of a CSS class, with an opacity.
func faded(class string, alpha uint8) color.NRGBA {
	first, _, _ := strings.Cut(class, " ")
	c := inks[first]
	c.A = alpha
	return c
}

// keysText names the colours, because a plot has no room for a legend.
func keysText(keys []Key) string {
	colors := map[string]string{"c1": "blue", "c2": "orange", "c3": "violet", "faint": "grey", "bad": "red"}
	var parts []string
	for _, k := range keys {
		first, _, _ := strings.Cut(k.Class, " ")
		parts = append(parts, colors[first]+": "+k.Name)
	}
	return strings.Join(parts, ", ")
}

// plotText shortens a name to the room that a plot has for it.
func plotText(s string) string {
	const most = 42
	r := []rune(readable.Visible(s))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

// A label is a text at a place on an axis, from 0 to 1.
type label struct {
	at   float64
	text string
}

func labels(a chart.Axis) []label {
	var all []label
	for _, t := range a.Ticks {
		all = append(all, label{a.Place(t), a.Text(t)})
	}
	return all
}

type rectangle struct{ left, top, right, bottom float64 }

// at returns a point in the rectangle. x is 0 at the left and 1 at the right; y is 0 at
// the bottom and 1 at the top.
func (r rectangle) at(x, y float64) vector.Point {
	return vector.Point{X: r.left + x*(r.right-r.left), Y: r.bottom - y*(r.bottom-r.top)}
}

// axes draws two axes with their labels and returns the area between them.
func axes(p *vector.Picture, outer rectangle, below, beside []label) rectangle {
	const tick, gap = 4, 3
	area := outer
	for _, l := range beside {
		area.left = max(area.left, outer.left+vector.TextWidth(labelSize, l.text)+tick+gap)
	}
	area.bottom -= labelSize + tick + gap
	for _, l := range below {
		half := vector.TextWidth(labelSize, l.text) / 2
		if l.at > .9 {
			area.right = min(area.right, outer.right-half)
		}
	}
	faint := ink("faint")
	p.Line(faint, .5, area.at(0, 0), area.at(1, 0))
	p.Line(faint, .5, area.at(0, 0), area.at(0, 1))
	for _, l := range below {
		at := area.at(l.at, 0)
		p.Line(faint, .5, at, vector.Point{X: at.X, Y: at.Y + tick})
		p.Text(labelSize, vector.Point{X: at.X, Y: at.Y + tick + labelSize}, vector.Center, l.text)
	}
	for _, l := range beside {
		at := area.at(0, l.at)
		p.Line(faint, .5, at, vector.Point{X: at.X - tick, Y: at.Y})
		p.Text(labelSize, vector.Point{X: at.X - tick - gap, Y: at.Y + labelSize*.35}, vector.Right, l.text)
	}
	return area
}
