package report

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

// never is the text for the latency of a request that was never answered.
const never = "never"

// span formats a time with its unit.
func span(us load.Micros) string {
	if us == load.NeverAnswered {
		return never
	}
	return readable.Span(float64(us))
}

// bounded adds a sign to a latency that is a lower bound. The key is its JSON
// name.
func bounded(l *load.Latency, key, text string) string {
	if slices.Contains(l.AtLeast, key) {
		return "≥" + text
	}
	return text
}

// marks are the signs in cells, with their meanings.
var marks = []struct{ mark, meaning string }{
	{"≥", "≥ is a lower bound: requests that were given up count with the time that they had taken."},
	{never, never + " is the time of requests that failed: they were never answered."},
	{"?", "? has fewer than 3 requests beyond it: another run may have a very different one."},
}

// notes returns the meanings of the marks in the cells of rows.
func notes(rows [][]page.Cell) []string {
	var list []string
	for _, m := range marks {
		if slices.ContainsFunc(rows, func(r []page.Cell) bool {
			return slices.ContainsFunc(r[1:len(r)-1], func(c page.Cell) bool {
				return strings.Contains(c.Text,
					m.mark)
			})
		}) {
			list = append(list, m.meaning)
		}
	}
	return list
}

// finite returns the finite values.
func finite(values ...load.Micros) []float64 {
	var list []float64
	for _, v := range values {
		if v != load.NeverAnswered {
			list = append(list, float64(v))
		}
	}
	return list
}
