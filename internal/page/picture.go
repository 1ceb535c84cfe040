package page

import (
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/weirhq/weir/internal/readable"
)

// Lengths in a picture, in pixels.
const (
	pictureMargin = 12
	pictureHead   = 60  // title and keys
	letterWidth   = 6.6 // at most, on average
	rowWidth      = 420 // of a chart
	panelWidth    = 220
	panelGap      = 68 // for the labels beside
	panelsAcross  = 3
	maxName       = 42 // characters
)

// A picture is a figure as a file.
type picture struct {
	*Figure
	Width, Height int
	CSS           template.CSS
	Places        []place
}

// A place is a drawing in a picture.
type place struct {
	Drawing
	Left, Top, Width int
	Labelled         bool // has the labels of the horizontal axis
}

// Picture writes the figure as an SVG file that needs no other file. It follows
// the reader's light or dark scheme. Its style has no variables, because programs
// other than browsers do not know them.
func (f Figure) Picture(w io.Writer) error {
	p := picture{Figure: &f, CSS: template.CSS(pictureStyle)}
	if f.Rows {
		p.rows()
	} else {
		p.panels()
	}
	return Write(w, pictureTemplate, p)
}

// rows places the charts below each other, with their names at the left and
// their values at the right.
func (p *picture) rows() {
	names, values := 0, 0
	for _, d := range p.Drawings() {
		d.Name = shortened(d.Name)
		names, values = max(names, len([]rune(d.Name))), max(values, len([]rune(d.Value)))
		p.Places = append(p.Places, place{Drawing: d, Width: rowWidth, Top: pictureHead + len(p.Places)*p.Figure.Height})
	}
	left := pictureMargin + int(letterWidth*float64(names)) + 10
	for i := range p.Places {
		p.Places[i].Left, p.Places[i].Labelled = left, i == len(p.Places)-1
	}
	p.Width = left + rowWidth + 10 + int(letterWidth*float64(values)) + pictureMargin
	p.Height = pictureHead + len(p.Places)*p.Figure.Height + 30
}

// panels places the charts side by side and in rows.
func (p *picture) panels() {
	tall := p.Figure.Height + 60
	for i, d := range p.Drawings() {
		d.Name = shortened(d.Name)
		p.Places = append(p.Places, place{Drawing: d, Width: panelWidth, Labelled: true,
			Left: panelGap + i%panelsAcross*(panelWidth+panelGap), Top: pictureHead + 20 + i/panelsAcross*tall})
	}
	across := min(len(p.Places), panelsAcross)
	p.Width = across*(panelWidth+panelGap) + pictureMargin
	p.Height = pictureHead + (len(p.Places)+panelsAcross-1)/panelsAcross*tall
}

// shortened returns a name in the room that a picture has for it.
func shortened(name string) string {
	return readable.Fit(readable.Visible(name), maxName)
}

// Sign returns the character that stands for the form of a key in a text.
func (k Key) Sign() string {
	switch {
	case strings.HasSuffix(k.Class, " dots"):
		return "●"
	case strings.HasSuffix(k.Class, " dashed"):
		return "╌"
	case strings.Contains(k.Class, " "):
		return "■"
	}
	return "━"
}

var pictureTemplate = Template(nil, pictureText+`{{- template "picture" .}}`)

// pictureStyle is the style of a picture on light and on dark screens.
var pictureStyle = func() string {
	light, dark, _ := strings.Cut(paletteCSS, "@media")
	return withoutVariables(light) + "@media (prefers-color-scheme: dark) {\n" + withoutVariables(dark) + "}\n"
}()

var variable = regexp.MustCompile(`(--[a-z0-9-]+): ([^;]+);`)

// withoutVariables returns the style of charts in the colours of a palette.
func withoutVariables(palette string) string {
	var values []string
	for _, m := range variable.FindAllStringSubmatch(palette, -1) {
		values = append(values, "var("+m[1]+")", m[2])
	}
	return strings.NewReplacer(values...).Replace(chartCSS)
}
