package measure_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/measure"
)

func TestMedianIsTheMiddleValue(t *testing.T) {
	for _, c := range []struct {
		values measure.Series
		want   float64
	}{
		{nil, 0},
		{measure.Series{7}, 7},
		{measure.Series{9, 1, 5}, 5},
		{measure.Series{100, 1, 3, 2}, 2.5},
	} {
		if got := c.values.Median(); got != c.want {
			t.Errorf("median of %v = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestSpreadIsRelativeToTheMedian(t *testing.T) {
	if got := (measure.Series{90, 100, 125}).Spread(); got != "-10% +25%" {
		t.Errorf("got %q", got)
	}
}

func TestDiffersNeedsSeparateSeries(t *testing.T) {
	low, high := measure.Series{10, 11, 12, 13, 14}, measure.Series{20, 21, 22, 23, 24}
	if !low.Differs(high) {
		t.Error("series that do not overlap are told to be the same")
	}
	if mixed := (measure.Series{10, 24, 11, 23, 12}); low.Differs(mixed) {
		t.Error("series that overlap are told to differ")
	}
	if (measure.Series{1}).Differs(measure.Series{2}) {
		t.Error("one pass each is told to be enough")
	}
}

func TestVerdictComparesWithTheTarget(t *testing.T) {
	const no = -1
	for _, c := range []struct {
		ratio, allocs, bytes, wantRatio, wantAllocs, wantBytes float64
		want                                                   string
	}{
		{0.584, 0, no, 0.6, 0, no, "ratio=0.584 allocs=0 target=0.60 target_allocs=0 ok"},
		{0.601, no, no, 0.6, no, no, "ratio=0.601 target=0.60 missed"},
		{0.5, 1.5, no, 0.6, 0, no, "ratio=0.500 allocs=1.5 target=0.60 target_allocs=0 missed"},
		{0.5, no, no, no, 0, no, "ratio=0.500 target_allocs=0 missed"},
		{1.4, no, no, no, no, no, "ratio=1.400"},
		{1.4, 14, 850, no, 14, 850, "ratio=1.400 allocs=14 bytes=850 target_allocs=14 target_bytes=850 ok"},
		{0.5, 14, 851, no, 14, 850, "ratio=0.500 allocs=14 bytes=851 target_allocs=14 target_bytes=850 missed"},
	} {
		v := measure.Verdict{Name: "a", Ratio: c.ratio, Allocs: c.allocs, Bytes: c.bytes,
			TargetRatio: c.wantRatio, TargetAllocs: c.wantAllocs, TargetBytes: c.wantBytes}
		if got, want := v.String(), "RESULT a "+c.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

var sink []byte

// burn uses CPU time that the compiler cannot remove, and makes the given number of allocations.
func burn(rounds, allocs int) func(int) {
	return func(n int) {
		for range n {
			for range allocs {
				sink = make([]byte, 64)
			}
			for i := range rounds {
				sink[i%64] ^= byte(i)
			}
		}
	}
}

// TestMeasureRanksRows has rows that differ by a factor of fifty, so that a busy machine can rank them.
func TestMeasureRanksRows(t *testing.T) {
	sink = make([]byte, 64)
	c := measure.Case{Name: "burning", Rows: []measure.Row{
		{Name: "ours", Ours: true, Run: burn(1000, 0)},
		{Name: "slow peer", Run: burn(50_000, 2)},
		{Name: "nothing", Bare: true, Run: func(int) {}},
	}}
	rows, err := measure.Plan{Passes: 3, PassTime: 5 * time.Millisecond}.Measure(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[1].Allocs(); got != 2 {
		t.Errorf("got %v allocations of the slow peer, want 2", got)
	}
	for _, peer := range []string{"", "slow peer"} {
		v, ok := measure.Judge(rows, "ours", peer)
		if !ok || v.Ratio <= 0 || v.Ratio > 0.2 || v.Allocs != 0 {
			t.Errorf("against %q: got %+v, %v, want about a fiftieth and no allocation", peer, v, ok)
		}
	}
	if v, ok := measure.Judge(rows, "ours", "nothing"); ok {
		t.Errorf("the floor was taken for a peer: %+v", v)
	}
	var table strings.Builder
	if err := measure.WriteTable(&table, c, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"burning\n", "  ours\n", "1.00  slow peer\n"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

// measured returns a row with the same cost in each of five passes.
func measured(r measure.Row, ns float64) measure.Measured {
	m := measure.Measured{Row: r}
	for range 5 {
		m.Costs = append(m.Costs, measure.Cost{Nanoseconds: ns})
	}
	return m
}

func TestTableSaysHowFarAboveTheFloor(t *testing.T) {
	rows := []measure.Measured{
		measured(measure.Row{Name: "weir", Ours: true}, 150),
		measured(measure.Row{Name: "a peer", Note: "its fast form"}, 300),
		measured(measure.Row{Name: "floor", Bare: true}, 200),
	}
	for _, c := range []struct {
		rows []measure.Measured
		want string
	}{
		{rows, `
  ns/op   spread  above floor  B/op  allocs/op  to best peer
    150  +0% +0%        -50.0     0          0          0.50  weir
    300  +0% +0%          100     0          0          1.00  a peer (its fast form)
    200  +0% +0%            -     0          0          0.67  floor
`},
		{rows[:2], `
  ns/op   spread  B/op  allocs/op  to best peer
    150  +0% +0%     0          0          0.50  weir
    300  +0% +0%     0          0          1.00  a peer (its fast form)
`},
	} {
		var table strings.Builder
		if err := measure.WriteTable(&table, measure.Case{Name: "a case"}, c.rows); err != nil {
			t.Fatal(err)
		}
		if got, want := table.String(), "a case"+c.want+"\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

func TestMeasureStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runs := measure.Case{Rows: []measure.Row{{Run: burn(10, 0)}}}
	sink = make([]byte, 64)
	if _, err := (measure.Plan{Passes: 1, PassTime: time.Millisecond}).Measure(ctx, runs); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestRowsAreOpenedWhenTheirTurnComes(t *testing.T) {
	sink = make([]byte, 64)
	plan := measure.Plan{Passes: 1, PassTime: time.Millisecond}
	rows, err := plan.Measure(t.Context(), measure.Case{Open: func() ([]measure.Row, error) {
		return []measure.Row{{Name: "opened", Run: burn(10, 0)}}, nil
	}})
	if err != nil || len(rows) != 1 || rows[0].Name != "opened" || len(rows[0].Costs) != 1 {
		t.Errorf("got %+v, %v, want one pass of the row that was opened", rows, err)
	}
	broken := errors.New("broken")
	if _, err := plan.Measure(t.Context(), measure.Case{Open: func() ([]measure.Row, error) {
		return nil, broken
	}}); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestParallelRowsHaveAllProcessors(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		parallel bool
		want     int
	}{{true, processors}, {false, 1}} {
		got := 0
		row := measure.Row{Run: func(n int) { got = runtime.GOMAXPROCS(0); burn(1000, 0)(n) }}
		sink = make([]byte, 64)
		if _, err := (measure.Plan{Passes: 1, PassTime: time.Millisecond}).Measure(t.Context(),
			measure.Case{Rows: []measure.Row{row}, Parallel: c.parallel}); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("parallel %v: the row had %d processors, want %d", c.parallel, got, c.want)
		}
	}
}

// making allocates and keeps the given number of megabytes, and makes as much garbage.
func making(name string, megabytes int) measure.Making {
	return measure.Making{Name: name, Make: func() (any, error) {
		kept := make([][]byte, megabytes)
		for i := range kept {
			sink = make([]byte, 1e6)
			kept[i] = make([]byte, 1e6)
		}
		sink = nil
		return kept, nil
	}}
}

func TestMadeValuesAreWeighed(t *testing.T) {
	made, err := measure.Plan{Passes: 3}.Make(t.Context(), []measure.Making{making("ours", 16), making("theirs", 4)})
	if err != nil {
		t.Fatal(err)
	}
	if _, memory, ok := measure.JudgeMade(made, "ours", "theirs"); !ok || memory < 3.5 || memory > 4.5 {
		t.Errorf("got %.2f of the peer's memory, %v, want about 4", memory, ok)
	}
	if _, _, ok := measure.JudgeMade(made, "ours", "unknown"); ok {
		t.Error("a peer that is not there was judged")
	}
	var table strings.Builder
	if err := measure.WriteMade(&table, "making", "theirs", made); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"making\n", "to theirs", "  ours\n", "1.00  theirs\n"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	broken := measure.Making{Name: "broken one", Make: func() (any, error) { return nil, errors.New("no") }}
	if _, err := (measure.Plan{Passes: 1}).Make(t.Context(), []measure.Making{broken}); err == nil ||
		err.Error() != "broken one: no" {
		t.Errorf("got %v, want the name and the reason", err)
	}
}

// TestTheFirstTimeIsNoMeasure checks that preparations in the first run of a row do not count.
func TestTheFirstTimeIsNoMeasure(t *testing.T) {
	sink = make([]byte, 64)
	first, most := true, 0
	row := measure.Row{Run: func(n int) {
		if first {
			first = false
			burn(50_000_000, 0)(1)
		}
		most = max(most, n)
		burn(100, 0)(n)
	}}
	if _, err := (measure.Plan{Passes: 1, PassTime: time.Millisecond}).Measure(t.Context(),
		measure.Case{Rows: []measure.Row{row}}); err != nil {
		t.Fatal(err)
	}
	if most < 10 {
		t.Errorf("the row worked at most %d times at once, want a millisecond's worth of it", most)
	}
}
