package page

import (
	"math"
	"strconv"

	"github.com/weirhq/weir/internal/readable"
)

// A Percent is a share of a length. It is written with two decimals, which is
// finer than a pixel, and limited to 0 to 100.
type Percent float64

func (p Percent) String() string {
	if !(p > 0) { // NaN too
		p = 0
	}
	return strconv.FormatFloat(min(float64(p), 100), 'f', 2, 64)
}

// An Axis maps values to places from 0 to 1. Place returns NaN for a value that
// has no place, and the nearest end for a value outside of the axis. The zero
// Axis takes places as values and has no labels.
type Axis struct {
	Place func(float64) float64
	Ticks []float64
	Text  func(float64) string // of a tick
}

func (a Axis) place(v float64) float64 {
	if a.Place == nil {
		return v
	}
	return a.Place(v)
}

// Linear returns an axis from 0 to a round number above most.
func Linear(most float64, text func(float64) string) Axis {
	ticks := linearTicks(most*1.02, 5)
	top := ticks[len(ticks)-1]
	return Axis{func(v float64) float64 { return min(max(v/top, 0), 1) }, ticks, text}
}

// Times returns the axis of values that are size times those of a. The labels
// are the same.
func (a Axis) Times(size float64) Axis {
	ticks := make([]float64, len(a.Ticks))
	for i, t := range a.Ticks {
		ticks[i] = t * size
	}
	return Axis{func(v float64) float64 { return a.Place(v / size) }, ticks,
		func(v float64) string { return a.Text(v / size) }}
}

// Bytes returns a linear axis of sizes with round ticks in a suitable unit.
func Bytes(most float64) Axis {
	unit := readable.ByteScale(most)
	return Linear(most/unit.Size, func(v float64) string { return TickText(v) + " " + unit.Name }).Times(unit.Size)
}

// Between returns a linear axis from below least to above most. It includes 0
// if that is near.
func Between(least, most float64, text func(float64) string) Axis {
	if least >= 0 && least < most/2 {
		return Linear(most, text)
	}
	margin := max((most-least)*.08, math.Abs(most)*1e-3, 1e-9)
	low, high := least-margin, most+margin
	step := RoundStep((high-low)/5, 0)
	var ticks []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, i*step)
	}
	return Axis{func(v float64) float64 { return min(max((v-low)/(high-low), 0), 1) }, ticks, text}
}

// Latencies returns a logarithmic axis of times in microseconds. It contains low
// to high, limited to between a nanosecond and 30 years, and has at most limit
// round ticks. Only positive values have a place.
func Latencies(low, high float64, limit int) Axis {
	low = min(max(low, 1e-3), 1e15)
	high = min(max(high, low), 1e15)
	if high < 4*low { // put a flat curve into the middle
		low, high = math.Sqrt(low*high)/2, math.Sqrt(low*high)*2
	}
	margin := math.Pow(high/low, 0.04)
	low, high = low/margin, high*margin
	ticks := decadeTicks(low, high, 1, 2, 5)
	if len(ticks) > limit {
		ticks = decadeTicks(low, high, 1)
	}
	return Axis{func(v float64) float64 {
		if !(v > 0) {
			return math.NaN()
		}
		return min(max(math.Log(v/low)/math.Log(high/low), 0), 1)
	}, ticks, TickSpan}
}

// Time returns an axis from 0 to end, in seconds, with at most seven ticks.
func Time(end float64) Axis {
	step := timeStep(end)
	var ticks []float64
	for i := 0.0; i*step <= end*(1+1e-9); i++ {
		ticks = append(ticks, i*step)
	}
	return Axis{func(v float64) float64 { return min(max(v/end, 0), 1) }, ticks,
		func(v float64) string { return tickClock(v, step) }}
}

// Sparse returns the axis without every other tick if it has more than limit.
func (a Axis) Sparse(limit int) Axis {
	if len(a.Ticks) <= limit {
		return a
	}
	var kept []float64
	for i := 0; i < len(a.Ticks); i += 2 {
		kept = append(kept, a.Ticks[i])
	}
	a.Ticks = kept
	return a
}

// A Label is the text of a tick.
type Label struct {
	At     Percent
	Text   string
	Anchor string // of the text below a chart: start, middle or end
	Minor  bool   // left out if there is little room
}

// Beside returns the labels of a vertical axis, placed from its top.
func (a Axis) Beside() []Label {
	var labels []Label
	for _, t := range a.Ticks {
		labels = append(labels, Label{At: Percent(100 * (1 - a.place(t))), Text: a.Text(t)})
	}
	return labels
}

// Below returns the labels of a horizontal axis. They stay within its width.
func (a Axis) Below() []Label {
	var labels []Label
	for i, t := range a.Ticks {
		l := Label{At: Percent(100 * a.place(t)), Text: a.Text(t), Anchor: "middle", Minor: len(a.Ticks) > 4 && i%2 == 1}
		switch {
		case l.At < 3:
			l.Anchor = "start"
		case l.At > 97:
			l.Anchor = "end"
		}
		labels = append(labels, l)
	}
	return labels
}
