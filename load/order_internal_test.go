package load

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"
)

// FuzzOrder records requests that were answered, given up and never answered. It compares
// each quantile with those of two lists of sorted times: in one of them requests that were
// given up have their lower bound, in the other they are infinite.
func FuzzOrder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{0, 0, 1, 0, 1, 0, 1, 0, 2, 1, 0, 0, 2, 0, 255, 0})
	f.Add([]byte{0, 9, 255, 255, 1, 9, 255, 255, 0, 9, 255, 254})
	f.Fuzz(func(t *testing.T, b []byte) {
		all := newTimes()
		var low, high []float64 // in nanoseconds
		for ; len(b) >= 4; b = b[4:] {
			ns := int64(binary.BigEndian.Uint16(b[2:])) << (b[1] % 16)
			l, h := float64(ns), float64(ns)
			switch b[0] % 3 {
			case 0:
				all.answered.record(time.Duration(ns))
			case 1:
				all.miss(time.Duration(ns), true)
				h = math.Inf(1)
			case 2:
				all.miss(time.Duration(ns), false)
				l, h = math.Inf(1), math.Inf(1)
			}
			low, high = append(low, l), append(high, h)
		}
		if len(low) == 0 {
			return
		}
		slices.Sort(low)
		slices.Sort(high)
		o := all.order()
		var before Micros
		for _, p := range []float64{0.1, 2.5, 50, 90, 97.5, 99, 99.9, 100} {
			rank := min(max(int(p/100*float64(len(low))+0.5), 1), len(low)) - 1
			got, atLeast := o.at(p)
			if got < before {
				t.Errorf("p%v is %v, less than %v", p, got, before)
			}
			before = got
			if want := low[rank]; math.IsInf(want, 1) != (got == NeverAnswered) ||
				!math.IsInf(want, 1) && math.Abs(float64(got)*1e3-want) > 1e-3*want+1 {
				t.Errorf("p%v is %v us, want %v ns", p, got, want)
			}
			if differ := high[rank] > 1.003*low[rank]+2; differ && got != NeverAnswered && !atLeast ||
				low[rank] == high[rank] && atLeast {
				t.Errorf("p%v is a lower bound: %v, and between %v and %v ns", p, atLeast, low[rank], high[rank])
			}
		}
		if l := o.document(); l.Count != int64(len(low)) {
			t.Errorf("%d requests, want %d", l.Count, len(low))
		}
	})
}
