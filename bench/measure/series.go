package measure

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Series holds the values of one quantity, one per pass.
type Series []float64

// Median returns the middle value, which a single disturbed pass does not change, or 0 without values.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// Spread returns the differences of the lowest and the highest value from the median, as in "-2% +5%".
func (s Series) Spread() string {
	median := s.Median()
	if median == 0 {
		return ""
	}
	percent := func(v float64) float64 { return 100 * (v - median) / median }
	return fmt.Sprintf("%+.0f%% %+.0f%%", percent(slices.Min(s)), percent(slices.Max(s)))
}

// Differs reports whether s and t differ significantly, by the U-test at 5%. With fewer than four passes it returns
// false.
func (s Series) Differs(t Series) bool {
	if len(s) == 0 || len(t) == 0 {
		return false
	}
	a := benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
	b := benchmath.NewSample(slices.Clone(t), &benchmath.DefaultThresholds)
	c := benchmath.AssumeNothing.Compare(a, b)
	return c.P <= c.Alpha
}

// RatioTo returns the ratio of the medians of s and t as text, with "~" if the difference is not significant.
func (s Series) RatioTo(t Series) string {
	text := fmt.Sprintf("%.2f", s.Median()/t.Median())
	if !s.Differs(t) {
		return "~" + text
	}
	return text
}

// SeriesOf returns one quantity of the costs of several passes.
func SeriesOf[C any](costs []C, of func(C) float64) Series {
	s := make(Series, len(costs))
	for i, c := range costs {
		s[i] = of(c)
	}
	return s
}

// First returns the first row that ok accepts, or nil.
func First[R any](rows []R, ok func(R) bool) *R {
	if i := slices.IndexFunc(rows, ok); i >= 0 {
		return &rows[i]
	}
	return nil
}

// series returns one quantity of a row's passes.
func (m Measured) series(of func(Cost) float64) Series { return SeriesOf(m.Costs, of) }

// Nanoseconds returns the CPU time per operation, pass by pass.
func (m Measured) Nanoseconds() Series {
	return m.series(func(c Cost) float64 { return c.Nanoseconds })
}

// Allocs returns the median of the allocations per operation.
func (m Measured) Allocs() float64 {
	return Allocations(m.series(func(c Cost) float64 { return c.Allocs }))
}

// Allocations returns the median of the allocations per operation to two places. Smaller values are occasional
// allocations of the runtime.
func Allocations(s Series) float64 { return math.Round(100*s.Median()) / 100 }

// Bytes returns the median of the bytes allocated per operation.
func (m Measured) Bytes() int {
	return int(math.Round(m.series(func(c Cost) float64 { return c.Bytes }).Median()))
}
