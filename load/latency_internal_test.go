package load

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/internal/latencies"
)

// FuzzLatency records times in two distributions, merges them, and compares them with
// the sorted times: quantiles with three digits, all other values exactly.
func FuzzLatency(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint8(1))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, uint8(0))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, split uint8) {
		var times []int64
		for ; len(b) >= 8; b = b[8:] {
			times = append(times, int64(binary.LittleEndian.Uint64(b)>>(b[0]%60)))
		}
		parts := []*latencies.Distribution{latencies.New(), latencies.New()}
		var sum float64
		for i, n := range times {
			parts[min(i/(int(split)+1), 1)].Record(time.Duration(n))
			times[i] = min(max(n, 0), hdr.Longest)
			sum += float64(times[i])
		}
		all := latencies.New()
		all.Merge(parts[0])
		all.Merge(parts[1])
		l := latencyOf(all)
		if len(times) == 0 {
			if l != nil {
				t.Fatalf("no times are %+v", l)
			}
			return
		}
		slices.Sort(times)
		last := len(times) - 1
		if l.Count != int64(len(times)) || l.Min != micros(times[0]) || l.Max != micros(times[last]) ||
			math.Abs(float64(l.Mean)*1e3*float64(l.Count)-sum) > 1e-9*sum {
			t.Fatalf("%+v is not of %v", l, times)
		}
		before := l.Min
		for _, q := range []struct {
			of  int // in 1/10,000
			got Micros
		}{{250, l.P2_5}, {5000, l.P50}, {9000, l.P90}, {9750, l.P97_5}, {9900, l.P99}, {9990, l.P999},
			{9999, l.P9999}, {10000, l.Max}} {
			if q.got < before {
				t.Fatalf("quantile %v is %v, less than %v", q.of, q.got, before)
			}
			before = q.got
			rank := (q.of*len(times) + 9999) / 10000
			want := times[rank-1]
			if q.of < 10000 && math.Abs(float64(q.got)*1e3-float64(want)) > 1e-3*float64(want)+1 {
				t.Fatalf("quantile %v is %v us, want %v ns", q.of, q.got, want)
			}
		}
		h, err := hdr.Decode(l.Histogram)
		if err != nil || h.Count() != l.Count {
			t.Fatalf("the histogram has %v times, %v", h, err)
		}
	})
}
