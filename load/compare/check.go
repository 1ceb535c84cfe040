package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Check is a condition under which a comparison fails: "worse", or a metric with
// a difference between B and A, such as "p99 > 5%". [ParseCheck] makes one.
type Check struct {
	metric string // name in a check; "" for worse
	more   bool   // the difference is above the bound, else below it
	bound  float64
	text   string
}

// checkForms returns the notation of a check for error messages.
func checkForms() string {
	var names []string
	for _, m := range runMetrics {
		names = append(names, m.check)
	}
	return "a check is worse, or a metric (" + strings.Join(names, ", ") + "), < or >, and a difference such as 5%"
}

// ParseCheck reads a check.
func ParseCheck(text string) (Check, error) {
	text = strings.TrimSpace(text)
	if text == "worse" {
		return Check{text: text}, nil
	}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Check{}, fmt.Errorf("%q has no < or >; %s", text, checkForms())
	}
	c := Check{metric: strings.TrimSpace(text[:at]), more: text[at] == '>', text: text}
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text[at+1:]), "%")
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || !isPercent {
		return Check{}, fmt.Errorf("%q is not a difference in %%; %s", strings.TrimSpace(text[at+1:]), checkForms())
	}
	c.bound = percent / 100
	if !slices.ContainsFunc(runMetrics, func(m metric) bool { return m.check == c.metric }) {
		return Check{}, fmt.Errorf("there is no metric %q; %s", c.metric, checkForms())
	}
	return c, nil
}

// String returns the check in the notation of ParseCheck.
func (c Check) String() string { return c.text }

// Of reports whether the check holds for a comparison, and why. A difference that
// may be noise does not count, but one that was not tested, because there are too
// few runs, does count. Of returns an error if the comparison does not have the
// metric.
func (c Check) Of(of Comparison) (why string, holds bool, err error) {
	if c.metric == "" {
		if !of.Tested() {
			return "", false, fmt.Errorf("check %q: the runs are too few to tell a worse metric from noise; "+
				"give at least %d a side, or check a difference such as 'p99 > 10%%'", c.text, leastRuns)
		}
		why, holds = of.worse()
		return why, holds, nil
	}
	name := runMetrics[slices.IndexFunc(runMetrics, func(m metric) bool { return m.check == c.metric })].name
	for _, row := range of.Rows {
		if text, _, _ := strings.Cut(row.Metric, " from "); text == name {
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
	case row.A.Value == 0 || row.B.Value.infinite(): // no ratio: it is above any bound, or equal
		return c.more && row.B.Value > row.A.Value
	case row.A.Value.infinite():
		return !c.more
	case c.more:
		return row.Ratio-1 > c.bound
	}
	return row.Ratio-1 < c.bound
}

// worse reports whether a metric of B is worse beyond noise. The metrics of targets
// do not count: there are so many that some would seem worse by chance.
func (c Comparison) worse() (why string, holds bool) {
	var list []string
	for _, row := range c.Rows {
		if row.Target == "" && row.Verdict == Worse {
			list = append(list, row.Metric+" "+row.outcome())
		}
	}
	return strings.Join(list, ", "), len(list) > 0
}

// outcome returns the difference of a row, as in the table.
func (r Row) outcome() string {
	if r.Verdict == Untested {
		return strings.Trim(r.difference(), "()") + ", untested"
	}
	return r.difference()
}
