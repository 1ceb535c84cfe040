package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weirhq/weir/bench/proxy"
)

// A capacityRow is one measured cost of Weir. docs/capacity derives the needs of a deployment from the result lines.
type capacityRow struct {
	name   string // of its result lines
	work   proxy.Work
	lines  int
	route  string
	memory bool // of an idle connection, instead of the CPU time of a request

	costs []proxy.Cost
}

// capacityRows returns the rows, each with one difference to "request".
func capacityRows() []capacityRow {
	main := proxy.Work{Connections: 64, Log: proxy.ToFile}
	with := func(change func(*proxy.Work)) proxy.Work {
		w := main
		change(&w)
		return w
	}
	return []capacityRow{
		{name: "no_event", work: with(func(w *proxy.Work) { w.Log = proxy.Off })},
		{name: "request", work: main, lines: 1},
		{name: "three_events", work: main, lines: 3},
		{name: "tls", work: with(func(w *proxy.Work) { w.TLS = true }), lines: 1},
		{name: "handshake", work: with(func(w *proxy.Work) { w.Connections, w.Handshakes = 16, true }), lines: 1},
		{name: "http2", work: with(func(w *proxy.Work) { w.Connections, w.Streams = 16, 10 }), lines: 1},
		{name: "response_16k", work: with(func(w *proxy.Work) { w.Response = 16 << 10 }), lines: 1},
		{name: "response_1m", work: with(func(w *proxy.Work) { w.Response = 1 << 20 }), lines: 1},
		{name: "rate", work: main, lines: 1, route: ", limits: {rate: {limit: 1000000/s, burst: 1000000}}"},
		{name: "idle", work: with(func(w *proxy.Work) { w.Connections, w.Idle = 4000, true }), lines: 1, memory: true},
		{name: "idle_tls", work: with(func(w *proxy.Work) { w.Connections, w.Idle, w.TLS = 4000, true, true }), lines: 1,
			memory: true},
	}
}

// measureCapacity measures the rows that the flags select, interleaved.
func measureCapacity(ctx context.Context, w io.Writer, s settings) (results []fmt.Stringer, err error) {
	rows := slices.DeleteFunc(capacityRows(), func(r capacityRow) bool { return !s.cases.MatchString(r.name) })
	if len(rows) == 0 {
		noneCalled(w, s)
		return nil, nil
	}
	s.passes, s.loadTime = cmp.Or(s.passes, proxyPasses), cmp.Or(s.loadTime, 3*time.Second)
	bench, closeBench, err := openProxies(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBench()) }()
	for pass := range s.passes {
		for k := range rows {
			r := &rows[(k+pass)%len(rows)]
			r.work.Load = s.loadTime
			door := proxy.Feature{Name: r.name, Lines: r.lines, Route: r.route}.Door()
			cost, err := bench.Pass(ctx, door, r.work)
			if err != nil {
				return nil, fmt.Errorf("%s, pass %d: %w", r.name, pass+1, err)
			}
			r.costs = append(r.costs, cost)
			fmt.Fprintf(os.Stderr, "capacity, pass %d of %d: %s, %v\n", pass+1, s.passes, r.name, cost.CPU)
		}
	}
	for _, r := range rows {
		results = append(results, r)
	}
	return results, writeCapacity(w, rows, s.passes)
}

func (r capacityRow) median(of func(proxy.Cost) float64) float64 {
	return doorRow{costs: r.costs}.series(of).Median()
}

func writeCapacity(w io.Writer, rows []capacityRow, passes int) error {
	fmt.Fprintf(w, "\ncapacity: costs of Weir, medians of %d passes\n", passes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "CPU us/req\tspread\treq/s\tlog bytes/req\tbytes/connection\t")
	for _, r := range rows {
		d := doorRow{costs: r.costs}
		fmt.Fprintf(t, "%.1f\t%s\t%.0f\t%.0f\t%.0f\t  %s\n", d.cpu().Median(), d.cpu().Spread(),
			r.median(func(c proxy.Cost) float64 { return c.PerSecond }), r.median(logBytes), r.median(memory), r.name)
	}
	return errors.Join(t.Flush(), func() error { _, err := fmt.Fprintln(w); return err }())
}

func logBytes(c proxy.Cost) float64 { return c.LogBytes }
func memory(c proxy.Cost) float64   { return c.Memory }

// String returns the result line, as in "RESULT capacity_request cpu_us=18.4 log_bytes=611".
func (r capacityRow) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "RESULT capacity_%s", r.name)
	if r.memory {
		fmt.Fprintf(&b, " connection_bytes=%.0f", r.median(memory))
		return b.String()
	}
	fmt.Fprintf(&b, " cpu_us=%.1f", doorRow{costs: r.costs}.cpu().Median())
	if bytes := r.median(logBytes); bytes > 0 {
		fmt.Fprintf(&b, " log_bytes=%.0f", bytes)
	}
	return b.String()
}
