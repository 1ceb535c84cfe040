package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/readable"
)

// WriteText writes the comparison for people: a table, a legend and the warnings.
func (c Comparison) WriteText(w io.Writer) error {
	lines := [][]string{{"", "A", "", "B", "", "difference", ""}}
	target := ""
	for _, row := range c.Rows {
		if row.Target != target {
			target = row.Target
			lines = append(lines, nil, []string{readable.Visible(readable.Clip(target))})
		}
		lines = append(lines, []string{
			row.Metric,
			row.A.amount(row.Unit), row.A.spread(),
			row.B.amount(row.Unit), row.B.spread(),
			row.difference(), c.test(row),
		})
	}
	var b strings.Builder
	writeTable(&b, lines)
	b.WriteString("\n" + c.legend())
	for _, warning := range c.Warnings {
		b.WriteString("warning: " + warning + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Comparison) legend() string {
	text := "In parentheses: not tested.\n"
	if c.Tested() {
		text = "A and B are medians of runs; ± is where the median lies, with 95% confidence.\n" +
			"~ may be noise (Mann-Whitney, p > 0.05); in parentheses: not tested.\n"
	}
	if c.any(func(s Side) bool { return s.AtLeast }) {
		text += "≥ is a lower bound: requests that were given up count with the time that they had taken.\n"
	}
	if c.any(func(s Side) bool { return s.Value.infinite() }) {
		text += "never is the time of requests that failed: they were never answered.\n"
	}
	return text
}

// any reports whether a side of any row matches.
func (c Comparison) any(match func(Side) bool) bool {
	return slices.ContainsFunc(c.Rows, func(r Row) bool { return match(r.A) || match(r.B) })
}

// writeTable aligns the first and the last column left, the others right. A line of
// one cell is a heading.
func writeTable(b *strings.Builder, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			if len(line) > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line {
			padding := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			switch i {
			case 0:
				text.WriteString(cell + padding)
			case len(line) - 1:
				text.WriteString("  " + cell)
			case 2, 4: // belongs to the cell before
				text.WriteString(" " + padding + cell)
			default:
				text.WriteString("  " + padding + cell)
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}

// amount returns the value of a side in its unit.
func (s Side) amount(unit string) string {
	switch {
	case s.Value.infinite():
		return "never"
	case s.AtLeast:
		return "≥" + amount(float64(s.Value), unit)
	}
	return amount(float64(s.Value), unit)
}

// amount returns a value in its unit, with four digits.
func amount(v float64, unit string) string {
	switch unit {
	case "us":
		return scaled(v, []string{"µs", "ms", "s"}, 1000)
	case "bytes":
		return scaled(v, []string{"B", "KiB", "MiB", "GiB", "TiB"}, 1024)
	case "share":
		return fmt.Sprintf("%.3g%%", 100*v)
	}
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// scaled returns a value in the first unit in which it is less than the step to the
// next unit.
func scaled(v float64, units []string, step float64) string {
	for len(units) > 1 && v >= step {
		v, units = v/step, units[1:]
	}
	if v >= 1000 { // with a step of 1024, or in the last unit
		return fmt.Sprintf("%.0f %s", v, units[0])
	}
	return fmt.Sprintf("%.4g %s", v, units[0])
}

// spread returns the interval as a share of the median.
func (s Side) spread() string {
	median := float64(s.Value)
	if s.Interval == nil || median <= 0 {
		return ""
	}
	return fmt.Sprintf("±%.0f%%", 100*max(s.Interval[1]/median-1, 1-s.Interval[0]/median))
}

// difference returns the difference of B from A.
func (r Row) difference() string {
	if r.Verdict == Noise {
		return "~"
	}
	text := fmt.Sprintf("%+.1f%%", 100*(r.Ratio-1))
	switch {
	case r.A.Value == 0 && r.B.Value == 0:
		text = "0"
	case r.A.Value.infinite() && r.B.Value.infinite():
		text = "equal"
	case r.A.Value.infinite() || r.B.Value.infinite():
		text = "infinite"
	case r.A.Value == 0:
		text = "from 0"
	case math.Abs(r.Ratio-1) >= 10: // easier to read as a factor
		text = fmt.Sprintf("×%.4g", r.Ratio)
	}
	if r.Verdict == Untested {
		return "(" + text + ")"
	}
	return text
}

// test returns the result of the test.
func (c Comparison) test(r Row) string {
	if r.P == nil {
		return ""
	}
	p := fmt.Sprintf("p=%.3f", *r.P)
	if *r.P < 0.001 {
		p = "p<0.001"
	}
	text := fmt.Sprintf("%s n=%d+%d", p, c.RunsA, c.RunsB)
	if r.Verdict != Noise {
		text = string(r.Verdict) + ", " + text
	}
	return text
}
