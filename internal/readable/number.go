// Package readable formats numbers, times and texts for people.
//
// Three digits are enough, and rounding never exaggerates: a share is 0% or
// 100% only if it is exact.
package readable

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Scale is the unit of the numbers in one table.
type Scale struct {
	Name string
	Size float64 // of the unit, in units of the values
}

// The units of time, in microseconds.
var (
	Microseconds = Scale{"µs", 1}
	Milliseconds = Scale{"ms", 1e3}
	Seconds      = Scale{"s", 1e6}
)

// TimeScale returns a unit for times with the given median and maximum, in
// microseconds. The median has digits before its point if the maximum allows
// it.
func TimeScale(median, most float64) Scale {
	switch {
	case most < 10e3:
		return Microseconds
	case median >= 1e6:
		return Seconds
	}
	return Milliseconds
}

// CountScale returns a unit for numbers up to most.
func CountScale(most float64) Scale {
	if most >= 10e6 {
		return Scale{"million", 1e6}
	}
	if most >= 1e6 {
		return Scale{"1000s", 1e3}
	}
	return Scale{"", 1}
}

// ByteScale returns a unit for numbers of bytes up to most.
func ByteScale(most float64) Scale {
	s := Scale{"B", 1}
	for _, name := range []string{"kB", "MB", "GB", "TB"} {
		if most < 1e3*s.Size {
			break
		}
		s = Scale{name, s.Size * 1e3}
	}
	return s
}

// Text formats v without the unit.
func (s Scale) Text(v float64) string { return Number(v / s.Size) }

// Cell formats v in at most seven characters, to fit a table's column.
func (s Scale) Cell(v float64) string {
	text := s.Text(v)
	if len(text) > 7 {
		return strconv.FormatFloat(v/s.Size, 'g', 2, 64)
	}
	return text
}

// With formats v with the unit.
func (s Scale) With(v float64) string { return s.Text(v) + " " + s.Name }

// Span formats a time in microseconds with a fitting unit.
func Span(us float64) string {
	switch {
	case us < 1e3:
		return Microseconds.With(us)
	case us < 1e6:
		return Milliseconds.With(us)
	}
	return Seconds.With(us)
}

// Size formats a number of bytes with a fitting unit.
func Size(bytes float64) string { return ByteScale(bytes).With(bytes) }

// Number formats v with three digits, or with all digits before the point if
// there are more.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case v == 0:
		return "0"
	case a < 0.9995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a < 1e15:
		return Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Count formats n with a comma before each group of three digits.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return sign + b.String()
}

// Things formats n with a noun, whose plural ends in an s.
func Things(n int64, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return Count(n) + " " + name + "s"
}

// Share formats n as a percentage of all. The result is 0% or 100% only if it
// is exact.
func Share(n, all int64) string {
	switch {
	case all <= 0:
		return "-"
	case n == 0:
		return "0%"
	case n == all:
		return "100%"
	}
	p := 100 * float64(n) / float64(all)
	switch {
	case p < 0.001:
		return "<0.001%"
	case p < 1:
		return fmt.Sprintf("%.3f%%", p)
	case p > 99.999 && p < 100:
		return ">99.999%"
	case p > 99:
		return fmt.Sprintf("%.3f%%", p)
	}
	return fmt.Sprintf("%.1f%%", p)
}

// Lasting formats a time in seconds: "850 ms", "30 s", "2 h 5 min".
func Lasting(s float64) string {
	switch {
	case s > 0 && s < 1:
		return Span(s * 1e6)
	case s < 10:
		return strings.TrimSuffix(strconv.FormatFloat(s, 'f', 1, 64), ".0") + " s"
	case s < 59.5:
		return fmt.Sprintf("%.0f s", s)
	case s < 3600:
		return twoParts(s, 60, "min", "s")
	}
	return twoParts(s/60, 60, "h", "min")
}

func twoParts(small, per float64, bigName, smallName string) string {
	n := int64(math.Round(small))
	big, rest := n/int64(per), n%int64(per)
	if rest == 0 {
		return fmt.Sprintf("%s %s", Count(big), bigName)
	}
	return fmt.Sprintf("%s %s %d %s", Count(big), bigName, rest, smallName)
}

// Clock formats a time since the beginning of a run.
func Clock(seconds float64) string {
	if seconds < 60 {
		return strings.TrimSuffix(fmt.Sprintf("%.2f", seconds), ".00") + " s"
	}
	whole := int(math.Round(seconds))
	if whole < 3600 {
		return fmt.Sprintf("%d:%02d", whole/60, whole%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", whole/3600, whole/60%60, whole%60)
}
