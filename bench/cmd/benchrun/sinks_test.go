package main

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/sinks"
)

// sinkRowOf returns a row with the given nanoseconds for each of 1,000 events in each of five passes.
func sinkRowOf(name string, kind sinks.Kind, cpu, p50, p999 time.Duration, lines, dropped uint64) sinkRow {
	r := sinkRow{Row: sinks.Row{Name: name, Note: "as it is", Kind: kind}}
	for range 5 {
		r.costs = append(r.costs, sinks.Cost{Lines: lines, Report: sinks.Report{
			Events: 1000, Dropped: dropped, CPU: 1000 * cpu, Mallocs: 2, Took: time.Millisecond, P50: p50, P999: p999}})
	}
	return r
}

func TestSinksAreJudged(t *testing.T) {
	rows := []sinkRow{
		sinkRowOf(sinks.Queue, sinks.Ours, 450, 300, 4000, 1000, 0),
		sinkRowOf("slow", sinks.Unbuffered, 2100, 2000, 3000, 1000, 0),
		sinkRowOf("quick", sinks.Unbuffered, 1100, 1000, 9000, 1000, 0),
		sinkRowOf("gathering", sinks.Buffered, 600, 600, 8000, 1000, 0),
		sinkRowOf("losing", sinks.Buffered, 500, 700, 9000, 500, 499),
		sinkRowOf("floor", sinks.Bare, 200, 10, 100, 1000, 0),
		sinkRowOf(sinks.NoLogging, sinks.Bare, 100, 10, 100, 0, 0),
	}
	rows[len(rows)-1].Silent = true
	subtractLoad(rows)
	var lines []string
	for _, r := range judgeSinks("sinks_file", rows) {
		lines = append(lines, r.String())
	}
	want := []string{
		"RESULT sinks_file_cpu_vs_unbuffered ratio=0.350 allocs=0 target=0.35 target_allocs=0 ok",
		"RESULT sinks_file_cpu_vs_buffered ratio=0.700 allocs=0 target=0.70 target_allocs=0 ok",
		"RESULT sinks_file_wait_p50 ratio=0.500 target=1.00 ok",
		"RESULT sinks_file_wait_p999 ratio=1.333 target=1.00 missed",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	var table strings.Builder
	if err := writeSinks(&table, "sinks", rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"0.35         0.70",                            // the queue, without the load's own time on both sides
		"50.0%, counts 2495 of 2500",                   // a peer that does not count its losses
		"1000000  the load without logging (as it is)", // a thousand in a millisecond
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}
