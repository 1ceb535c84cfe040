package flame_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/google/pprof/profile"

	"github.com/weirhq/weir/lab/flame"
)

// A CPU profile of two stacks: main called parse, which called alloc once.
func ExampleNew() {
	locations := map[string]*profile.Location{}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	for i, name := range []string{"main.main", "app.parse", "app.alloc"} {
		f := &profile.Function{ID: uint64(i + 1), Name: name}
		l := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f}}}
		p.Function, p.Location, locations[name] = append(p.Function, f), append(p.Location, l), l
	}
	p.Sample = []*profile.Sample{
		{Location: []*profile.Location{locations["app.parse"], locations["main.main"]}, Value: []int64{30_000_000}},
		{Location: []*profile.Location{locations["app.alloc"], locations["app.parse"], locations["main.main"]},
			Value: []int64{10_000_000}},
	}
	g, err := flame.New(p, "cpu", 0)
	if err != nil {
		panic(err)
	}
	fmt.Println("total", g.Text(g.Total()))
	for _, row := range g.Top(2) {
		fmt.Println(row.Function, g.Text(row.Flat), "itself,", g.Text(row.Cumulative), "with calls")
	}
	var svg bytes.Buffer
	if err := g.WriteSVG(&svg, "CPU"); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout, bytes.Count(svg.Bytes(), []byte("<g ")), "bars")
	// Output:
	// total 40 ms
	// app.parse 30 ms itself, 40 ms with calls
	// app.alloc 10 ms itself, 10 ms with calls
	// 4 bars
}
