package report

import (
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// never is the time of a request that was never answered, in words.
const never = "never"

// span writes a time with its unit.
func span(us load.Micros) string {
	if us == load.NeverAnswered {
		return never
	}
	return readable.Span(float64(us))
}

// bounded puts a sign before a value of a latency that is a lower bound, by the value's JSON name.
func bounded(l *load.Latency, key, text string) string {
	if slices.Contains(l.AtLeast, key) {
		return "≥" + text
	}
	return text
}

// latencyNotes explain the marks that a table has beside its values.
func latencyNotes(rows []namedLatency) []string {
	var bound, infinite, few bool
	for _, l := range rows {
		bound = bound || l.GivenUp > 0
		infinite = infinite || l.NeverAnswered > 0
		few = few || slices.ContainsFunc(columnsOf(l.Latency), func(c column) bool { return slices.Contains(l.TooFew, c.key) })
	}
	var notes []string
	if bound {
		notes = append(notes, "≥ is a lower bound: requests that were given up count with the time that they had taken.")
	}
	if infinite {
		notes = append(notes, never+" is that of requests that failed: they were never answered.")
	}
	if few {
		notes = append(notes, "? has fewer than 3 requests beyond it: another run may have a very different one.")
	}
	return notes
}

// finite returns the values that have an end.
func finite(values ...load.Micros) []float64 {
	var list []float64
	for _, v := range values {
		if v != load.NeverAnswered {
			list = append(list, float64(v))
		}
	}
	return list
}
