package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
)

// percentChange formats a ratio as a change: -43.1%, +3.20%, ×12.
func percentChange(ratio float64) string {
	if ratio >= 10 {
		return "×" + readable.Number(ratio)
	}
	return fmt.Sprintf("%s%%", signed(100*(ratio-1)))
}

// signed formats a change in percent with at most three digits, and 0 without a
// sign.
func signed(p float64) string {
	decimals := 1
	if math.Abs(p) < 1 {
		decimals = 2
	}
	text := fmt.Sprintf("%+.*f", decimals, p)
	if strings.Trim(text, "+-0.") == "" {
		return "0"
	}
	return text
}

// changeInterval formats the interval of a change: "-45.2 to -41.0%".
func changeInterval(i *analysis.Interval) string {
	if i == nil {
		return ""
	}
	if i.High >= 10 {
		return percentChange(i.Low) + " to " + percentChange(i.High)
	}
	return signed(100*(i.Low-1)) + " to " + signed(100*(i.High-1)) + "%"
}

// verdict formats a difference: its size if it is significant, ~ if it is not,
// its size in parentheses if it was not judged, and "the same" if all values
// are equal.
func verdict(d *analysis.Difference) string {
	text := "from 0"
	if d.Ratio != nil {
		text = percentChange(*d.Ratio)
	}
	switch d.Verdict {
	case analysis.Noise:
		return "~"
	case analysis.Same:
		return "the same"
	case analysis.NotJudged:
		return "(" + text + ")"
	}
	return text + " " + string(d.Verdict)
}

// spread formats an interval as a share of its median, ±1.2%, or with its
// bounds if it is wider than the median.
func spread(s analysis.Summary, unit string) string {
	if s.Interval == nil || s.Median <= 0 {
		return ""
	}
	switch off := max(s.Interval.High/s.Median-1, 1-s.Interval.Low/s.Median); {
	case off < 0.0005:
		return "±0%"
	case off < 0.9995:
		return fmt.Sprintf("±%.1f%%", 100*off)
	}
	return intervalText(s.Interval, unit)
}

// intervalText formats an interval in its unit.
func intervalText(i *analysis.Interval, unit string) string {
	if i == nil {
		return "-"
	}
	return analysis.Quantity(i.Low, unit) + " to " + analysis.Quantity(i.High, unit)
}

func pText(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < 0.001:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", *p)
}

// A mark is a verdict's CSS class and its name beside a finding.
type mark struct{ Class, Name string }

func markOf(v analysis.Verdict) mark {
	switch v {
	case analysis.Better, analysis.Worse, analysis.Differs:
		return mark{string(v), string(v)}
	case analysis.Noise:
		return mark{"noise", "no verdict"} // the sentence says whether there is no difference, or whether it is undecided
	}
	return mark{}
}

// markText returns the verdict before a finding in Markdown.
func markText(v analysis.Verdict) string {
	if name := markOf(v).Name; name != "" {
		return "**" + name + "**: "
	}
	return ""
}

// visibleLines makes a text visible and keeps its lines.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = readable.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// axisScale returns the scale for the ticks of an axis up to most.
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

// timeScale returns the scale for times up to that number of microseconds.
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

// fromZero returns an axis of a unit from 0 to above most.
func fromZero(unit string, most float64) page.Axis {
	s := axisScale(unit, most)
	return page.Linear(most/s.Size, ticksIn(s)).Times(s.Size)
}

// between returns an axis of a unit that contains least and most.
func between(unit string, least, most float64) page.Axis {
	s := axisScale(unit, most)
	return page.Between(least/s.Size, most/s.Size, ticksIn(s)).Times(s.Size)
}

func ticksIn(s readable.Scale) func(float64) string {
	return func(v float64) string { return page.TickText(v) + s.Name }
}
