package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/lab/results"
)

// refusals returns findings about configurations without any 2xx response. A
// comparison of them compares refusals, which are quick.
func refusals(t *table) []Finding {
	good := t.find(results.GoodAnswers)
	if good == nil {
		return nil
	}
	var names []string
	for _, name := range t.configurations {
		if values := numbers(good.values[name]); len(values) > 0 && slices.Max(values) == 0 && name != t.again {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Finding{{Text: fmt.Sprintf("With %s no request was answered with 2xx (%s): the numbers describe "+
		"refusals.",
		listed(names, maxNamed), listed(t.refusedBy(names), maxNamed))}}
}

// refusedBy returns the metrics that count the refused and failed requests of
// these configurations: "answers of 404".
func (t *table) refusedBy(names []string) []string {
	var how []string
	for _, c := range t.columns {
		if c.own || c.Name == results.GoodAnswers || !strings.HasPrefix(c.Name, "answers of ") &&
			!strings.HasPrefix(c.Name, "failed: ") {
			continue
		}
		if slices.ContainsFunc(names, func(name string) bool {
			return len(c.values[name]) > 0 && slices.Max(numbers(c.values[name])) > 0
		}) {
			how = append(how, c.Name)
		}
	}
	return how
}

// lost returns findings about lost log lines if the baseline has none to
// compare with because its lines go to /dev/null.
func lost(t *table) []Finding {
	c := t.find(linesLost)
	if c == nil || len(c.values[t.baseline]) > 0 {
		return nil
	}
	var parts []string
	for _, name := range t.configurations {
		values := c.values[name]
		if len(values) == 0 || slices.Max(numbers(values)) == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("with %s (%s in the median run, %s at most)", name, number(median(values)),
			number(slices.Max(numbers(values)))))
	}
	if len(parts) == 0 {
		return nil
	}
	return []Finding{{Metric: linesLost, Text: fmt.Sprintf("Log lines were lost %s.", listed(parts, maxNamed))}}
}

// find returns the column of one of the lab's metrics, or nil.
func (t *table) find(name string) *column {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.Name == name && !c.own })
	if i < 0 {
		return nil
	}
	return &t.columns[i]
}
