package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
)

// Quantity formats a value of a metric: "52,100/s", "1.31 ms", "64.0 MB". A
// unit may be per something: "s/op", "bytes/s".
func Quantity(value float64, unit string) string {
	base, per := Unit(unit)
	switch size := microseconds[base]; {
	case size > 0:
		return span(value*size) + per
	case base == "bytes", base == "B":
		return readable.Size(value) + per
	case base == "", base == "%":
		return number(value) + base + per
	}
	return number(value) + " " + unit
}

// Unit splits a unit: "bytes/s" into "bytes" and "/s".
func Unit(unit string) (base, per string) {
	if i := strings.IndexByte(unit, '/'); i >= 0 {
		return unit[:i], unit[i:]
	}
	return unit, ""
}

// microseconds has the units of time.
var microseconds = map[string]float64{"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6, "sec": 1e6}

// Microseconds returns a unit of time in microseconds, and 0 for other units.
func Microseconds(unit string) float64 { return microseconds[unit] }

// number formats three significant digits.
func number(v float64) string {
	if v != 0 && math.Abs(v) < 0.0995 {
		return fmt.Sprintf("%.3g", v)
	}
	return readable.Number(v)
}

// span formats a time in microseconds.
func span(us float64) string {
	if us != 0 && math.Abs(us) < 1 {
		return number(us*1e3) + " ns"
	}
	return readable.Span(us)
}

// change describes a ratio: "43% lower", "2.3 times as high".
func change(ratio float64) string {
	switch {
	case ratio >= 2:
		return readable.Number(ratio) + " times as high"
	case ratio >= 1:
		return percent(ratio-1) + " higher"
	}
	return percent(1-ratio) + " lower"
}

// percent formats a share, and never as 100% if it is less.
func percent(share float64) string {
	p := 100 * share
	switch {
	case p > 0 && p < 0.05:
		return "less than 0.1%"
	case p < 9.95:
		return fmt.Sprintf("%.1f%%", p)
	case p < 98.5 || p >= 100:
		return fmt.Sprintf("%.0f%%", p)
	case p < 99.95:
		return fmt.Sprintf("%.1f%%", p)
	}
	return "more than 99.9%"
}

// under describes an upper bound of a share.
func under(share float64) string { return "under " + percent(max(share, 0.001)) }

// listed lists names, of which it writes at most limit.
func listed(names []string, limit int) string {
	if len(names) > limit {
		names = append(slices.Clone(names[:limit]), fmt.Sprintf("%d more", len(names)-limit))
	}
	return readable.Enumerate(names)
}

// maxNamed is the number of configurations that a sentence about many names.
const maxNamed = 3
