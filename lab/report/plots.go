package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/readable"
)

// plots writes each chart as an SVG and as a PDF, for papers and slides. They
// are drawn from the same values and axes as the page's.
func (d *document) plots(dir string) error {
	for _, s := range d.strips {
		if err := writePlot(dir, s.File, s.size(), s.plot); err != nil {
			return err
		}
	}
	for i := range d.panels {
		p := &d.panels[i]
		if err := writePlot(dir, p.File, p.size(), p.plot); err != nil {
			return err
		}
	}
	return nil
}

// plotMargin is around each plot.
const plotMargin = 6

// writePlot draws twice, once for each form.
func writePlot(dir, name string, size vg.Point, paint func(draw.Canvas)) error {
	for ending, canvas := range map[string]vg.CanvasWriterTo{"svg": vgsvg.New(size.X, size.Y), "pdf": windows1252{vgpdf.New(size.X, size.Y)}} {
		c := draw.NewCanvas(canvas, size.X, size.Y)
		c.FillPolygon(color.White, []vg.Point{{}, {X: size.X}, size, {Y: size.Y}}) // for viewers in the dark
		paint(draw.Crop(c, plotMargin, -plotMargin, plotMargin, -plotMargin))
		var b bytes.Buffer
		if _, err := canvas.WriteTo(&b); err != nil {
			return fmt.Errorf("report: the plot %s as %s: %w", name, ending, err)
		}
		if err := writeFile(filepath.Join(dir, name+"."+ending), func(w io.Writer) error { _, err := b.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	return nil
}

// windows1252 is a canvas that writes text as vgpdf's fonts are encoded, which
// takes strings as they are. What they lack is a question mark.
type windows1252 struct{ *vgpdf.Canvas }

// FillString implements vg.Canvas.
func (c windows1252) FillString(f font.Face, at vg.Point, s string) {
	encoded := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			b = '?'
		}
		encoded = append(encoded, b)
	}
	c.Canvas.FillString(f, at, string(encoded))
}

// ink are the colours of page.css in the light.
var ink = map[string]color.NRGBA{
	"c1": {0x0a, 0x6a, 0xa1, 0xff}, "c2": {0xb4, 0x50, 0x0b, 0xff}, "c3": {0x6d, 0x3f, 0xc0, 0xff},
	"faint": {0x8b, 0x95, 0xa1, 0xff}, "thin": {0x8b, 0x95, 0xa1, 0xff}, "bad": {0xb3, 0x16, 0x1b, 0xff},
	"line": {0xdf, 0xe2, 0xe6, 0xff},
}

// inkOf is the colour of the first word of a class, faded to so much of 255.
func inkOf(class string, alpha uint8) color.Color {
	first, _, _ := strings.Cut(class, " ")
	c := ink[first]
	c.A = alpha
	return c
}

// sans is the font of all plots.
func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// newPlot returns a plot whose axes go from 0 to 1, where chart.Axis places
// values.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.TextStyle.Font = title, sans(13)
	p.Title.Padding = 6
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Min, axis.Max = 0, 1
		axis.Tick.Label.Font, axis.Label.TextStyle.Font = sans(9), sans(9)
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = ink["faint"], ink["faint"]
	}
	p.Legend.TextStyle.Font = sans(9)
	return p
}

// ticks are those of an axis from 0 to 1.
func ticks(a chart.Axis) plot.ConstantTicks {
	var ts plot.ConstantTicks
	for _, t := range a.Ticks {
		ts = append(ts, plot.Tick{Value: a.Place(t), Label: a.Text(t)})
	}
	return ts
}

// A painter paints into a plot's data area.
type painter func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (f painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

const stripHeight = 24

func (s strips) size() vg.Point {
	return vg.Point{X: 640, Y: vg.Length(90 + stripHeight*len(s.Rows))}
}

// plot draws the strips from top to bottom.
func (s strips) plot(c draw.Canvas) {
	p := newPlot(s.Title + keysText(s.Keys))
	p.X.Tick.Marker = ticks(s.Axis)
	var names plot.ConstantTicks
	for i, row := range s.Rows {
		names = append(names, plot.Tick{Value: s.middle(i), Label: plotText(row.Name)})
	}
	p.Y.Tick.Marker = names
	p.Y.Tick.LineStyle.Width = 0
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		at := func(v float64) vg.Length { return x(s.Axis.Place(v)) }
		for _, t := range s.Axis.Ticks {
			c.StrokeLine2(draw.LineStyle{Color: ink["line"], Width: .7}, at(t), y(0), at(t), y(1))
		}
		for i, row := range s.Rows {
			row.paint(c, at, y(s.middle(i)))
		}
	}))
	p.Draw(c)
}

// middle is where a strip is, from 0 at the bottom to 1.
func (s strips) middle(i int) float64 { return 1 - (float64(i)+.5)/float64(len(s.Rows)) }

func (s strip) paint(c draw.Canvas, at func(float64) vg.Length, y vg.Length) {
	const half = stripHeight * .36
	for _, b := range s.Bars {
		c.FillPolygon(inkOf(b.Class, 0xc0), []vg.Point{{X: at(b.From), Y: y - half}, {X: at(b.To), Y: y - half}, {X: at(b.To), Y: y + half}, {X: at(b.From), Y: y + half}})
	}
	for _, l := range s.Lines {
		style := draw.LineStyle{Color: inkOf(l.Class, 0x60), Width: 9}
		if l.Class == "thin" {
			style = draw.LineStyle{Color: inkOf(l.Class, 0xff), Width: 1}
		}
		c.StrokeLine2(style, at(l.From), y, at(l.To), y)
	}
	for _, d := range s.Dots {
		c.DrawGlyph(draw.GlyphStyle{Color: inkOf(d.Class, 0xc0), Radius: 2.4, Shape: draw.CircleGlyph{}}, vg.Point{X: at(d.At), Y: y + half*vg.Length(1-2*d.Down)})
	}
	for _, m := range s.Marks {
		c.StrokeLine2(draw.LineStyle{Color: inkOf(m.Class, 0xff), Width: 2}, at(m.At), y-half, at(m.At), y+half)
	}
}

// keysText names what the colours are, since a plot has no room for more.
func keysText(keys []key) string {
	colors := map[string]string{"c1": "blue", "c2": "orange", "c3": "violet", "faint": "grey", "bad": "red"}
	var parts []string
	for _, k := range keys {
		first, _, _ := strings.Cut(k.Class, " ")
		parts = append(parts, colors[first]+": "+k.Name)
	}
	return "\n" + strings.Join(parts, ", ")
}

// plotText is a name as a plot has room for it.
func plotText(s string) string {
	const most = 42
	r := []rune(readable.Visible(s))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

const (
	panelsBeside = 3
	panelWide    = 260
	panelTall    = 150
)

// grid is how many panels stand beside and below each other.
func (p *panels) grid() (columns, rows int) {
	columns = min(len(p.Each), panelsBeside)
	return columns, (len(p.Each) + columns - 1) / columns
}

func (p *panels) size() vg.Point {
	columns, rows := p.grid()
	return vg.Point{X: vg.Length(panelWide * columns), Y: vg.Length(panelTall*rows + 40)}
}

func (p *panels) plot(c draw.Canvas) {
	title := newPlot("").Title.TextStyle
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - 4}, p.Title+", median and range of the runs")
	columns, rows := p.grid()
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadTop: 34, PadX: 8, PadY: 8, PadLeft: 4, PadRight: 8, PadBottom: 4}
	for i, one := range p.Each {
		p.panelPlot(one).Draw(tiles.At(c, i%columns, i/columns))
	}
}

func (p *panels) panelPlot(one panel) *plot.Plot {
	q := newPlot(plotText(one.Name))
	q.Title.TextStyle.Font = sans(10)
	q.Y.Tick.Marker = ticks(p.Axis)
	var times plot.ConstantTicks
	for _, t := range fewer(chart.TimeTicks(p.End)) {
		times = append(times, plot.Tick{Value: float64(t.At) / 100, Label: t.Text})
	}
	q.X.Tick.Marker = times
	q.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, t := range p.Axis.Ticks {
			c.StrokeLine2(draw.LineStyle{Color: ink["line"], Width: .7}, x(0), y(p.Axis.Place(t)), x(1), y(p.Axis.Place(t)))
		}
		for _, piece := range pieces(one.Median) {
			var line, band []vg.Point
			for i := piece[0]; i < piece[1]; i++ {
				at := x(p.middle(i) / p.End)
				line = append(line, vg.Point{X: at, Y: y(p.Axis.Place(one.Median[i]))})
				band = append(band, vg.Point{X: at, Y: y(p.Axis.Place(one.High[i]))})
			}
			for i := piece[1] - 1; i >= piece[0]; i-- {
				band = append(band, vg.Point{X: x(p.middle(i) / p.End), Y: y(p.Axis.Place(one.Low[i]))})
			}
			c.FillPolygon(inkOf("c1", 0x40), band)
			c.StrokeLines(draw.LineStyle{Color: ink["c1"], Width: 1.2}, line)
		}
	}))
	return q
}

// pieces are the stretches of values, from and to before, that are not NaN.
func pieces(values []float64) [][2]int {
	var all [][2]int
	for from := 0; from < len(values); from++ {
		if math.IsNaN(values[from]) {
			continue
		}
		to := from
		for to < len(values) && !math.IsNaN(values[to]) {
			to++
		}
		all = append(all, [2]int{from, to})
		from = to
	}
	return all
}
