package page_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/page"
)

// drawing returns the only drawing of a figure of 100 by 100 with a curve.
func drawing(c page.Curve) page.Drawing {
	axis := page.Axis{Place: func(v float64) float64 { return v / 100 }}
	return page.Figure{Height: 100, X: axis, Y: axis, Charts: []page.Chart{{Curves: []page.Curve{c}}}}.Drawings()[0]
}

func TestPathsFollowTheirPoints(t *testing.T) {
	points := []page.Point{{X: 0, Y: 90}, {X: 50, Y: 79.75}, {X: 70, Y: math.NaN()}, {X: 90, Y: 99}}
	for _, c := range []struct {
		name  string
		curve page.Curve
		want  string
	}{
		{"line", page.Curve{Shape: page.Line, Points: points}, "M0.0 10.0L500.0 20.2M900.0 1.0h8"},
		{"area", page.Curve{Shape: page.Area, Points: points[:3]}, "M0.0 10.0L500.0 20.2V100H0.0Z"},
		{"band", page.Curve{Shape: page.Area, Points: points[:2], Low: []float64{5, 10}},
			"M0.0 10.0L500.0 20.2L500.0 90.0L0.0 95.0Z"},
		{"dots", page.Curve{Shape: page.Dotted, Points: append(points, page.Point{X: .04, Y: 90.2})},
			"M0 10h0M500 20h0M900 1h0"},
	} {
		if got := drawing(c.curve).Path(c.curve); got != c.want {
			t.Errorf("the path of the %s is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSidesFollowTheBar(t *testing.T) {
	d := drawing(page.Curve{})
	for _, c := range []struct {
		bar  page.Bar
		want page.Sides
	}{
		{page.Bar{From: 20, To: 50, Low: 10, High: 30}, page.Sides{Left: 20, Top: 70, Width: 30, Height: 20}},
		{page.Bar{From: 20, To: 50}, page.Sides{Left: 20, Width: 30, Height: 100}},
	} {
		if got := d.Sides(c.bar); got != c.want {
			t.Errorf("the sides of %+v are %+v, want %+v", c.bar, got, c.want)
		}
	}
}

func TestLabelsFollowTheAxis(t *testing.T) {
	for _, c := range []struct {
		name string
		axis page.Axis
		want string
	}{
		{"linear", page.Linear(9.5, page.TickText), "0 start at 0.00, 2 middle at 20.00, 4 middle at 40.00, 6 middle at 60.00, " +
			"8 middle at 80.00, 10 end at 100.00"},
		{"sparse", page.Linear(9.5, page.TickText).Sparse(4), "0 start at 0.00, 4 middle at 40.00, 8 middle at 80.00"},
		{"time", page.Time(90), "0 start at 0.00, 15 s middle at 16.67, 30 s middle at 33.33, 45 s middle at 50.00, " +
			"1:00 middle at 66.67, 1:15 middle at 83.33, 1:30 end at 100.00"},
		{"latencies", page.Latencies(10, 1e6, 8), "10 µs middle at 3.70, 100 µs middle at 22.22, 1 ms middle at 40.74, " +
			"10 ms middle at 59.26, 100 ms middle at 77.78, 1 s middle at 96.30"},
		{"none", page.Axis{}, ""},
	} {
		var got []string
		for _, l := range c.axis.Below() {
			got = append(got, l.Text+" "+l.Anchor+" at "+l.At.String())
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("the labels of the %s axis are\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

func TestPartsSplitLongNames(t *testing.T) {
	for name, want := range map[string][]string{
		"BenchmarkX/case/n": {"Benchmark", "X/", "case/", "n"},
		"bytes/s":           {"bytes/", "s"},
		"/response":         {"/response"},
		"":                  {""},
	} {
		if got := (page.Column{Name: name}).Parts(); !slices.Equal(got, want) {
			t.Errorf("the parts of %q are %q, want %q", name, got, want)
		}
	}
}

func TestCleanRemovesControls(t *testing.T) {
	const text = "5 µs ± 1 ≥ 2\x1b[2J"
	if got := (page.Pen{}).Clean(text); !strings.HasPrefix(got, "5 us +- 1 > 2") || strings.Contains(got, "\x1b") {
		t.Errorf("in ASCII it is %q", got)
	}
	if got := (page.Pen{Colored: true}).Clean(text); !strings.HasPrefix(got, "5 µs ± 1 ≥ 2") || strings.Contains(got, "\x1b") {
		t.Errorf("in Unicode it is %q", got)
	}
}

const hostile = "<script>alert(1)</script>]]>&\x00\x1b"

// hostileFigures returns a figure of each layout with everything that one may have.
func hostileFigures() []page.Figure {
	axis := page.Linear(9.5, page.TickText) // to 10
	bar := page.Bar{Class: "c1", From: 2, To: 5, Low: 1, High: 2, Text: hostile}
	rows := page.Figure{
		Title: hostile, Of: hostile, Help: hostile, Note: hostile, Keys: []page.Key{{Class: "c1 area", Name: hostile}},
		X: axis, Y: axis, Height: 100, Rows: true, Charts: []page.Chart{{
			Name: hostile, Value: hostile, Bars: []page.Bar{bar}, Dots: []page.Dot{{X: 5, Y: 5, Text: hostile}},
			Curves: page.Filled("c2", []page.Point{{X: 1, Y: 1}, {X: 2, Y: 2}}, nil),
			Spots:  []page.Bar{{From: 5, To: 6, Text: hostile}},
		}},
	}
	panels := rows
	panels.Rows = false
	return []page.Figure{rows, panels}
}

// TestTemplatesEscapeHostileTexts renders hostile texts in each shared template.
func TestTemplatesEscapeHostileTexts(t *testing.T) {
	tmpl := page.Template(template.FuncMap{}, `{{template "head" .}}{{template "facts" .Facts}}{{template "table" .Table}}`+
		`{{range .Figures}}{{template "figure" .}}{{end}}`)
	var b bytes.Buffer
	err := page.Write(&b, tmpl, struct {
		page.Sheet
		Table   page.Table
		Figures []page.Figure
	}{
		page.NewSheet(hostile, []page.Fact{{Name: "fact", Text: hostile}}, "", ""),
		page.Table{
			Columns: []page.Column{{Name: hostile}, {Name: "n", Number: true}},
			Rows:    [][]page.Cell{{{Text: hostile, Why: hostile}, {Text: "1", Sort: hostile}}}, Notes: []string{hostile},
		},
		hostileFigures(),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Contains(got, "<script") {
		t.Errorf("the page has a script: %s", got)
	}
	for _, want := range []string{`x="20.00%" width="30.00%" y="80.00%" height="10.00%"`, `cx="50.00%" cy="50.00%"`,
		`viewBox="0 0 1000 100"`, `aria-label="&lt;script`, `role="img"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestPictureIsPlainXML checks that the file of a figure is XML, and that programs without
// variables in CSS can read it.
func TestPictureIsPlainXML(t *testing.T) {
	for _, f := range hostileFigures() {
		var b bytes.Buffer
		if err := f.Picture(&b); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if !strings.HasPrefix(got, "<svg ") || strings.Contains(got, "var(") || strings.Contains(got, "<script") {
			t.Errorf("the picture is not an SVG, or has variables or a script:\n%s", got)
		}
		elements := map[string]int{}
		d := xml.NewDecoder(&b)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the picture is not XML: %v\n%s", err, got)
			}
			if e, ok := token.(xml.StartElement); ok {
				elements[e.Name.Local]++
			}
		}
		for _, name := range []string{"title", "desc", "style", "text", "tspan", "path", "circle", "line"} {
			if elements[name] == 0 {
				t.Errorf("the picture has no <%s>", name)
			}
		}
	}
}
