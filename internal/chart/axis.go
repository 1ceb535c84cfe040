package chart

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

// A Tick is a label of an axis.
type Tick struct {
	At     Percent
	Text   string
	Anchor string // of the text: start, middle or end
	Minor  bool   // left out if there is little room
}

// Anchored keeps the labels below a chart within its width, and marks the labels to
// leave out if there is little room.
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

// An Axis maps values to places from 0 to 1. Place returns NaN for a value that
// has no place, and the nearest end for a value outside of the axis.
type Axis struct {
	Place func(float64) float64
	Ticks []float64
	Text  func(float64) string // of a tick
}

// Linear returns an axis from 0 to a round number above most.
func Linear(most float64, text func(float64) string) Axis {
	ticks := LinearTicks(most*1.02, 5)
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

// Log returns a logarithmic axis with at most limit round ticks. Only positive
// values have a place.
func Log(low, high float64, limit int, text func(float64) string) Axis {
	a := NewLogAxis(low, high, limit)
	return Axis{func(v float64) float64 {
		if !(v > 0) {
			return math.NaN()
		}
		return a.Place(v)
	}, a.Ticks, text}
}

// Rows returns the labels of a vertical axis, placed from its top.
func (a Axis) Rows() []Tick {
	var rows []Tick
	for _, t := range a.Ticks {
		rows = append(rows, Tick{At: Percent(100 * (1 - a.Place(t))), Text: a.Text(t)})
	}
	return rows
}

// Below returns the labels of a horizontal axis.
func (a Axis) Below() []Tick {
	var below []Tick
	for _, t := range a.Ticks {
		below = append(below, Tick{At: Percent(100 * a.Place(t)), Text: a.Text(t)})
	}
	return Anchored(below)
}
