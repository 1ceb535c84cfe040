package load

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestTruthIncludesTheStall: in 10 s at 1,000/s the last second is a stall. One request in ten waits for the rest of
// that second, and all wait 5 ms for their response. The requests of the last 5 ms before the stall get their responses
// after it too.
func TestTruthIncludesTheStall(t *testing.T) {
	m := Manner{Delay: 5 * time.Millisecond, Stall: time.Second, Every: 10 * time.Second, Rate: 1000}
	got := m.ExpectedTruth(10 * time.Second)
	want := Truth{Requests: 10_000, P50: 5 * time.Millisecond, P99: 910 * time.Millisecond,
		P999: 1000 * time.Millisecond, Max: 1005 * time.Millisecond}
	if got.Requests != want.Requests || got.P50 != want.P50 || got.Max != want.Max {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, q := range [][2]time.Duration{{got.P99, want.P99}, {got.P999, want.P999}} {
		if (q[0] - q[1]).Abs() > time.Millisecond {
			t.Errorf("got %v, want %v to the millisecond", q[0], q[1])
		}
	}
}

func TestTruthCountsFromTheEarliest(t *testing.T) {
	samples := []time.Duration{9, 7, 8, 107}
	if got, want := truthOf(samples, 5), (Truth{Requests: 4, P50: 3, P99: 102, P999: 102, Max: 102}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := truthOf(nil, math.MaxInt64); got != (Truth{}) {
		t.Errorf("of nothing: got %+v", got)
	}
}

func TestVarianceIgnoresTheLastBin(t *testing.T) {
	for _, c := range []struct {
		bins []int
		want float64
	}{
		{[]int{100, 100, 100, 3}, 0},
		{[]int{98, 102, 100, 0}, 8.0 / 3},
		{[]int{300, 0, 0, 1}, 60000.0 / 3},
	} {
		if got := (Tally{Per10ms: c.bins}).Variance(10_000); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("variance of %v: got %v, want %v", c.bins, got, c.want)
		}
	}
	if got := (Tally{Per10ms: []int{5}}).Variance(500); !math.IsNaN(got) {
		t.Errorf("without a whole bin: got %v, want NaN", got)
	}
}

func TestCountFillsGaps(t *testing.T) {
	var bins []int
	for _, at := range []time.Duration{0, 9 * time.Millisecond, 31 * time.Millisecond} {
		bins = count(bins, at)
	}
	if want := []int{2, 0, 0, 1}; !slices.Equal(bins, want) {
		t.Errorf("got %v, want %v", bins, want)
	}
}

func TestMemoryGrowthIgnoresTheBeginning(t *testing.T) {
	var c Cost
	for i := range 300 { // grows at first, and by 7 at its end
		c.Memory = append(c.Memory, int64(min(i, 50)))
	}
	c.Memory[295] += 7
	if got := c.MemoryGrowth(); got != 7 {
		t.Errorf("growth: got %d, want 7", got)
	}
	if got := c.PeakMemory(); got != 57 {
		t.Errorf("peak: got %d, want 57", got)
	}
}
