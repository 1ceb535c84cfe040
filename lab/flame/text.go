package flame

import (
	"fmt"
	"math"
	"strings"
)

// A step is a unit and its size in the smallest unit.
type step struct {
	name string
	size float64
}

var steps = map[string][]step{
	"nanoseconds": {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}},
	"bytes":       {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}},
	"count":       {{"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}},
}

// text formats a value with three digits in a suitable unit.
func text(value float64, unit string) string {
	units, ok := steps[unit]
	if !ok {
		units = []step{{unit, 1}}
	}
	for _, u := range units {
		if math.Abs(value) >= u.size*0.9995 {
			return withUnit(value/u.size, u.name)
		}
	}
	return withUnit(value, units[len(units)-1].name)
}

func withUnit(value float64, unit string) string {
	digits := 0
	switch size := math.Abs(value); {
	case value == math.Trunc(value) && size < 1e6, size >= 99.95:
	case size >= 9.995:
		digits = 1
	default:
		digits = 2
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, value, unit))
}

// percent formats a share.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// short returns a function's name without the folders of its package:
// "log.(*Logger).Write" of "github.com/weirhq/weir/log.(*Logger).Write".
func short(name string) string {
	end := strings.IndexAny(name, "([") // the rest may contain other slashes
	if end < 0 {
		end = len(name)
	}
	return name[strings.LastIndexByte(name[:end], '/')+1:]
}

// packageOf returns the package of a function: "github.com/weirhq/weir/log" in
// that example.
func packageOf(name string) string {
	base := len(name) - len(short(name))
	dot := strings.IndexByte(name[base:], '.')
	if dot < 0 {
		return name
	}
	return name[:base+dot]
}
