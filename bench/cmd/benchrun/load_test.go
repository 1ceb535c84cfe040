package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/load"
)

// loadRowOf returns a row of five passes of 1,000 requests with the given CPU time per request.
func loadRowOf(name string, kind load.Kind, perRequest time.Duration, report load.Report) loadRow {
	r := loadRow{Generator: load.Generator{Name: name, Kind: kind}}
	for range 5 {
		r.costs = append(r.costs, load.Cost{Report: report, CPU: 1000 * perRequest, Memory: []int64{2e6, 8e6},
			Tally: load.Tally{Requests: 1000, Took: 100 * time.Millisecond, Per10ms: []int{99, 101, 100, 3},
				Truth: load.Truth{
					Requests: 1000, P50: 5 * time.Millisecond, P99: 900 * time.Millisecond, P999: 990 * time.Millisecond, Max: time.Second}}})
	}
	return r
}

func TestLoadsAreJudged(t *testing.T) {
	ms := time.Millisecond
	rows := []loadRow{
		loadRowOf(load.Base, load.Bare, 4*time.Microsecond, load.Report{}),
		loadRowOf(load.Weir, load.Ours, 5*time.Microsecond, load.Report{P50: 5 * ms, P99: 909 * ms, P999: 990 * ms,
			Max: 900 * ms, Lag99: 20 * time.Microsecond, Variance: 2.5}),
		loadRowOf(load.Wrk, load.Peer, 8*time.Microsecond, load.Report{}),
		loadRowOf(load.AB, load.Peer, 4*time.Microsecond, load.Report{}),
	}
	var lines []string
	for _, judge := range []func(loadCase, []loadRow) []string{
		linesOf(judgeFloor(1.15)), linesOf(judgeMany), linesOf(judgePosts), linesOf(judgePace), linesOf(
			judgeTruth), linesOf(judgeMemory),
	} {
		lines = append(lines, judge(loadCase{Work: load.Work{Rate: 10_000}, result: "x"}, rows)...)
	}
	want := `RESULT x_to_floor ratio=1.250 target=1.15 missed
RESULT x_vs_wrk ratio=0.625 target=1.00 ok
RESULT x_failed value=0 target=0 ok
RESULT x_wrk_rate_to_weir ratio=1.000 target=1.00 ok
RESULT x_vs_wrk ratio=0.625
RESULT x_vs_wrk ratio=0.625 target=1.00 ok
RESULT x_vs_ab ratio=1.250 target=1.00 missed
RESULT x_rate_off_percent value=0.1 target=0.1 ok
RESULT x_variance value=0.6667 target=2 ok
RESULT x_variance_told value=2.5 target=2 missed
RESULT x_lag_p99_us value=20 target=100 ok
RESULT x_p50_off_percent value=0 target=2 ok
RESULT x_p99_off_percent value=1 target=2 ok
RESULT x_p999_off_percent value=0 target=2 ok
RESULT x_max_off_percent value=10 target=2 missed
RESULT x_mb value=8 target=40 ok
RESULT x_growth_mb value=0 target=1 ok`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (figure{"x", math.NaN(), 1}).String(); !strings.HasSuffix(got, " missed") {
		t.Errorf("a value that was not measured: %s", got)
	}
}

func linesOf(judge func(loadCase, []loadRow) []fmt.Stringer) func(loadCase, []loadRow) []string {
	return func(c loadCase, rows []loadRow) (lines []string) {
		for _, r := range judge(c, rows) {
			lines = append(lines, r.String())
		}
		return lines
	}
}

// TestLoadTableSaysWhyARowIsMissing checks that a peer without a figure has a line below the table.
func TestLoadTableSaysWhyARowIsMissing(t *testing.T) {
	broken := loadRow{Generator: load.Generator{Name: "broken"}}
	broken.add(load.Cost{}, errors.New("no luck"))
	rows := []loadRow{
		loadRowOf(load.Base, load.Bare, 4*time.Microsecond, load.Report{Failed: -1}),
		loadRowOf(load.Weir, load.Ours, 5*time.Microsecond, load.Report{}),
		broken,
	}
	for _, write := range []func(*strings.Builder, loadCase, []loadRow) error{
		func(b *strings.Builder, c loadCase, r []loadRow) error { return writeCosts(b, c, r) },
		func(b *strings.Builder, c loadCase, r []loadRow) error { return writePaces(b, c, r) },
		func(b *strings.Builder, c loadCase, r []loadRow) error { return writeTruth(b, c, r) },
		func(b *strings.Builder, c loadCase, r []loadRow) error { return writeMemory(b, c, r) },
	} {
		var table strings.Builder
		if err := write(&table, loadCase{Work: load.Work{Rate: 10_000, Duration: time.Second,
			Server: load.Manner{Rate: 10}}}, rows); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"  weir load\n", "broken, a pass of 1: no luck\n"} {
			if !strings.Contains(table.String(), want) {
				t.Errorf("the table lacks %q:\n%s", want, table.String())
			}
		}
	}
}
