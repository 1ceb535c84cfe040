package measure_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/measure"
)

func TestMedian(t *testing.T) {
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

func TestSpread(t *testing.T) {
	if got := (measure.Series{90, 100, 125}).Spread(); got != "-10% +25%" {
		t.Errorf("got %q", got)
	}
}

func TestDiffers(t *testing.T) {
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

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		verdict measure.Verdict
		want    string
	}{
		{measure.Verdict{Name: "a", Ratio: 0.584, Allocs: 0, TargetRatio: 0.6, TargetAllocs: 0}, "RESULT a ratio=0.584 allocs=0 target=0.60 target_allocs=0 ok"},
		{measure.Verdict{Name: "a", Ratio: 0.601, Allocs: -1, TargetRatio: 0.6, TargetAllocs: -1}, "RESULT a ratio=0.601 target=0.60 missed"},
		{measure.Verdict{Name: "a", Ratio: 0.5, Allocs: 1.5, TargetRatio: 0.6, TargetAllocs: 0}, "RESULT a ratio=0.500 allocs=1.5 target=0.60 target_allocs=0 missed"},
		{measure.Verdict{Name: "a", Ratio: 0.5, Allocs: -1, TargetRatio: -1, TargetAllocs: 0}, "RESULT a ratio=0.500 target_allocs=0 missed"},
		{measure.Verdict{Name: "a", Ratio: 1.4, Allocs: -1, TargetRatio: -1, TargetAllocs: -1}, "RESULT a ratio=1.400"},
	} {
		if got := c.verdict.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

var sink []byte

// burn takes processor time that no optimisation removes, and allocates as often as it is told.
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

// The rows differ by a factor of fifty, so that even a busy machine tells them apart.
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
	v, ok := measure.Judge(rows, "ours")
	if !ok || v.Ratio <= 0 || v.Ratio > 0.2 || v.Allocs != 0 {
		t.Errorf("got %+v, %v, want about a fiftieth and no allocation", v, ok)
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

func TestMeasureStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runs := measure.Case{Rows: []measure.Row{{Run: burn(10, 0)}}}
	sink = make([]byte, 64)
	if _, err := (measure.Plan{Passes: 1, PassTime: time.Millisecond}).Measure(ctx, runs); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
