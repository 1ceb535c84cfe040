package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// pathWidth is the width of the coordinates of paths, which are stretched to the
// width of their chart.
const pathWidth = 1000

// ViewBox returns the attribute of the SVG element that holds the paths.
func (d Drawing) ViewBox() string { return fmt.Sprintf("0 0 %d %d", pathWidth, d.Height) }

// Path returns the SVG path of a curve.
func (d Drawing) Path(c Curve) string {
	points := d.points(c.Points)
	if c.Shape == Dotted {
		return dots(points)
	}
	var b strings.Builder
	for _, piece := range pieces(points) {
		from, to := piece[0], piece[1]
		b.WriteString(line(points[from:to]))
		switch {
		case c.Shape == Area && c.Low == nil:
			fmt.Fprintf(&b, "V%dH%.1fZ", d.Height, points[from].X)
		case c.Shape == Area:
			b.WriteString("L" + line(d.edge(c, from, to))[1:] + "Z")
		case to-from == 1:
			b.WriteString("h8") // one value: a mark
		}
	}
	return b.String()
}

// edge returns the lower edge of a part of an area, backwards.
func (d Drawing) edge(c Curve, from, to int) []Point {
	var low []Point
	for i := from; i < to; i++ {
		low = append(low, Point{c.Points[i].X, c.Low[i]})
	}
	slices.Reverse(low)
	return d.points(low)
}

// points returns the coordinates of points in the view box.
func (d Drawing) points(values []Point) []Point {
	placed := make([]Point, len(values))
	for i, p := range values {
		placed[i] = Point{pathWidth * d.X.place(p.X), float64(d.Height) * (1 - d.Y.place(p.Y))}
	}
	return placed
}

// pieces returns the ranges of indices of points without a gap, each up to but
// without its second index.
func pieces(points []Point) [][2]int {
	var all [][2]int
	for from := 0; from < len(points); from++ {
		to := from
		for to < len(points) && !math.IsNaN(points[to].Y) {
			to++
		}
		if to > from {
			all = append(all, [2]int{from, to})
		}
		from = to
	}
	return all
}

func line(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], p.X, p.Y)
	}
	return b.String()
}

// dots returns a dot at each point, which is a line of length 0 with round ends.
// Dots that would cover another are left out.
func dots(points []Point) string {
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
