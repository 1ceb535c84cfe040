package router_test

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw docs/router-tree.svg anew")

const picture = "../docs/router-tree.svg"

// docsPatterns are the patterns of the tree in docs/router.md. docsRequest is the
// request whose path through the tree is drawn.
var docsPatterns = []string{
	"/{$}", "/census", "GET /datasets/{id:uuid}", "/datasets/{id}/editions", "/report-{id:int}.pdf", "GET /{year:int}",
	"/{topic}/datasets/{id...}", "/{topic...}/datalist", "/{path...}",
}

const docsRequest = "GET /datasets/prices/datalist"

// docs/router-tree.svg shows the steps of the code. To draw it again:
//
//	go test ./router -run Picture -update
func TestPictureIsCurrent(t *testing.T) {
	table := newTable(t, docsPatterns...)
	method, path, _ := strings.Cut(docsRequest, " ")
	root := rowsOf(table.String())
	w := walk{t: t, segments: strings.Split(path[1:], "/")}
	if found, want := w.below(root, 0), lookup(table, method, "", path, nil).Pattern; found != want {
		t.Fatalf("the drawn path leads to %q, a lookup to %q", found, want)
	}
	svg := w.draw(root)
	if *update {
		if err := os.WriteFile(picture, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(picture); err != nil || !bytes.Equal(old, svg) {
		t.Errorf("%s is not what the code does (%v): draw it with -update", picture, err)
	}
}

// A row is a line of the text of a tree.
type row struct {
	label, pattern string
	number, depth  int
	below          []*row
}

// rowsOf returns the first row of a tree with all others below it.
func rowsOf(tree string) *row {
	var way []*row // path to the last row
	number := 0
	for line := range strings.Lines(tree) {
		text := strings.TrimSpace(line)
		r := &row{number: number, depth: strings.Index(line, text) / 2}
		r.label, r.pattern, _ = strings.Cut(text, " -> ")
		if r.depth > 0 {
			way[r.depth-1].below = append(way[r.depth-1].below, r)
		}
		way = append(way[:r.depth], r)
		number++
	}
	return way[0]
}

func (r *row) each(visit func(*row)) {
	visit(r)
	for _, b := range r.below {
		b.each(visit)
	}
}

// A walk goes through a tree as the page describes a lookup: from top to bottom, row by
// row.
type walk struct {
	t        *testing.T
	segments []string
	steps    []step
}

// A step is the comparison of a row with a segment.
type step struct {
	row   *row
	at    int // index of the segment
	first int // the first segment that the wildcard has taken so far
	ok    bool
}

// below returns the pattern below r for the segments from at on, "" if there is none.
func (w *walk) below(r *row, at int) string {
	for _, b := range r.below {
		if b.label == "{...}/" {
			for end := at; end+1 < len(w.segments); end++ {
				w.steps = append(w.steps, step{b, end, at, true})
				if found := w.below(b, end+1); found != "" {
					return found
				}
			}
			continue
		}
		last := at+1 == len(w.segments)
		ok := b.label == "{...}" || w.fits(b, at) && (!last || b.pattern != "")
		w.steps = append(w.steps, step{b, at, at, ok})
		switch {
		case !ok:
		case last || b.label == "{...}":
			return b.pattern
		default:
			if found := w.below(b, at+1); found != "" {
				return found
			}
		}
	}
	return ""
}

// fits reports whether a row matches a segment.
func (w *walk) fits(r *row, at int) bool {
	if r.label == "{$}" {
		return w.segments[at] == ""
	}
	alone := newTable(w.t, "/"+strings.Replace(r.label, "{", "{x", 1))
	return lookup(alone, "GET", "", "/"+w.segments[at], nil).Found
}

// Coordinates in the picture.
const (
	rowTop, rowHeight       = 96, 32
	treeLeft, indent        = 24, 24
	gridLeft, columnWidth   = 300, 104
	patternLeft             = 640
	pictureWidth, boxHeight = 860, 24
	charWidth               = 7.9 // of the labels' font
)

func (r *row) y() int    { return rowTop + r.number*rowHeight }
func (r *row) x() int    { return treeLeft + r.depth*indent }
func columnX(at int) int { return gridLeft + at*columnWidth + columnWidth/2 }
func (s *step) x() int   { return columnX(s.at) }
func (s *step) word() string {
	if s.ok {
		return "matches"
	}
	return "does not match"
}

// draw returns the picture of the tree with the steps of the walk.
func (w *walk) draw(root *row) []byte {
	var b bytes.Buffer
	rows := 0
	root.each(func(*row) { rows++ })
	bottom := rowTop + rows*rowHeight
	fmt.Fprintf(&b, pictureHead, pictureWidth, bottom+52, html.EscapeString(docsRequest), w.words())
	w.drawGrid(&b, bottom)
	root.each(func(r *row) { drawRow(&b, r, w.onTheWay(r)) })
	w.drawWay(&b)
	fmt.Fprintf(&b, pictureFoot, bottom+22)
	return b.Bytes()
}

// words describes the walk for screen readers.
func (w *walk) words() string {
	var said []string
	for i, s := range w.steps {
		said = append(said, fmt.Sprintf("%d: %s %s %s", i+1, s.row.label, s.word(),
			strings.Join(w.segments[s.first:s.at+1], "/")))
	}
	return html.EscapeString(strings.Join(said, "; "))
}

func (w *walk) drawGrid(b *bytes.Buffer, bottom int) {
	fmt.Fprintf(b, "  <text class=\"dim\" x=\"%d\" y=\"40\">the tree, tried from top to bottom</text>\n", treeLeft)
	fmt.Fprintf(b, "  <text class=\"dim\" x=\"%d\" y=\"40\">the segments of %s</text>\n", gridLeft+8,
		html.EscapeString(docsRequest))
	fmt.Fprintf(b, "  <text class=\"dim\" x=\"%d\" y=\"40\">the pattern that ends here</text>\n", patternLeft)
	for i, s := range w.segments {
		fmt.Fprintf(b, "  <rect class=\"column\" x=\"%d\" y=\"52\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
			gridLeft+i*columnWidth+4, columnWidth-8, bottom-52-4)
		fmt.Fprintf(b, "  <text class=\"code name\" x=\"%d\" y=\"74\" text-anchor=\"middle\">%s</text>\n", columnX(i),
			html.EscapeString(s))
	}
}

// onTheWay reports whether a row is on the path to the result.
func (w *walk) onTheWay(r *row) bool {
	last, found := w.steps[len(w.steps)-1].row, false
	r.each(func(b *row) { found = found || b == last })
	return found && r.depth > 0
}

func drawRow(b *bytes.Buffer, r *row, found bool) {
	class := ""
	if found {
		class = " found"
	}
	for _, below := range r.below {
		fmt.Fprintf(b, "  <path class=\"edge\" d=\"M%d %dV%dH%d\"/>\n", r.x()+10, r.y()+boxHeight/2,
			below.y(), below.x())
	}
	fmt.Fprintf(b, "  <rect class=\"box%s\" x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%d\" rx=\"5\"/>\n",
		class, r.x(), r.y()-boxHeight/2, 16+charWidth*float64(len(r.label)), boxHeight)
	fmt.Fprintf(b, "  <text class=\"code\" x=\"%d\" y=\"%d\">%s</text>\n", r.x()+8, r.y()+5, html.EscapeString(r.label))
	if r.pattern != "" {
		if found {
			class = " name"
		}
		fmt.Fprintf(b, "  <text class=\"code%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, patternLeft, r.y()+5,
			html.EscapeString(r.pattern))
	}
}

func (w *walk) drawWay(b *bytes.Buffer) {
	for i := range w.steps[1:] {
		from, to := &w.steps[i], &w.steps[i+1]
		class := "on"
		switch {
		case to.at < from.at || to.row.number < from.row.number:
			class = "back"
		case !from.ok:
			class = "next"
		}
		fmt.Fprintf(b, "  <path class=\"%s\" d=\"M%d %dL%d %d\"/>\n", class, from.x(), from.row.y(), to.x(), to.row.y())
	}
	for i := range w.steps {
		s := &w.steps[i]
		class := "refused"
		switch {
		case i == len(w.steps)-1:
			class = "end"
		case s.ok:
			class = "taken"
		}
		fmt.Fprintf(b, "  <circle class=\"%s\" cx=\"%d\" cy=\"%d\" r=\"11\"/>\n", class, s.x(), s.row.y())
		fmt.Fprintf(b, "  <text class=\"number %s\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", class, s.x(),
			s.row.y()+4, i+1)
	}
}

const pictureHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t d" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="14">
  <title id="t">The path of %s through a tree of patterns</title>
  <desc id="d">%s.</desc>
  <style>
    text { fill: #1f2933 }
    .dim { fill: #62707f; font-size: 12px }
    .name { font-weight: 600 }
    .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 13px }
    .box { fill: #ffffff; stroke: #b8c2cc; stroke-width: 1.2 }
    .box.found { fill: #e3f1ea; stroke: #3f8a63; stroke-width: 1.6 }
    .column { fill: #eef2f6 }
    .edge { stroke: #b8c2cc; stroke-width: 1.2; fill: none }
    .on { stroke: #2f6fb2; stroke-width: 2.4; fill: none }
    .next { stroke: #98a5b3; stroke-width: 1.2; fill: none }
    .back { stroke: #b2672f; stroke-width: 2; fill: none; stroke-dasharray: 5 4 }
    circle.taken { fill: #2f6fb2 }
    circle.refused { fill: #ffffff; stroke: #b2672f; stroke-width: 1.6 }
    circle.end { fill: #2e7d54 }
    .number { font-size: 11px; fill: #ffffff; font-weight: 600 }
    .number.refused { fill: #8f4f1f }
    @media (prefers-color-scheme: dark) {
      text { fill: #e3e8ee }
      .dim { fill: #98a5b3 }
      .box { fill: #1d2630; stroke: #44515f }
      .box.found { fill: #1b3228; stroke: #5fa581 }
      .column { fill: #1d2630 }
      .edge { stroke: #55636f }
      .on { stroke: #6fa9e6 }
      .next { stroke: #6c7a88 }
      .back { stroke: #e09a62 }
      circle.taken { fill: #6fa9e6 }
      circle.refused { fill: #151c24; stroke: #e09a62 }
      circle.end { fill: #7cc7a0 }
      .number { fill: #10161d }
      .number.refused { fill: #e9b184 }
    }
  </style>
`

const pictureFoot = `  <g transform="translate(24 %d)">
    <circle class="taken" cx="8" cy="0" r="8"/>
    <text class="dim" x="24" y="4">matches the segment</text>
    <circle class="refused" cx="158" cy="0" r="8"/>
    <text class="dim" x="174" y="4">does not match</text>
    <path class="back" d="M262 0H302"/>
    <text class="dim" x="312" y="4">backtracking</text>
    <circle class="end" cx="416" cy="0" r="8"/>
    <text class="dim" x="432" y="4">matches, and a pattern ends here</text>
  </g>
</svg>
`
