package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/bench/proxy"
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
)

// scaleDoors are the doors whose cost is measured by a number.
var scaleDoors = []string{proxy.Nginx, proxy.Weir, proxy.WeirOne}

// A scale is a sequence of works that differ in a number.
type scale struct {
	name  string // of its number
	of    func(n int) proxy.Work
	cells []scaleCell
}

type scaleCell struct {
	n    int
	rows []doorRow // of scaleDoors
}

func scales() []scale {
	return []scale{
		{name: "connections", cells: cellsOf(1, 10, 100, 1000, 4000),
			of: func(n int) proxy.Work { return proxy.Work{Connections: n, Log: proxy.ToFile, Long: true} }},
		{name: "routes", cells: cellsOf(1, 10, 100, 1000, 10000),
			of: func(n int) proxy.Work { return proxy.Work{Connections: 64, Routes: n, Log: proxy.ToFile, Long: true} }},
	}
}

func cellsOf(numbers ...int) (cells []scaleCell) {
	for _, n := range numbers {
		cell := scaleCell{n: n}
		for _, d := range proxy.Doors {
			if slices.Contains(scaleDoors, d.Name) {
				cell.rows = append(cell.rows, doorRow{Door: d})
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

// compareScale measures the doors by the number of connections and of routes, pass by pass.
func compareScale(ctx context.Context, w io.Writer, s settings) (_ []fmt.Stringer, err error) {
	all := slices.DeleteFunc(scales(), func(sc scale) bool { return !s.cases.MatchString(sc.name) })
	if len(all) == 0 {
		noneCalled(w, s)
		return nil, nil
	}
	bench, closeBench, err := openProxies(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBench()) }()
	s.passes, s.loadTime = cmp.Or(s.passes, proxyPasses), cmp.Or(s.loadTime, 3*time.Second)
	for pass := range s.passes {
		for i := range all {
			if err := all[i].run(ctx, bench, s, pass); err != nil {
				return nil, err
			}
		}
	}
	for _, sc := range all {
		if err := sc.write(w, s); err != nil {
			return nil, err
		}
	}
	if s.picture == "" {
		return nil, nil
	}
	return nil, drawScales(s.picture, all)
}

// run adds a pass to each cell.
func (sc scale) run(ctx context.Context, bench *proxy.Bench, s settings, pass int) error {
	for i := range sc.cells {
		cell := &sc.cells[i]
		work := sc.of(cell.n)
		work.Load = s.loadTime
		for k := range cell.rows {
			row := &cell.rows[(k+pass)%len(cell.rows)]
			cost, err := bench.Pass(ctx, row.Door, work)
			if err != nil {
				return fmt.Errorf("%s %s, %s, pass %d: %w", readable.Count(int64(cell.n)), sc.name, row.Name, pass+1, err)
			}
			row.costs = append(row.costs, cost)
			fmt.Fprintf(os.Stderr, "scale, pass %d of %d: %s %s, %s, %v of CPU per request\n", pass+1, s.passes, readable.Count(int64(cell.n)),
				sc.name, row.Name, cost.CPU)
		}
	}
	return nil
}

// write writes a line for each number, with the medians and the ratios to nginx.
func (sc scale) write(w io.Writer, s settings) error {
	fmt.Fprintf(w, "\nscale: CPU us of a long request by the number of %s, log to a file, %s, %d passes by turns\n", sc.name,
		s.loadTime, s.passes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, sc.name+"\t")
	for _, r := range sc.cells[0].rows {
		fmt.Fprintf(t, "%s\tspread\t", r.Name)
		if r.Name != proxy.Nginx {
			fmt.Fprint(t, "to nginx\t")
		}
	}
	fmt.Fprintln(t)
	for _, cell := range sc.cells {
		fmt.Fprintf(t, "%s\t", readable.Count(int64(cell.n)))
		nginx := find(cell.rows, proxy.Nginx)
		for _, r := range cell.rows {
			fmt.Fprintf(t, "%.1f\t%s\t", r.cpu().Median(), r.cpu().Spread())
			if r.Name != proxy.Nginx {
				fmt.Fprintf(t, "%s\t", ratioCell(&r, nginx))
			}
		}
		fmt.Fprintln(t)
	}
	return measure.EndTable(t, w)
}

// drawScales writes a picture with a panel for each scale.
func drawScales(file string, all []scale) error {
	f := page.Figure{Title: "CPU time of a proxied request", Height: 200,
		Help: "Medians in microseconds, by the number of connections or routes. Less is better.",
		X:    decades(4)}
	classes := []string{"c1", "c2", "c3"}
	for i, name := range scaleDoors {
		f.Keys = append(f.Keys, page.Key{Class: classes[i], Name: name})
	}
	most := 0.0
	for _, sc := range all {
		chart := page.Chart{Name: sc.name}
		for i, name := range scaleDoors {
			curve := page.Curve{Class: classes[i], Shape: page.Line, Text: name}
			for _, cell := range sc.cells {
				cpu := find(cell.rows, name).cpu().Median()
				most = max(most, cpu)
				curve.Points = append(curve.Points, page.Point{X: math.Log10(float64(cell.n)), Y: cpu})
			}
			chart.Curves = append(chart.Curves, curve)
		}
		f.Charts = append(f.Charts, chart)
	}
	f.Y = page.Linear(most, func(us float64) string { return page.TickText(us) + " us" })
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(f.Picture(out), out.Close())
}

// decades is an axis of the logarithm to base 10, from 0 to most.
func decades(most int) page.Axis {
	ticks := make([]float64, most+1)
	for i := range ticks {
		ticks[i] = float64(i)
	}
	return page.Axis{Place: func(v float64) float64 { return v / float64(most) }, Ticks: ticks,
		Text: func(v float64) string { return readable.Count(int64(math.Pow(10, v))) }}
}
