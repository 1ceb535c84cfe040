package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/bench/sinks"
)

// sinkCase is one table of the sinks.
type sinkCase struct {
	name   string
	result string // prefix of its RESULT lines
	target sinks.Target
	load   sinks.Load
}

var sinkCases = []sinkCase{
	{"sinks: to a file, requests without a pause", "sinks_file", sinks.File, sinks.Busy},
	{"sinks: to a file, 60,000 events a second", "sinks_file_paced", sinks.File, sinks.Paced},
	{"sinks: to a pipe, requests without a pause", "sinks_pipe", sinks.Pipe, sinks.Busy},
	{"sinks: to a pipe, 60,000 events a second", "sinks_pipe_paced", sinks.Pipe, sinks.Paced},
}

const sinkPasses = 5

// compareSinks runs all rows interleaved, each in a new process.
func compareSinks(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	built, err := os.MkdirTemp("", "weir-bench-tools-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(built)
	bench := &sinks.Bench{Tool: filepath.Join(built, "sinkrow"), Dir: s.dir}
	if err := goTool(ctx, "build", "-o", bench.Tool, "github.com/weirhq/weir/bench/cmd/sinkrow"); err != nil {
		return nil, err
	}
	passes := s.passes
	if passes == 0 {
		passes = sinkPasses
	}
	cases := slices.DeleteFunc(slices.Clone(sinkCases), func(c sinkCase) bool { return !s.cases.MatchString(c.name) })
	if len(cases) == 0 {
		noneCalled(w, s)
	}
	var results []fmt.Stringer
	for _, c := range cases {
		rows, err := runSinks(ctx, bench, c, passes, s.progress)
		if err != nil {
			return nil, err
		}
		title := fmt.Sprintf("%s: the three events of a proxied request, %d producers, %d passes by turns", c.name,
			sinks.Producers, passes)
		if err := writeSinks(w, title, rows); err != nil {
			return nil, err
		}
		results = append(results, judgeSinks(c.result, rows)...)
	}
	return results, nil
}

func runSinks(ctx context.Context, bench *sinks.Bench, c sinkCase, passes int, p *progress) ([]sinkRow, error) {
	defer p.done()
	rows := make([]sinkRow, len(sinks.Rows))
	for pass := range passes {
		for k := range rows {
			i := (k + pass) % len(rows)
			rows[i].Row = sinks.Rows[i]
			p.at(fmt.Sprintf("%s, pass %d of %d, %s", c.name, pass+1, passes, rows[i].Name))
			cost, err := bench.Pass(ctx, rows[i].Row, c.target, c.load)
			if err != nil {
				return nil, fmt.Errorf("%s, pass %d: %w", c.name, pass+1, err)
			}
			rows[i].costs = append(rows[i].costs, cost)
		}
	}
	subtractLoad(rows)
	return rows, nil
}

// sinkRow is a row with its costs, pass by pass.
type sinkRow struct {
	sinks.Row
	costs []sinks.Cost
	alone []sinks.Cost // of the load without logging, in the same passes
}

// subtractLoad stores in every row the cost of the load without logging.
func subtractLoad(rows []sinkRow) {
	alone := rows[slices.IndexFunc(rows, func(r sinkRow) bool { return r.Name == sinks.NoLogging })].costs
	for i := range rows {
		if rows[i].Name != sinks.NoLogging {
			rows[i].alone = alone
		}
	}
}

func (r sinkRow) series(of func(sinks.Cost) float64) measure.Series {
	return measure.SeriesOf(r.costs, of)
}

// cpu returns the CPU time in nanoseconds per line (per event if the row is silent), minus that of the load without
// logging.
func (r sinkRow) cpu() measure.Series {
	s := make(measure.Series, len(r.costs))
	for i, c := range r.costs {
		lines := c.Lines
		if r.Silent {
			lines = c.Events
		}
		if r.alone != nil {
			c.CPU -= r.alone[i].CPU
		}
		s[i] = float64(c.CPU) / float64(lines)
	}
	return s
}

func (r sinkRow) p50() measure.Series {
	return r.series(func(c sinks.Cost) float64 { return float64(c.P50) })
}

func (r sinkRow) p999() measure.Series {
	return r.series(func(c sinks.Cost) float64 { return float64(c.P999) })
}

// allocs returns the median of the allocations per event to two places, as in measure.
func (r sinkRow) allocs() float64 {
	return measure.Allocations(r.series(func(c sinks.Cost) float64 { return float64(c.Mallocs) / float64(c.Events) }))
}

// lowest returns the row of these kinds with the lowest median of a quantity, or nil.
func lowest(rows []sinkRow, of func(sinkRow) measure.Series, kinds ...sinks.Kind) *sinkRow {
	var best *sinkRow
	for i := range rows {
		if slices.Contains(kinds, rows[i].Kind) && (best == nil || of(rows[i]).Median() < of(*best).Median()) {
			best = &rows[i]
		}
	}
	return best
}

func writeSinks(w io.Writer, title string, rows []sinkRow) error {
	fmt.Fprintf(w, "%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "CPU ns/event\tspread\tto unbuffered\tto buffered\twait p50 ns\tp99.9 "+
		"us\tallocs/event\tlost\tevents/s\t")
	unbuffered, buffered := lowest(rows, sinkRow.cpu, sinks.Unbuffered), lowest(rows, sinkRow.cpu, sinks.Buffered)
	for _, r := range rows {
		cpu := r.cpu()
		fmt.Fprintf(t, "%.0f\t%s\t%s\t%s\t%.0f\t%.1f\t%v\t%s\t%.0f\t  %s (%s)\n", cpu.Median(), cpu.Spread(),
			toPeer(r, unbuffered), toPeer(r, buffered),
			r.p50().Median(), r.p999().Median()/1e3, r.allocs(), r.lostCell(), r.perSecond().Median(), r.Name, r.Note)
	}
	return measure.EndTable(t, w)
}

// toPeer returns the ratio of the row's CPU time to the peer's, or "~" if the difference is not significant.
func toPeer(r sinkRow, peer *sinkRow) string {
	switch {
	case peer == nil || r.Name == sinks.NoLogging:
		return "-"
	case r.Name == peer.Name:
		return "1.00"
	}
	return r.cpu().RatioTo(peer.cpu())
}

// lostCell returns the share of lost events in all passes, and whether the row has counted them.
func (r sinkRow) lostCell() string {
	var events, lost, counted uint64
	for _, c := range r.costs {
		events, lost, counted = events+c.Events, lost+c.Lost(), counted+c.Dropped
	}
	part := fmt.Sprintf("%.1f%%", 100*float64(lost)/float64(events))
	switch {
	case r.Silent:
		return "-"
	case lost == 0 && counted == 0:
		return "0"
	case lost != counted:
		return fmt.Sprintf("%s, counts %d of %d", part, counted, lost)
	}
	return part
}

func (r sinkRow) perSecond() measure.Series {
	return r.series(func(c sinks.Cost) float64 { return float64(c.Events) / max(c.Took, time.Nanosecond).Seconds() })
}

// sinkTargets are the targets of the queue, as ratios to the best peer of these kinds.
var sinkTargets = []struct {
	result string
	of     func(sinkRow) measure.Series
	kinds  []sinks.Kind
	ratio  float64
	allocs float64
}{
	{"_cpu_vs_unbuffered", sinkRow.cpu, []sinks.Kind{sinks.Unbuffered}, 0.35, 0},
	{"_cpu_vs_buffered", sinkRow.cpu, []sinks.Kind{sinks.Buffered}, 0.70, 0},
	{"_wait_p50", sinkRow.p50, []sinks.Kind{sinks.Unbuffered, sinks.Buffered}, 1, -1},
	{"_wait_p999", sinkRow.p999, []sinks.Kind{sinks.Unbuffered, sinks.Buffered}, 1, -1},
}

func judgeSinks(result string, rows []sinkRow) []fmt.Stringer {
	queue := rows[slices.IndexFunc(rows, func(r sinkRow) bool { return r.Name == sinks.Queue })]
	var results []fmt.Stringer
	for _, t := range sinkTargets {
		peer := lowest(rows, t.of, t.kinds...)
		if peer == nil {
			continue
		}
		v := measure.Verdict{Name: result + t.result, Ratio: t.of(queue).Median() / t.of(*peer).Median(),
			Allocs: -1, Bytes: -1,
			TargetRatio: t.ratio, TargetAllocs: t.allocs, TargetBytes: -1}
		if t.allocs >= 0 {
			v.Allocs = queue.allocs()
		}
		results = append(results, v)
	}
	return results
}
