package page_test

import (
	"bytes"
	"html/template"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/page"
)

func TestPaths(t *testing.T) {
	nan := math.NaN()
	points := []page.Point{{X: 0, Y: 10}, {X: 5, Y: 20.25}, {X: 7, Y: nan}, {X: 9, Y: 1}}
	if got, want := page.Line(points), "M0.0 10.0L5.0 20.2M9.0 1.0"; got != want {
		t.Errorf("Line is %q, want %q", got, want)
	}
	if got, want := page.Area(points[:2], 90), "M0.0 10.0L5.0 20.2V90H0.0Z"; got != want {
		t.Errorf("Area is %q, want %q", got, want)
	}
	if got, want := page.Dots(append(points, page.Point{X: 0.2, Y: 9.8})), "M0 10h0M5 20h0M9 1h0"; got != want {
		t.Errorf("Dots is %q, want %q", got, want)
	}
}

func TestParts(t *testing.T) {
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

func TestClean(t *testing.T) {
	const text = "5 µs ± 1 ≥ 2\x1b[2J"
	if got := (page.Pen{}).Clean(text); !strings.HasPrefix(got, "5 us +- 1 > 2") || strings.Contains(got, "\x1b") {
		t.Errorf("in ASCII it is %q", got)
	}
	if got := (page.Pen{Colored: true}).Clean(text); !strings.HasPrefix(got, "5 µs ± 1 ≥ 2") || strings.Contains(got, "\x1b") {
		t.Errorf("in Unicode it is %q", got)
	}
}

// TestTemplates renders hostile texts in each shared template.
func TestTemplates(t *testing.T) {
	const hostile = "<script>alert(1)</script>"
	axis := chart.Linear(9.5, chart.TickText) // to 10
	tmpl := page.Template(template.FuncMap{}, `{{template "head" .}}{{template "facts" .Facts}}{{template "table" .Table}}`+
		`{{template "plot" .Figure}}{{template "strips" .Strips}}`)
	var b bytes.Buffer
	err := page.Write(&b, tmpl, struct {
		page.Sheet
		Table  page.Table
		Figure page.Figure
		Strips page.Strips
	}{
		page.Sheet{Title: hostile, Facts: []page.Fact{{Name: "fact", Text: hostile}}, CSS: page.CSS("")},
		page.Table{
			Columns: []page.Column{{Name: hostile}, {Name: "n", Number: true}},
			Rows:    [][]page.Cell{{{Text: hostile, Why: hostile}, {Text: "1", Sort: hostile}}}, Notes: []string{hostile},
		},
		page.Figure{Title: hostile, Height: 100, Rows: axis.Rows(), Spots: []page.Spot{{Text: hostile}}},
		page.Strips{Title: hostile, Help: hostile, Axis: axis, Rows: []page.Strip{{
			Name: hostile, Bars: []page.Range{{Class: "c1", From: 2, To: 5, Text: hostile}}, Dots: []page.Dot{{At: 5, Down: .5}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Contains(got, "<script") {
		t.Errorf("the page has a script: %s", got)
	}
	for _, want := range []string{`x="20.00%" width="30.00%"`, `cx="50.00%" cy="50.00%"`, `viewBox="0 0 1000 100"`, `aria-label="&lt;script`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
