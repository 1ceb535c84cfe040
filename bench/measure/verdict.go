package measure

import (
	"strconv"
	"strings"
)

// A Verdict compares one result with the project's target for it. A negative value means that it was not measured or
// has no target.
type Verdict struct {
	Name         string
	Ratio        float64 // ratio of Weir's median to that of the best peer, or of the peer that the target names
	Allocs       float64 // per operation
	Bytes        float64 // allocated per operation
	TargetRatio  float64
	TargetAllocs float64
	TargetBytes  float64
}

// OK reports whether all targets are met. A value that was not measured misses its target.
func (v Verdict) OK() bool {
	return met(v.Ratio, v.TargetRatio) && met(v.Allocs, v.TargetAllocs) && met(v.Bytes, v.TargetBytes)
}

func met(got, target float64) bool { return target < 0 || got >= 0 && got <= target }

// String returns a line for programs to search, as in "RESULT proxy_cpu_vs_caddy ratio=0.412 target=0.45 ok". Without a
// target it lacks the last two words.
func (v Verdict) String() string {
	var b strings.Builder
	b.WriteString("RESULT " + v.Name)
	for _, f := range []struct {
		key    string
		value  float64
		places int // -1 means as many as necessary
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
