package analysis

import (
	"fmt"
	"math"

	"github.com/weirhq/weir/internal/readable"
)

// Quantity writes a value of a metric as people read it: "52,100/s", "1.31 ms",
// "64.0 MB".
func Quantity(value float64, unit string) string {
	switch unit {
	case "us":
		return span(value)
	case "s":
		return span(value * 1e6)
	case "bytes":
		return readable.Size(value)
	case "bytes/s":
		return readable.Size(value) + "/s"
	case "/s":
		return readable.Number(value) + "/s"
	case "":
		return readable.Number(value)
	}
	return readable.Number(value) + " " + unit
}

// span writes a time in microseconds.
func span(us float64) string {
	if us != 0 && math.Abs(us) < 1 {
		return readable.Number(us*1e3) + " ns"
	}
	return readable.Span(us)
}

// change writes a ratio as what became of something: "43% lower", "2.3 times as
// high".
func change(ratio float64) string {
	switch {
	case ratio >= 2:
		return readable.Number(ratio) + " times as high"
	case ratio >= 1:
		return percent(ratio-1) + " higher"
	}
	return percent(1-ratio) + " lower"
}

// percent writes a share of 1, and never 100% for what is less.
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

// under bounds a share of 1.
func under(share float64) string { return "under " + percent(max(share, 0.001)) }
