package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// linearTicks returns round numbers from 0 up to the first that reaches high, at
// most most+1 of them: the labels of an axis that starts at 0.
func linearTicks(high float64, most int) []float64 {
	if !(high > 0) || math.IsInf(high, 0) {
		high = 1
	}
	step := roundStep(high/float64(most), 0)
	var ticks []float64
	for i := 0.0; ; i++ {
		ticks = append(ticks, i*step)
		if i*step >= high*(1-1e-9) {
			return ticks
		}
	}
}

// A logAxis is logarithmic, with ticks at round numbers.
type logAxis struct {
	low, high float64
	ticks     []float64
}

// newLogAxis has room for low to high, as far as they are between a nanosecond
// and the length of a life in microseconds, and at most most ticks.
func newLogAxis(low, high float64, most int) logAxis {
	low = min(max(low, 1e-3), 1e15)
	high = min(max(high, low), 1e15)
	if high < 4*low { // a flat curve belongs in the middle
		low, high = math.Sqrt(low*high)/2, math.Sqrt(low*high)*2
	}
	margin := math.Pow(high/low, 0.04)
	a := logAxis{low: low / margin, high: high * margin}
	for _, step := range [][]float64{{1, 2, 5}, {1}} {
		if a.ticks = a.within(step); len(a.ticks) <= most {
			break
		}
	}
	return a
}

// within returns the step's multiples by powers of ten that the axis has.
func (a logAxis) within(step []float64) []float64 {
	var ticks []float64
	for decade := math.Floor(math.Log10(a.low)); ; decade++ {
		for _, s := range step {
			v := s * math.Pow(10, decade)
			if v > a.high {
				return ticks
			}
			if v >= a.low {
				ticks = append(ticks, v)
			}
		}
	}
}

// place is where v stands between the axis' ends, from 0 to 1.
func (a logAxis) place(v float64) float64 {
	return min(max(math.Log(v/a.low)/math.Log(a.high/a.low), 0), 1)
}

// tickText writes a round number without needless digits: 0.5, 20, 1,000.
func tickText(v float64) string {
	if v >= 1000 {
		return count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// tickSpan is a round time of so many microseconds: "500 µs", "2 ms".
func tickSpan(us float64) string {
	unit := microseconds
	switch {
	case us >= 999_999:
		unit = seconds
	case us >= 999.999:
		unit = milliseconds
	}
	return tickText(us/unit.size) + " " + unit.name
}

// quantileText names the quantile at 1/(1-q) = x, a power of ten: 0%, 90%, 99.9%.
func quantileText(x float64) string {
	nines := int(math.Round(math.Log10(x)))
	switch nines {
	case 0:
		return "0%"
	case 1:
		return "90%"
	case 2:
		return "99%"
	}
	return fmt.Sprintf("99.%s%%", strings.Repeat("9", nines-2))
}
