package latencies

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"
)

// A percentile has at least its share of the requests at or below it, so that one failure among 60 requests is p99, as in
// HdrHistogram. Ranks that are whole numbers are not rounded up.
func TestRanksAreRoundedUp(t *testing.T) {
	for _, c := range []struct {
		answered, never int
		p               float64
		want            time.Duration // the k-th request takes k ms
	}{
		{59, 1, 99, Never},
		{99, 1, 99, 99 * time.Millisecond},
		{999, 1, 99.9, 999 * time.Millisecond},
		{998, 2, 99.9, Never},
		{3, 0, 50, 2 * time.Millisecond},
		{4, 0, 50, 2 * time.Millisecond},
		{4, 0, 2.5, time.Millisecond},
	} {
		all := NewTimes()
		for k := range c.answered {
			all.Answered.Record(time.Duration(k+1) * time.Millisecond)
		}
		for range c.never {
			all.Miss(0, false)
		}
		o := all.Order()
		got, _ := o.At(c.p)
		if got != c.want && math.Abs(float64(got/c.want)-1) > 0.001 {
			t.Errorf("p%v of %d responses and %d failures is %v, want %v", c.p, c.answered, c.never, got, c.want)
		}
	}
}

// FuzzOrder records requests that were answered, given up and never answered. It compares
// each quantile with those of two lists of sorted times: in one of them requests that were
// given up have their lower bound, in the other they are infinite.
func FuzzOrder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{0, 0, 1, 0, 1, 0, 1, 0, 2, 1, 0, 0, 2, 0, 255, 0})
	f.Add([]byte{0, 9, 255, 255, 1, 9, 255, 255, 0, 9, 255, 254})
	f.Fuzz(func(t *testing.T, b []byte) {
		all := NewTimes()
		var low, high []float64 // in nanoseconds
		for ; len(b) >= 4; b = b[4:] {
			ns := int64(binary.BigEndian.Uint16(b[2:])) << (b[1] % 16)
			l, h := float64(ns), float64(ns)
			switch b[0] % 3 {
			case 0:
				all.Answered.Record(time.Duration(ns))
			case 1:
				all.Miss(time.Duration(ns), true)
				h = math.Inf(1)
			case 2:
				all.Miss(time.Duration(ns), false)
				l, h = math.Inf(1), math.Inf(1)
			}
			low, high = append(low, l), append(high, h)
		}
		if len(low) == 0 {
			return
		}
		slices.Sort(low)
		slices.Sort(high)
		o := all.Order()
		var before time.Duration
		for _, tenths := range []int{1, 25, 500, 900, 975, 990, 999, 1000} {
			p := float64(tenths) / 10
			rank := (tenths*len(low)+999)/1000 - 1
			got, atLeast := o.At(p)
			if got < before {
				t.Errorf("p%v is %v, less than %v", p, got, before)
			}
			before = got
			if want := low[rank]; math.IsInf(want, 1) != (got == Never) ||
				!math.IsInf(want, 1) && math.Abs(float64(got)-want) > 1e-3*want+1 {
				t.Errorf("p%v is %v, want %v ns", p, got, want)
			}
			if differ := high[rank] > 1.003*low[rank]+2; differ && got != Never && !atLeast ||
				low[rank] == high[rank] && atLeast {
				t.Errorf("p%v is a lower bound: %v, and between %v and %v ns", p, atLeast, low[rank], high[rank])
			}
		}
		if o.Count() != int64(len(low)) {
			t.Errorf("%d requests, want %d", o.Count(), len(low))
		}
	})
}
