package chart

import (
	"math"
	"strconv"

	"github.com/weirhq/weir/internal/readable"
)

// LinearTicks returns at most limit+1 round numbers, from 0 to the first that
// reaches high.
func LinearTicks(high float64, limit int) []float64 {
	if !(high > 0) || math.IsInf(high, 0) {
		high = 1
	}
	step := RoundStep(high/float64(limit), 0)
	var ticks []float64
	for i := 0.0; ; i++ {
		ticks = append(ticks, i*step)
		if i*step >= high*(1-1e-9) {
			return ticks
		}
	}
}

// A LogAxis is logarithmic, with ticks at round numbers.
type LogAxis struct {
	low, high float64
	Ticks     []float64
}

// NewLogAxis returns an axis that contains low to high, limited to between a
// nanosecond and 30 years in microseconds, with at most limit ticks.
func NewLogAxis(low, high float64, limit int) LogAxis {
	low = min(max(low, 1e-3), 1e15)
	high = min(max(high, low), 1e15)
	if high < 4*low { // put a flat curve into the middle
		low, high = math.Sqrt(low*high)/2, math.Sqrt(low*high)*2
	}
	margin := math.Pow(high/low, 0.04)
	a := LogAxis{low: low / margin, high: high * margin}
	for _, step := range [][]float64{{1, 2, 5}, {1}} {
		if a.Ticks = a.within(step); len(a.Ticks) <= limit {
			break
		}
	}
	return a
}

// within returns the multiples of step by powers of ten that are on the axis.
func (a LogAxis) within(step []float64) []float64 {
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

// Place returns the place of v on the axis, from 0 to 1.
func (a LogAxis) Place(v float64) float64 {
	return min(max(math.Log(v/a.low)/math.Log(a.high/a.low), 0), 1)
}

// TickText formats a round number without needless digits: 0.5, 20, 1,000.
func TickText(v float64) string {
	if v >= 1000 {
		return readable.Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// TickSpan formats a round time in microseconds: "500 µs", "2 ms".
func TickSpan(us float64) string {
	unit := readable.Microseconds
	switch {
	case us >= 999_999:
		unit = readable.Seconds
	case us >= 999.999:
		unit = readable.Milliseconds
	}
	return TickText(us/unit.Size) + " " + unit.Name
}

// timeSteps are the distances between ticks of a time axis, in seconds.
var timeSteps = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
	1800, 3600, 7200, 6 * 3600, 12 * 3600, 24 * 3600}

// TimeTicks returns at most seven labels of a time axis from 0 to end, in
// seconds.
func TimeTicks(end float64) []Tick {
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if end/s <= 6 {
			step = s
			break
		}
	}
	for end/step > 6 {
		step *= 2
	}
	var ticks []Tick
	for i := 0.0; i*step <= end*(1+1e-9); i++ {
		ticks = append(ticks, Tick{At: Percent(100 * i * step / end), Text: tickClock(i*step, step)})
	}
	return Anchored(ticks)
}

func tickClock(seconds, step float64) string {
	if seconds == 0 {
		return "0"
	}
	if step < 1 {
		return TickText(math.Round(seconds*1e3)/1e3) + " s"
	}
	return readable.Clock(seconds)
}

// RoundStep returns the smallest of 1, 2, 5, 10, … times a power of ten that is
// at least step and least.
func RoundStep(step, least float64) float64 {
	step = max(step, least, 1e-9)
	decade := math.Pow(10, math.Floor(math.Log10(step)))
	for _, s := range []float64{1, 2, 5} {
		if s*decade >= step*(1-1e-9) {
			return s * decade
		}
	}
	return 10 * decade
}
