package load

import (
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load/internal/latencies"
)

// FuzzMergeLatencies records times in one distribution and in three that go through JSON and
// are merged. Both are the same document, except for rounding in the mean.
func FuzzMergeLatencies(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 0, 0, 0, 0, 0, 0, 7})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{33, 0, 0, 0, 0, 0, 0, 1, 17, 1, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := latencies.NewTimes()
		parts := []latencies.Times{latencies.NewTimes(), latencies.NewTimes(), latencies.NewTimes()}
		for ; len(b) >= 8; b = b[8:] {
			n := binary.LittleEndian.Uint64(b)
			took := time.Duration(n >> (10 + n%50))
			for _, x := range []*latencies.Times{&whole, &parts[n/64%3]} {
				switch n / 256 % 8 {
				case 0:
					x.Miss(took, true)
				case 1:
					if b[0] > 128 {
						x.Miss(took, false)
					}
				default:
					x.Answered.Record(took)
				}
			}
		}
		var documents []*Latency
		for _, p := range parts {
			o := p.Order()
			text, err := json.Marshal(newLatency(o))
			if err != nil {
				t.Fatal(err)
			}
			var l *Latency
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatal(err)
			}
			documents = append(documents, l)
		}
		merged, err := mergeOrders(documents)
		if err != nil {
			t.Fatal(err)
		}
		o := whole.Order()
		same := cmp.Comparer(func(a, b Micros) bool {
			return a == b || max(a-b, b-a) <= 1e-9*max(a, b)
		})
		if diff := cmp.Diff(newLatency(o), newLatency(merged), same); diff != "" {
			t.Errorf("the merged document differs (-whole +merged):\n%s", diff)
		}
	})
}

// TestSecondsAreMergedByTime merges series whose seconds do not end at the same times.
func TestSecondsAreMergedByTime(t *testing.T) {
	t.Parallel()
	series := func(ends ...float64) []Second {
		var all []Second
		start := 0.0
		for _, end := range ends {
			all = append(all, Second{Start: start, Seconds: end - start})
			start = end
		}
		return all
	}
	for _, c := range []struct {
		name string
		left [][]Second
		ends []float64
		took [][]int // how many seconds of each series
	}{
		{"about the same times", [][]Second{series(1, 2.01, 3), series(1.02, 2, 3.01)}, []float64{1.02, 2.01, 3.01},
			[][]int{{1, 1}, {1, 1}, {1, 1}}},
		{"one was stopped", [][]Second{series(1, 2, 3, 4), series(1, 3.1, 4)}, []float64{1, 3.1, 4},
			[][]int{{1, 1}, {2, 1}, {1, 1}}},
		{"both were stopped", [][]Second{series(2.5, 3, 4), series(1, 3.4, 4)}, []float64{4},
			[][]int{{3, 3}}},
		{"one was lost", [][]Second{series(1, 2, 3), series(1)}, []float64{1, 2, 3}, [][]int{{1, 1}, {1}, {1}}},
		{"nothing", [][]Second{nil, nil}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ends []float64
			var took [][]int
			for {
				taken, end := takeSecond(c.left)
				if len(taken) == 0 {
					break
				}
				var counts []int
				for _, s := range taken {
					counts = append(counts, len(s))
				}
				ends, took = append(ends, end), append(took, counts)
			}
			if diff := cmp.Diff(c.ends, ends) + cmp.Diff(c.took, took); diff != "" {
				t.Error(diff)
			}
		})
	}
}
