package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A judged is the difference of a configuration in one metric.
type judged struct {
	metric *Metric
	row    *Row
	base   *Row
}

// allCompared returns the rows of all metrics with a comparison.
func allCompared(a *Analysis) []judged {
	var rows []judged
	for i := range a.Metrics {
		rows = append(rows, compared(a, &a.Metrics[i])...)
	}
	return rows
}

// compared returns the rows of a metric with a comparison.
func compared(a *Analysis, m *Metric) []judged {
	var rows []judged
	base := m.Row(a.Baseline)
	for i := range m.Rows {
		if r := &m.Rows[i]; r.Versus != nil && r.Configuration != a.Again {
			rows = append(rows, judged{m, r, base})
		}
	}
	return rows
}

// configurations returns the configurations of differences without duplicates.
func configurations(group []judged) []string {
	var names []string
	for _, j := range group {
		if !slices.Contains(names, j.row.Configuration) {
			names = append(names, j.row.Configuration)
		}
	}
	return names
}

func largestFirst(rows []judged) {
	slices.SortStableFunc(rows, func(a, b judged) int { return cmp.Compare(b.size(), a.size()) })
}

// size returns the distance of the ratio from 1, in either direction. Without a
// ratio it is infinite.
func (j judged) size() float64 {
	if j.row.Versus.Ratio == nil {
		return math.Inf(1)
	}
	return math.Abs(math.Log(*j.row.Versus.Ratio))
}

func (j judged) differs() bool { return j.row.Versus.differs() }

func (j judged) finding(text string) Finding {
	return Finding{Text: text, Metric: j.metric.Name, Configuration: j.row.Configuration, Verdict: j.row.Versus.Verdict}
}

// sentence describes a difference: "With stdout=terminal, requests per second
// are 43% lower than with stdout=null: 29,700/s instead of 52,100/s (95%
// interval of the ratio 0.55 to 0.59, 10 runs each)."
func (j judged) sentence() string {
	d := j.row.Versus
	if d.Ratio == nil {
		return fmt.Sprintf("With %s, %s %s, and %s with %s (medians of %s).", j.row.Configuration, j.is(),
			Quantity(j.row.Median, j.metric.Unit), Quantity(j.base.Median,
				j.metric.Unit), j.base.Configuration, j.runs())
	}
	return fmt.Sprintf("With %s, %s %s with %s: %s instead of %s (%s).", j.row.Configuration, j.is(), j.than(),
		j.base.Configuration,
		Quantity(j.row.Median, j.metric.Unit), Quantity(j.base.Median, j.metric.Unit), j.sureness())
}

// than compares with the base: "43% lower than", "2.3 times as high as".
func (j judged) than() string {
	switch r := j.row.Versus.Ratio; {
	case r == nil:
		return "other than"
	case *r >= 2:
		return change(*r) + " as"
	default:
		return change(*r) + " than"
	}
}

// briefly returns the change without the base: "43% lower".
func (j judged) briefly() string {
	if r := j.row.Versus.Ratio; r != nil {
		return change(*r)
	}
	return Quantity(j.row.Median, j.metric.Unit)
}

// spoken are the names in sentences of metrics whose name is a heading.
var spoken = map[string]string{
	requestsPerSecond:   "requests per second are",
	results.GoodAnswers: "answers of 2xx per second are",
	peakMemory:          "the memory at its peak is",
	linesLost:           "the log lines that were lost are",
	notAnswered:         "the requests that were not answered with 2xx are",
}

func (j judged) is() string { return is(j.metric) }

func is(m *Metric) string {
	if words, ok := spoken[m.Name]; ok && !m.Own {
		return words
	}
	return m.Name + " is"
}

// runs returns the number of runs: "10 runs each", or "9 and 10 runs".
func (j judged) runs() string {
	n, m := len(j.row.Values), len(j.base.Values)
	if n != m {
		return fmt.Sprintf("%d and %d runs", n, m)
	}
	return readable.Things(int64(n), "run") + " each"
}

// sureness returns the interval and the number of runs.
func (j judged) sureness() string {
	if i := j.row.Versus.Interval; i != nil {
		return fmt.Sprintf("95%% interval of the ratio %s to %s, %s", ratio(i.Low), ratio(i.High), j.runs())
	}
	return "medians of " + j.runs()
}

// ratio writes a ratio with enough digits to distinguish it from 1.
func ratio(v float64) string {
	if math.Abs(v-1) < 0.1 {
		return fmt.Sprintf("%.3f", v)
	}
	return readable.Number(v)
}
