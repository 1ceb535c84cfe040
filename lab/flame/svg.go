package flame

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
)

// hues is the number of the classes h0 to h5.
const hues = 6

// style has only rules below .flame, because it applies to all of a page that
// contains the picture.
//
//go:embed style.css
var style string

// Sizes of the picture, in its own units. They are pixels if there is enough
// room.
const (
	width     = 1200.0
	rowHeight = 18.0
	head      = 46.0 // above the bars: title and total
	foot      = 22.0 // below the bars: a note

	narrowest = 2.4 // width of the narrowest bar that is drawn
	deepest   = 160 // largest number of rows
	charWidth = 6.7
)

// WriteSVG draws the flame graph.
func (g *Graph) WriteSVG(w io.Writer, title string) error {
	p := picture{
		title: title,
		about: fmt.Sprintf("%s in all: %s%s", g.kind, g.Text(g.Total()), g.perWords()),
		total: g.Total(),
		width: func(f pair) float64 { return f.new.value },
		class: func(f pair) string { return colorClass(f.new.name) },
		tip: func(f pair) string {
			text := fmt.Sprintf("%s (%s)", g.Text(f.new.value), percent(f.new.value/g.Total()))
			if f.new.self > 0 {
				text += fmt.Sprintf(", itself %s (%s)", g.Text(f.new.self), percent(f.new.self/g.Total()))
			}
			return text
		},
	}
	return p.write(w, pair{new: g.root})
}

func (g *Graph) perWords() string {
	if g.per == 1 {
		return ""
	}
	return " per request"
}

// WriteDiffSVG draws both graphs in one. The width of a bar is the mean of the
// two values. It is red where new has more than base, and blue where it has
// less. It is neither if the profiles have too few samples for a decision.
func WriteDiffSVG(w io.Writer, base, new *Graph, title string) error {
	if base.kind != new.kind || base.unit != new.unit {
		return fmt.Errorf("a difference of %s in %s and %s in %s: want the same kind", base.kind, base.unit, new.kind,
			new.unit)
	}
	p := picture{
		title: title,
		about: fmt.Sprintf("%s: %s before, %s now (%s)%s; red is more, blue is less, grey is within 5%% or chance; "+
			"the width of a bar is the mean of both",
			new.kind, base.Text(base.Total()), new.Text(new.Total()), change(base.Total(), new.Total()),
			new.perWords()),
		total: (base.Total() + new.Total()) / 2,
		width: func(f pair) float64 { b, n := f.values(); return (b + n) / 2 },
		class: func(f pair) string {
			b, n := f.values()
			if chance(base, new, b, n) {
				return "z"
			}
			return grew(b, n)
		},
		tip: func(f pair) string {
			b, n := f.values()
			return fmt.Sprintf("%s before, %s now (%s)", base.Text(b), new.Text(n), change(b, n))
		},
	}
	return p.write(w, pair{base: base.root, new: new.root})
}

// change formats a difference: "+12.5%", or "new" and "gone".
func change(base, new float64) string {
	switch {
	case base == new:
		return "the same"
	case base == 0:
		return "new"
	case new == 0:
		return "gone"
	}
	return fmt.Sprintf("%+.1f%%", 100*(new/base-1))
}

// grew returns the class of a bar with the values base and new.
func grew(base, new float64) string {
	ratio := (new - base) / (new + base) // -1 is gone, 1 is new
	class := "p"
	if ratio < 0 {
		class = "m"
	}
	switch size := math.Abs(ratio); {
	case size > 0.3:
		return class + "3"
	case size > 0.1:
		return class + "2"
	case size > 0.025:
		return class + "1"
	}
	return "z"
}

// colorClass returns the CSS class that sets the colour of a function. All
// functions of a package have the same one.
func colorClass(name string) string {
	switch pkg := packageOf(name); {
	case pkg == "all":
		return "z"
	case pkg == "runtime" || strings.HasPrefix(pkg, "runtime/") || strings.HasPrefix(pkg, "internal/runtime/"):
		return "r"
	default:
		h := fnv.New32a()
		io.WriteString(h, pkg)
		return fmt.Sprintf("h%d", h.Sum32()%hues)
	}
}

// A pair is a frame in two graphs. Either may be nil.
type pair struct{ base, new *frame }

func (f pair) name() string {
	if f.new != nil {
		return f.new.name
	}
	return f.base.name
}

func (f pair) values() (base, new float64) {
	if f.base != nil {
		base = f.base.value
	}
	if f.new != nil {
		new = f.new.value
	}
	return base, new
}

// called returns the frames that were called in either graph, by name.
func (f pair) called() []pair {
	if f.base == nil {
		all := make([]pair, 0, len(f.new.called))
		for _, c := range f.new.sorted() {
			all = append(all, pair{new: c})
		}
		return all
	}
	all := make([]pair, 0, len(f.base.called))
	for _, c := range f.base.sorted() {
		both := pair{base: c}
		if f.new != nil {
			both.new = f.new.called[c.name]
		}
		all = append(all, both)
	}
	if f.new == nil {
		return all
	}
	for _, c := range f.new.sorted() {
		if f.base.called[c.name] == nil {
			all = append(all, pair{new: c})
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return strings.Compare(a.name(), b.name()) })
	return all
}

// A picture is a flame graph while it is drawn.
type picture struct {
	title, about string
	total        float64
	width        func(pair) float64
	class, tip   func(pair) string

	bars           bytes.Buffer
	rows           int
	narrow, deeper bool // some bars were left out
}

func (p *picture) write(w io.Writer, root pair) error {
	if p.total > 0 {
		p.draw(root, 0, 0)
	}
	var out bytes.Buffer
	height := head + float64(p.rows)*rowHeight + foot
	out.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="flame" `)
	fmt.Fprintf(&out, `viewBox="0 0 %g %g" role="img" aria-label="%s">`+"\n", width, height, escaped(p.title))
	out.WriteString("<style>\n" + style + "</style>\n")
	fmt.Fprintf(&out, `<rect class="bg" width="%g" height="%g"/>`+"\n", width, height)
	fmt.Fprintf(&out, `<text class="t" x="4" y="17">%s</text>`+"\n", escaped(p.title))
	fmt.Fprintf(&out, `<text x="4" y="36">%s</text>`+"\n", escaped(p.about))
	p.bars.WriteTo(&out)
	if note := p.note(); note != "" {
		fmt.Fprintf(&out, `<text x="4" y="%g">%s</text>`+"\n", height-7, escaped(note))
	}
	out.WriteString("</svg>\n")
	_, err := out.WriteTo(w)
	return err
}

// note describes the bars that are left out.
func (p *picture) note() string {
	var not []string
	if p.narrow {
		not = append(not, fmt.Sprintf("bars of less than %s", percent(narrowest/width)))
	}
	if p.deeper {
		not = append(not, fmt.Sprintf("bars below %d others", deepest))
	}
	switch {
	case p.total <= 0:
		return "This profile is empty."
	case len(not) > 0:
		return "Not drawn: " + strings.Join(not, ", ") + "."
	}
	return ""
}

// draw draws a bar whose left edge is at from, and the bars below it.
func (p *picture) draw(f pair, from float64, row int) {
	wide := p.width(f) / p.total * width
	if wide < narrowest {
		p.narrow = true
		return
	}
	if row >= deepest {
		p.deeper = true
		return
	}
	p.rows = max(p.rows, row+1)
	// Edges are rounded, not widths, so that adjacent bars touch and do not
	// overlap.
	left, right := tenths(from), tenths(from+wide)
	top := head + float64(row)*rowHeight
	fmt.Fprintf(&p.bars, `<g class="%s"><title>%s&#10;%s</title><rect x="%g" y="%g" width="%g" height="%g"/>`,
		p.class(f), escaped(f.name()), escaped(p.tip(f)), left, top, tenths(right-left), rowHeight-1)
	if label := fitted(short(f.name()), right-left); label != "" {
		fmt.Fprintf(&p.bars, `<text x="%g" y="%g">%s</text>`, tenths(left+3), top+12.5, escaped(label))
	}
	p.bars.WriteString("</g>\n")
	for _, c := range f.called() {
		p.draw(c, from, row+1)
		from += p.width(c) / p.total * width
	}
}

func tenths(x float64) float64 { return math.Round(10*x) / 10 }

// fitted shortens a name to the width of a bar. It returns "" if only a few
// characters fit.
func fitted(name string, wide float64) string {
	room := int((wide - 6) / charWidth)
	letters := []rune(name)
	switch {
	case len(letters) <= room:
		return name
	case room < 4:
		return ""
	}
	return string(letters[:room-1]) + "…"
}

// escaped escapes a text for XML, including attributes.
func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}
