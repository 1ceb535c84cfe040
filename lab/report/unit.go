package report

import (
	"github.com/weirhq/weir/internal/chart"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
)

// axisScale is what the ticks of an axis up to most are written in.
func axisScale(unit string, most float64) readable.Scale {
	base, per := analysis.Unit(unit)
	if micros := analysis.Microseconds(base); micros > 0 {
		s := timeScale(most * micros)
		return readable.Scale{Name: " " + s.Name + per, Size: s.Size / micros}
	}
	if base == "bytes" || base == "B" {
		s := readable.ByteScale(most)
		return readable.Scale{Name: " " + s.Name + per, Size: s.Size}
	}
	return readable.Scale{Name: per, Size: 1}
}

// timeScale suits times up to so many microseconds.
func timeScale(most float64) readable.Scale {
	switch {
	case most < 1:
		return readable.Scale{Name: "ns", Size: 1e-3}
	case most < 1e3:
		return readable.Microseconds
	case most < 1e6:
		return readable.Milliseconds
	}
	return readable.Seconds
}

// fromZero is an axis of a unit from 0 to above most.
func fromZero(unit string, most float64) chart.Axis {
	s := axisScale(unit, most)
	return chart.Linear(most/s.Size, ticksIn(s)).Times(s.Size)
}

// between is an axis of a unit with room for least to most.
func between(unit string, least, most float64) chart.Axis {
	s := axisScale(unit, most)
	return chart.Between(least/s.Size, most/s.Size, ticksIn(s)).Times(s.Size)
}

func ticksIn(s readable.Scale) func(float64) string {
	return func(v float64) string { return chart.TickText(v) + s.Name }
}
