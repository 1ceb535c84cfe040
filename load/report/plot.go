package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
)

// The terminal's plot.
const (
	plotRows  = 12
	axisWidth = 9 // width of its labels
)

// curveColors and curveMarks distinguish the curves of a plot.
var (
	curveColors = []page.Color{page.Cyan, page.Magenta}
	curveMarks  = []rune{'*', 'o'}
)

// percentilePlot draws latency over 1/(1-q). Both axes are logarithmic, so each
// additional nine takes the same width.
func (p *screen) percentilePlot(ds []distribution) {
	width := min(p.Width-len(indent)-axisWidth-3, 120)
	limit := plotLimit(ds[0].all())
	grid := newGrid(width, plotRows, p.Colored)
	curves := make([][]page.Point, len(ds))
	low, high := math.Inf(1), 0.0
	for i := range ds {
		curves[i] = ds[i].curve(grid.columns(), limit)
		low, high = min(low, curves[i][0].Y), max(high, curves[i][len(curves[i])-1].Y)
	}
	axis := page.Latencies(low, high, plotRows/2)
	for i := len(curves) - 1; i >= 0; i-- { // the first is on top
		for x, point := range curves[i] {
			grid.reach(i, x, axis.Place(point.Y))
		}
	}
	p.Println("")
	p.Println(p.Paint(page.Bold, "Latency by percentile") + p.legend(ds))
	p.grid(grid, axis)
	p.Println(p.Paint(page.Dim, p.percentileAxis(width, limit)))
	if note := ds[0].note(); note != "" {
		p.Labelled(0, "", note, page.Dim)
	}
}

// plotLimit returns the end of the axis of 1/(1-q): the smallest power of ten
// that is at least the number of samples.
func plotLimit(samples int64) float64 {
	return math.Pow(10, max(1, math.Ceil(math.Log10(float64(samples))-1e-9)))
}

func (p *screen) legend(ds []distribution) string {
	legend := ""
	for i, d := range ds {
		mark := "━━"
		if !p.Colored {
			mark = string(curveMarks[i])
		}
		legend += "   " + p.Paint(curveColors[i], mark) + " " + d.from
	}
	return legend
}

// grid writes the rows of a plot with its logarithmic ticks at their left.
func (p *screen) grid(g *grid, axis page.Axis) {
	labels := map[int]string{}
	for _, t := range axis.Ticks {
		labels[int(math.Round((1-axis.Place(t))*float64(plotRows-1)))] = page.TickSpan(t)
	}
	line, tick := "│", "┤"
	if !p.Colored {
		line, tick = "|", "+"
	}
	for y := range plotRows {
		label, mark := labels[y], line
		if label != "" {
			mark = tick
		}
		p.Println(p.Paint(page.Dim, fmt.Sprintf("%*s %s", axisWidth, p.Clean(label), mark)) + g.row(y, p.Pen))
	}
}

// percentileAxis returns the line of labels below a plot of that width. If
// there is too little room, it only has every second, third or later label.
func (p *screen) percentileAxis(width int, limit float64) string {
	line := []rune(strings.Repeat(" ", axisWidth+2+width))
	nines := int(math.Round(math.Log10(limit)))
	room := len(quantileText(limit)) + 2
	for i := 0; i <= nines; i += (room*nines + width - 1) / width {
		label := []rune(quantileText(math.Pow(10, float64(i))))
		at := axisWidth + 2 + i*(width-1)/nines - len(label)/2
		copy(line[min(max(at, axisWidth+2), len(line)-len(label)):], label)
	}
	return string(line)
}

// A grid is a drawing in characters of two by four dots, or of one.
type grid struct {
	width, height int
	dotsX, dotsY  int // per character
	dots          [][]rune
	curve         [][]int // the last one drawn, plus 1
	last          map[int][2]int
}

func newGrid(width, height int, braille bool) *grid {
	g := &grid{width: width, height: height, dotsX: 1, dotsY: 1, last: map[int][2]int{}}
	if braille {
		g.dotsX, g.dotsY = 2, 4
	}
	for range height {
		g.dots = append(g.dots, make([]rune, width))
		g.curve = append(g.curve, make([]int, width))
	}
	return g
}

// columns returns the number of dots in a row.
func (g *grid) columns() int { return g.width * g.dotsX }

// reach continues a curve to column x and a height from 0 to 1.
func (g *grid) reach(curve, x int, height float64) {
	rows := g.height * g.dotsY
	y := int(math.Round((1 - min(max(height, 0), 1)) * float64(rows-1)))
	from := y
	if last, ok := g.last[curve]; ok {
		from = last[1]
	}
	g.last[curve] = [2]int{x, y}
	if from > y {
		from = max(y, from-1)
	} else if from < y {
		from++
	}
	for row := min(from, y); row <= max(from, y); row++ {
		g.dot(curve, x, row)
	}
}

// brailleDots are the bits of Unicode's braille patterns, by row and column.
var brailleDots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (g *grid) dot(curve, x, y int) {
	row, column := y/g.dotsY, x/g.dotsX
	g.dots[row][column] |= brailleDots[y%g.dotsY][x%g.dotsX]
	g.curve[row][column] = curve + 1
}

// row returns a row of characters.
func (g *grid) row(y int, p page.Pen) string {
	var b, run strings.Builder
	flush := func(curve int) {
		b.WriteString(p.Paint(curveColors[max(curve, 0)], run.String()))
		run.Reset()
	}
	cells := g.dots[y]
	for len(cells) > 0 && cells[len(cells)-1] == 0 {
		cells = cells[:len(cells)-1]
	}
	last := -1
	for x, dots := range cells {
		curve := g.curve[y][x] - 1
		if curve >= 0 && curve != last {
			flush(last)
			last = curve
		}
		switch {
		case dots == 0:
			run.WriteByte(' ')
		case p.Colored:
			run.WriteRune(0x2800 + dots)
		default:
			run.WriteRune(curveMarks[curve])
		}
	}
	flush(last)
	return b.String()
}

// maxBars is the number of bars of a histogram.
const maxBars = 16

// histogram draws the distribution of the latency.
func (p *screen) histogram(d *distribution) {
	bins := d.bins(maxBars)
	all, most := d.all(), d.NeverAnswered
	for _, b := range bins {
		most = max(most, b.count)
	}
	p.Println("")
	p.Println(p.Paint(page.Bold, "Distribution of the latency "+d.from))
	width := min(p.Width-len(indent)-24-26, 80)
	draw := func(label string, c page.Color, n int64) {
		bar := bar(p.Pen, float64(n)/float64(most), width)
		pad := strings.Repeat(" ", width-len([]rune(bar)))
		p.Println(p.Paint(page.Dim, label) + "  " + p.Paint(c, bar) + pad +
			fmt.Sprintf("%9s %14s", readable.Share(n, all), readable.Count(n)))
	}
	for _, b := range bins {
		draw(p.Clean(fmt.Sprintf("%9s to %-9s", page.TickSpan(b.from), page.TickSpan(b.to))), page.Cyan, b.count)
	}
	if d.NeverAnswered > 0 {
		draw(fmt.Sprintf("%-22s", "       never answered"), page.Red, d.NeverAnswered)
	}
}

// quantileText names the quantile at 1/(1-q) = x, a power of ten: 0%, 90%,
// 99.9%.
func quantileText(x float64) string {
	nines := int(math.Round(math.Log10(x)))
	switch nines {
	case 0:
		return "0%"
	case 1:
		return "90%"
	case 2:
		return "99%"
	}
	return fmt.Sprintf("99.%s%%", strings.Repeat("9", nines-2))
}
