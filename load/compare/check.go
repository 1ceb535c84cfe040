package compare

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A Check is a condition under which a comparison is a failure: "worse", or a
// metric, < or >, and by how much B differs from A, such as "p99 > 5%". Make it
// with [ParseCheck].
type Check struct {
	metric string // "" for worse
	more   bool   // the difference is above the bound, else below it
	bound  float64
	text   string
}

// shortNames are the names of metrics that have no space.
var shortNames = map[string]string{
	"rate": "requests per second", "cpu": "server CPU per request", "memory": "server memory, most",
}

// checkForms is for messages.
const checkForms = "a check is worse, or a metric (rate, p50, p90, p99, p99.9, mean, errors, cpu, memory), < or >, and a difference such as 5%"

// ParseCheck reads a check.
func ParseCheck(text string) (Check, error) {
	text = strings.TrimSpace(text)
	if text == "worse" {
		return Check{text: text}, nil
	}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Check{}, fmt.Errorf("%q has no < or >; %s", text, checkForms)
	}
	c := Check{metric: strings.TrimSpace(text[:at]), more: text[at] == '>', text: text}
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text[at+1:]), "%")
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || !isPercent {
		return Check{}, fmt.Errorf("%q is no difference in %%; %s", strings.TrimSpace(text[at+1:]), checkForms)
	}
	c.bound = percent / 100
	switch c.metric {
	case "rate", "p50", "p90", "p99", "p99.9", "mean", "errors", "cpu", "memory":
		return c, nil
	}
	return Check{}, fmt.Errorf("there is no metric %q; %s", c.metric, checkForms)
}

// String returns the check as ParseCheck reads it.
func (c Check) String() string { return c.text }

// Of reports whether the check is true of a comparison, and why. A difference
// that may be noise is none; one of runs that are too few for a test counts as it
// is. It fails if the comparison cannot say.
func (c Check) Of(of Comparison) (why string, holds bool, err error) {
	if c.metric == "" {
		if !of.Tested() {
			return "", false, fmt.Errorf("check %q: the runs are too few to tell what is worse from noise; give at least %d a side, or check a difference such as 'p99 > 10%%'",
				c.text, leastRuns)
		}
		why, holds = of.worse()
		return why, holds, nil
	}
	for _, row := range of.Rows {
		if name, _, _ := strings.Cut(row.Metric, " from "); name == cmp.Or(shortNames[c.metric], c.metric) {
			return row.Metric + " " + row.outcome(), c.exceeded(row), nil
		}
	}
	return "", false, fmt.Errorf("check %q: the results have no %s to compare", c.text, c.metric)
}

// exceeded reports whether the difference of a row is beyond the bound.
func (c Check) exceeded(row Row) bool {
	switch {
	case row.Verdict == Noise:
		return false
	case row.A.Value == 0 || row.B.Value.infinite(): // no ratio: more than any bound, or equal
		return c.more && row.B.Value > row.A.Value
	case row.A.Value.infinite():
		return !c.more
	case c.more:
		return row.Ratio-1 > c.bound
	}
	return row.Ratio-1 < c.bound
}

// worse reports whether a metric of B is worse beyond noise. Those of targets do not count: of so many, some would
// seem worse by chance.
func (c Comparison) worse() (why string, holds bool) {
	var list []string
	for _, row := range c.Rows {
		if row.Target == "" && row.Verdict == Worse {
			list = append(list, row.Metric+" "+row.outcome())
		}
	}
	return strings.Join(list, ", "), len(list) > 0
}

// outcome is the difference of a row as the table has it.
func (r Row) outcome() string {
	if r.Verdict == Untested {
		return strings.Trim(r.difference(), "()") + ", untested"
	}
	return r.difference()
}
