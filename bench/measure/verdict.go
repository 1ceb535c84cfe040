package measure

import (
	"strconv"
	"strings"
)

// A Verdict holds one measured result against the target that the project states for it. What was not measured and
// what is not asked for is negative.
type Verdict struct {
	Name         string
	Ratio        float64 // Weir's median over the best peer's, or over the peer that the target names
	Allocs       float64 // per operation
	Bytes        float64 // allocated per operation
	TargetRatio  float64
	TargetAllocs float64
	TargetBytes  float64
}

// OK reports whether every stated target is met. What was not measured misses its target.
func (v Verdict) OK() bool {
	return met(v.Ratio, v.TargetRatio) && met(v.Allocs, v.TargetAllocs) && met(v.Bytes, v.TargetBytes)
}

func met(got, target float64) bool { return target < 0 || got >= 0 && got <= target }

// String returns the one line that a program may look for, as
// "RESULT proxy_cpu_vs_caddy ratio=0.412 target=0.45 ok". Without a target it ends before the last word.
func (v Verdict) String() string {
	var b strings.Builder
	b.WriteString("RESULT " + v.Name)
	for _, f := range []struct {
		key    string
		value  float64
		places int // -1: as many as it takes
	}{
		{"ratio", v.Ratio, 3}, {"allocs", v.Allocs, -1}, {"bytes", v.Bytes, -1},
		{"target", v.TargetRatio, 2}, {"target_allocs", v.TargetAllocs, -1}, {"target_bytes", v.TargetBytes, -1},
	} {
		if f.value >= 0 {
			b.WriteString(" " + f.key + "=" + strconv.FormatFloat(f.value, 'f', f.places, 64))
		}
	}
	switch {
	case v.TargetRatio < 0 && v.TargetAllocs < 0 && v.TargetBytes < 0:
	case v.OK():
		b.WriteString(" ok")
	default:
		b.WriteString(" missed")
	}
	return b.String()
}
