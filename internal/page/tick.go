package page

import (
	"math"
	"strconv"

	"github.com/weirhq/weir/internal/readable"
)

// linearTicks returns at most limit+1 round numbers, from 0 to the first that
// reaches high.
func linearTicks(high float64, limit int) []float64 {
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

// decadeTicks returns the multiples of steps by powers of ten from low to high.
func decadeTicks(low, high float64, steps ...float64) []float64 {
	var ticks []float64
	for decade := math.Floor(math.Log10(low)); ; decade++ {
		for _, s := range steps {
			v := s * math.Pow(10, decade)
			if v > high {
				return ticks
			}
			if v >= low {
				ticks = append(ticks, v)
			}
		}
	}
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

// timeStep returns a distance of which at most six reach end.
func timeStep(end float64) float64 {
	for _, s := range timeSteps {
		if end/s <= 6 {
			return s
		}
	}
	step := timeSteps[len(timeSteps)-1]
	for end/step > 6 {
		step *= 2
	}
	return step
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
