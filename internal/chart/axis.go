package chart

import (
	"math"
	"strconv"

	"github.com/weirhq/weir/internal/readable"
)

// A Percent of a length is written with two decimals, which a pixel never needs,
// and stays within 0 and 100.
type Percent float64

func (p Percent) String() string {
	if !(p > 0) { // NaN too
		p = 0
	}
	return strconv.FormatFloat(min(float64(p), 100), 'f', 2, 64)
}

// A Tick is a label of an axis.
type Tick struct {
	At     Percent
	Text   string
	Anchor string // of the text: start, middle or end
	Minor  bool   // left out where there is little room
}

// Anchored keeps the labels below a chart within its width, and tells which to
// leave out where not all have room.
func Anchored(ticks []Tick) []Tick {
	for i := range ticks {
		t := &ticks[i]
		switch {
		case t.At < 3:
			t.Anchor = "start"
		case t.At > 97:
			t.Anchor = "end"
		default:
			t.Anchor = "middle"
		}
		t.Minor = len(ticks) > 4 && i%2 == 1
	}
	return ticks
}

// An Axis places values between its ends, from 0 to 1. A value that has no place
// on it is NaN, one beyond an end stands at it.
type Axis struct {
	Place func(float64) float64
	Ticks []float64
	Text  func(float64) string // of a tick
}

// Linear is an axis from 0 to a round number above most.
func Linear(most float64, text func(float64) string) Axis {
	ticks := LinearTicks(most*1.02, 5)
	top := ticks[len(ticks)-1]
	return Axis{func(v float64) float64 { return min(max(v/top, 0), 1) }, ticks, text}
}

// Times is the axis of values that are size times those of a, written as in a.
func (a Axis) Times(size float64) Axis {
	ticks := make([]float64, len(a.Ticks))
	for i, t := range a.Ticks {
		ticks[i] = t * size
	}
	return Axis{func(v float64) float64 { return a.Place(v / size) }, ticks, func(v float64) string { return a.Text(v / size) }}
}

// Bytes is a linear axis whose ticks are round in the unit that suits most.
func Bytes(most float64) Axis {
	unit := readable.ByteScale(most)
	return Linear(most/unit.Size, func(v float64) string { return TickText(v) + " " + unit.Name }).Times(unit.Size)
}

// Between is a linear axis from a round number below least to one above most,
// with 0 on it when that is near.
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

// Log is a logarithmic axis with round ticks, at most most of them. What is not
// above 0 has no place on it.
func Log(low, high float64, most int, text func(float64) string) Axis {
	a := NewLogAxis(low, high, most)
	return Axis{func(v float64) float64 {
		if !(v > 0) {
			return math.NaN()
		}
		return a.Place(v)
	}, a.Ticks, text}
}

// Rows are the labels of an upright axis, as shares of its height from the top.
func (a Axis) Rows() []Tick {
	var rows []Tick
	for _, t := range a.Ticks {
		rows = append(rows, Tick{At: Percent(100 * (1 - a.Place(t))), Text: a.Text(t)})
	}
	return rows
}

// Below are the labels of a level axis.
func (a Axis) Below() []Tick {
	var below []Tick
	for _, t := range a.Ticks {
		below = append(below, Tick{At: Percent(100 * a.Place(t)), Text: a.Text(t)})
	}
	return Anchored(below)
}
