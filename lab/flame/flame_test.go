package flame_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/pprof/profile"

	"github.com/weirhq/weir/lab/flame"
)

var update = flag.Bool("update", false, "write the golden files anew")

// made returns a CPU profile with the milliseconds of each stack. A stack lists
// its functions, callers first, separated by semicolons. A function after a +
// is inlined into the one before.
func made(stacks map[string]int64) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period:     1e6,
	}
	functions := map[string]*profile.Function{}
	function := func(name string) *profile.Function {
		f := functions[name]
		if f == nil {
			f = &profile.Function{ID: uint64(len(functions) + 1), Name: name}
			functions[name] = f
			p.Function = append(p.Function, f)
		}
		return f
	}
	for stack, ms := range stacks {
		s := &profile.Sample{Value: []int64{ms, ms * 1e6}}
		for place := range strings.SplitSeq(stack, ";") {
			l := &profile.Location{ID: uint64(len(p.Location) + 1)}
			for name := range strings.SplitSeq(place, "+") {
				l.Line = append([]profile.Line{{Function: function(name)}}, l.Line...)
			}
			p.Location = append(p.Location, l)
			s.Location = append([]*profile.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

var before = map[string]int64{
	"main.main;net/http.(*conn).serve;example.com/shop/door.(*Door).ServeHTTP;encoding/json.Marshal+encoding/json.(*encodeState).marshal": 400,
	"main.main;net/http.(*conn).serve;example.com/shop/door.(*Door).ServeHTTP;example.com/shop/door.parse;example.com/shop/door.parse":    100,
	"main.main;net/http.(*conn).serve;example.com/shop/door.(*Door).ServeHTTP":                                                            50,
	"main.main;net/http.(*conn).serve;syscall.Syscall":                                                                                    250,
	"runtime.gcBgMarkWorker;runtime.scanobject":                                                                                           199,
	"main.main;net/http.(*conn).serve;slices.SortFunc[go.shape.[]example.com/a/b.T,go.shape.struct { " +
		"example.com/x/y.z int }]": 100,
	"runtime.mstart;runtime.tiny": 1,
}

var after = map[string]int64{
	"main.main;net/http.(*conn).serve;example.com/shop/door.(*Door).ServeHTTP;example.com/shop/log.append":                             100,
	"main.main;net/http.(*conn).serve;example.com/shop/door.(*Door).ServeHTTP;example.com/shop/door.parse;example.com/shop/door.parse": 150,
	"main.main;net/http.(*conn).serve;example.com/shop/door.(*Door).ServeHTTP":                                                         51,
	"main.main;net/http.(*conn).serve;syscall.Syscall":                                                                                 250,
	"runtime.gcBgMarkWorker;runtime.scanobject":                                                                                        20,
}

func graph(t testing.TB, p *profile.Profile, kind string, per float64) *flame.Graph {
	t.Helper()
	g, err := flame.New(p, kind, per)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWriteSVGDrawsTheGraph(t *testing.T) {
	var got bytes.Buffer
	if err := graph(t, made(before), "cpu", 1000).WriteSVG(&got, `output=pipe & <GOGC>="10"`); err != nil {
		t.Fatal(err)
	}
	golden(t, "before.svg", got.Bytes())
	wellFormed(t, got.Bytes())
}

func TestWriteDiffSVGDrawsTheDifference(t *testing.T) {
	var got bytes.Buffer
	if err := flame.WriteDiffSVG(&got, graph(t, made(before), "", 1000), graph(t, made(after), "", 500),
		"weir against the first one"); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.svg", got.Bytes())
	wellFormed(t, got.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s, which -update writes anew (-want +got):\n%s", name, diff)
	}
}

func TestEmptyGraphsAreDrawn(t *testing.T) {
	none := graph(t, made(nil), "", 0)
	for name, write := range map[string]func(io.Writer) error{
		"one":  func(w io.Writer) error { return none.WriteSVG(w, "nothing") },
		"diff": func(w io.Writer) error { return flame.WriteDiffSVG(w, none, none, "nothing") },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, got.Bytes())
		if !strings.Contains(got.String(), "This profile is empty.") {
			t.Errorf("%s of nothing does not say so: %s", name, &got)
		}
	}
	if rows := none.Top(0); len(rows) > 0 {
		t.Errorf("Top of nothing is %v", rows)
	}
}

// TestSmallBarsAreMentioned checks the note about bars that are too small to draw.
func TestSmallBarsAreMentioned(t *testing.T) {
	deep := made(map[string]int64{
		strings.Repeat("main.recurse;", 400) + "main.end": 1000,
		"main.small": 1,
	})
	var got bytes.Buffer
	if err := graph(t, deep, "", 0).WriteSVG(&got, "deep"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bars of less than 0.2%", "bars below 160 others"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

func TestDiffRefusesDifferentKinds(t *testing.T) {
	p := made(before)
	err := flame.WriteDiffSVG(io.Discard, graph(t, p, "cpu", 0), graph(t, p, "samples", 0), "")
	if want := "cpu in nanoseconds and samples in count"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want one with %q", err, want)
	}
}

func TestNewRefusesUnknownValues(t *testing.T) {
	if _, err := flame.New(made(before), "alloc_space", 0); err == nil ||
		!strings.Contains(err.Error(), `"alloc_space", but samples, cpu`) {
		t.Errorf("the error of another kind is %v", err)
	}
	if _, err := flame.New(&profile.Profile{}, "", 0); err == nil {
		t.Error("no error of a profile without values")
	}
}

var nearly = cmpopts.EquateApprox(1e-9, 0)

func TestTopListsTheLargestFunctions(t *testing.T) {
	g := graph(t, made(before), "cpu", 1000)
	if got := g.Text(g.Total()); got != "1.10 ms" {
		t.Errorf("Total is %s, want 1.10 ms", got)
	}
	got := g.Top(3)
	want := []flame.Row{
		{"encoding/json.(*encodeState).marshal", 400_000, 400_000, 400. / 1100, 400. / 1100},
		{"syscall.Syscall", 250_000, 250_000, 250. / 1100, 250. / 1100},
		{"runtime.scanobject", 199_000, 199_000, 199. / 1100, 199. / 1100},
	}
	if diff := cmp.Diff(want, got, nearly); diff != "" {
		t.Errorf("Top(3) (-want +got):\n%s", diff)
	}
	for _, r := range g.Top(0) {
		switch r.Function {
		case "example.com/shop/door.parse": // is recursive
			if r.Flat != 100_000 || r.Cumulative != 100_000 {
				t.Errorf("%s has %v, and %v with those it called; want 100000 twice", r.Function, r.Flat, r.Cumulative)
			}
		case "encoding/json.Marshal": // has another one inlined
			if r.Flat != 0 || r.Cumulative != 400_000 {
				t.Errorf("%s has %v, and %v with those it called; want 0 and 400000", r.Function, r.Flat, r.Cumulative)
			}
		}
	}
}

func TestDiffListsTheChanges(t *testing.T) {
	got := flame.Diff(graph(t, made(before), "", 1000), graph(t, made(after), "", 500), 4)
	var names []string
	for _, c := range got {
		names = append(names, fmt.Sprintf("%s %v to %v", c.Function, c.Base.Flat, c.New.Flat))
	}
	want := []string{
		"encoding/json.(*encodeState).marshal 400000 to 0",
		"syscall.Syscall 250000 to 500000",
		"example.com/shop/door.parse 100000 to 300000",
		"example.com/shop/log.append 0 to 200000",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
}

// TestFewSamplesAreNoChange checks that a difference of a few samples is not a change.
func TestFewSamplesAreNoChange(t *testing.T) {
	base := graph(t, made(map[string]int64{"same": 1000, "more": 1000, "few": 4}), "", 0)
	new := graph(t, made(map[string]int64{"same": 1060, "more": 1200, "few": 8, "one": 1}), "", 0)
	got := map[string]bool{}
	for _, c := range flame.Diff(base, new, 0) {
		got[c.Function] = c.Chance
	}
	if diff := cmp.Diff(map[string]bool{"same": true, "more": false, "few": true, "one": true}, got); diff != "" {
		t.Errorf("what may be chance (-want +got):\n%s", diff)
	}
}

func TestTextHasAReadableUnit(t *testing.T) {
	p := made(before)
	for _, c := range []struct {
		unit  string
		value float64
		want  string
	}{
		{"nanoseconds", 0, "0 ns"},
		{"nanoseconds", 0.25, "0.25 ns"},
		{"nanoseconds", 999, "999 ns"},
		{"nanoseconds", 999_999, "1.00 ms"},
		{"nanoseconds", 12_345, "12.3 µs"},
		{"nanoseconds", 83e9, "83 s"},
		{"bytes", 640, "640 B"},
		{"bytes", 5771, "5.64 KiB"},
		{"bytes", 3 << 30, "3 GiB"},
		{"count", 45, "45"},
		{"count", 68_123, "68.1 k"},
		{"lines", 7.125, "7.12 lines"},
	} {
		p.SampleType[1].Unit = c.unit
		if got := graph(t, p, "cpu", 0).Text(c.value); got != c.want {
			t.Errorf("Text(%v) in %s is %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

// A bar is a bar of a picture.
type bar struct{ left, top, width float64 }

// wellFormed parses the picture and checks that no bar is wider than the one
// above it, and that bars do not overlap.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	var rows = map[float64][]bar{}
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	depth := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v\n%s", err, svg)
		}
		switch element := token.(type) {
		case xml.StartElement:
			if depth++; element.Name.Local == "rect" {
				if b := barOf(t, element); b.top > 0 {
					rows[b.top] = append(rows[b.top], b)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%d elements are open at the end", depth)
	}
	for top, bars := range rows {
		at, last := 0.0, rows[top-18]
		for _, b := range bars {
			if b.left < at-1e-6 || b.left+b.width > 1200+1e-6 {
				t.Errorf("row %v: a bar from %v to %v, the one before ends at %v", top, b.left, b.left+b.width, at)
			}
			at = b.left + b.width
			for len(last) > 0 && last[0].left+last[0].width < at-1e-6 {
				last = last[1:]
			}
			if top > 46 && (len(last) == 0 || last[0].left > b.left+1e-6) {
				t.Errorf("row %v: a bar from %v to %v has none above it that is as wide", top, b.left, at)
			}
		}
	}
}

func barOf(t *testing.T, element xml.StartElement) (b bar) {
	for _, a := range element.Attr {
		to := map[string]*float64{"x": &b.left, "y": &b.top, "width": &b.width}[a.Name.Local]
		if to == nil {
			continue
		}
		var err error
		if *to, err = strconv.ParseFloat(a.Value, 64); err != nil || math.IsNaN(*to) {
			t.Errorf("%s=%q is no number", a.Name.Local, a.Value)
		}
	}
	return b
}

// FuzzFlame draws profiles of any shape and with any names: lines are stacks,
// words are functions, and the last word is the value.
func FuzzFlame(f *testing.F) {
	f.Add("a b 3\na c 4\n", "a b 1\nd 9\n")
	f.Add("7", "8") // without a function
	f.Add("<& \x00\xff\" 12345678\n", "")
	f.Add("a a a a 9223372036854775807\na 9223372036854775807", "a -5")
	f.Fuzz(func(t *testing.T, one, other string) {
		a, b := graph(t, madeOf(one), "", 0), graph(t, madeOf(other), "", 3)
		for _, write := range []func(io.Writer) error{
			func(w io.Writer) error { return a.WriteSVG(w, one) },
			func(w io.Writer) error { return flame.WriteDiffSVG(w, a, b, other) },
		} {
			var svg bytes.Buffer
			if err := write(&svg); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, svg.Bytes())
		}
		sum := 0.0
		for _, r := range a.Top(0) {
			sum += r.Flat
			if r.Cumulative < r.Flat*(1-1e-9) || r.CumShare > 1+1e-9 {
				t.Errorf("%+v of %v in all", r, a.Total())
			}
		}
		if math.Abs(sum-a.Total()) > 1e-9*a.Total() {
			t.Errorf("functions took %v together, want %v", sum, a.Total())
		}
		for _, c := range flame.Diff(a, b, 0) {
			if c.Base.Flat == 0 && c.New.Flat == 0 && c.Base.Cumulative == 0 && c.New.Cumulative == 0 {
				t.Errorf("a change of nothing: %+v", c)
			}
		}
	})
}

func madeOf(text string) *profile.Profile {
	p := made(nil)
	for line := range strings.Lines(text) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		value, err := strconv.ParseInt(words[len(words)-1], 10, 64)
		if err != nil {
			continue
		}
		s := &profile.Sample{Value: []int64{1, value}}
		for _, name := range words[:len(words)-1] {
			l := &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}}
			if name == "" {
				l = &profile.Location{Address: uint64(len(p.Sample))}
			}
			s.Location = append([]*profile.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// FuzzParsed draws everything that the profile package accepts.
func FuzzParsed(f *testing.F) {
	var small bytes.Buffer
	if err := made(after).WriteUncompressed(&small); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.ParseData(data)
		if err != nil {
			t.Skip()
		}
		g, err := flame.New(p, "", 0)
		if err != nil {
			t.Skip()
		}
		var svg bytes.Buffer
		if err := g.WriteSVG(&svg, "any"); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg.Bytes())
	})
}
