package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A judged is a tested difference in one metric.
type judged struct {
	metric *Metric
	row    *Row
	base   *Row
	versus *Difference
	than   *judged // of an interaction: the other difference, without versus
}

// allCompared returns the tested differences of all metrics.
func allCompared(a *Analysis) []judged {
	var rows []judged
	for i := range a.Metrics {
		rows = append(rows, compared(a, &a.Metrics[i])...)
	}
	return rows
}

// compared returns the tested differences of a metric.
func compared(a *Analysis, m *Metric) []judged {
	var all []judged
	base := m.Row(a.Baseline)
	for i := range m.Rows {
		if r := &m.Rows[i]; r.tested && r.Versus != nil {
			all = append(all, judged{m, r, base, r.Versus, nil})
		}
	}
	for _, answer := range m.Answers {
		j := judged{m, m.Row(answer.Configuration), m.Row(answer.Against), answer.Versus, nil}
		if than := answer.Than; than != nil {
			j.than = &judged{metric: m, row: m.Row(than.Configuration), base: m.Row(than.Against)}
		}
		all = append(all, j)
	}
	return all
}

// byBase divides differences of a metric into those from the same configuration, and each interaction.
func byBase(group []judged) (parts [][]judged) {
	for _, j := range group {
		i := slices.IndexFunc(parts, func(part []judged) bool {
			return part[0].base.Configuration == j.base.Configuration && part[0].than == nil && j.than == nil
		})
		if i < 0 {
			parts = append(parts, []judged{j})
		} else {
			parts[i] = append(parts[i], j)
		}
	}
	return parts
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
	if j.versus.Ratio == nil {
		return math.Inf(1)
	}
	return math.Abs(math.Log(*j.versus.Ratio))
}

func (j judged) differs() bool { return j.versus.differs() }

func (j judged) finding(text string) Finding {
	return Finding{Text: text, Metric: j.metric.Name, Configuration: j.row.Configuration, Verdict: j.versus.Verdict}
}

// sentence describes a difference: "With stdout=terminal, requests per second
// are 43% lower than with stdout=null: 29,700/s instead of 52,100/s (95%
// interval of the ratio 0.55 to 0.59, 10 runs each)."
func (j judged) sentence() string {
	d := j.versus
	if j.than != nil {
		return fmt.Sprintf("%s: %s (%s).", capital(j.effects()), "the effects differ, by a ratio of "+ratio(*d.Ratio),
			j.sureness())
	}
	if d.Ratio == nil {
		return fmt.Sprintf("With %s, %s %s, and %s with %s (medians of %s).", j.row.Configuration, j.is(),
			Quantity(j.row.Median, j.metric.Unit), Quantity(j.base.Median,
				j.metric.Unit), j.base.Configuration, j.runs())
	}
	return fmt.Sprintf("With %s, %s %s with %s: %s instead of %s (%s).", j.row.Configuration, j.is(), j.thanBase(),
		j.base.Configuration,
		Quantity(j.row.Median, j.metric.Unit), Quantity(j.base.Median, j.metric.Unit), j.sureness())
}

// effects describes the two differences of an interaction: "latency p99 is 20% lower with a than with b, and 40% lower
// with c than with d".
func (j judged) effects() string {
	part := func(j judged) string {
		r, than := ratioOf(j.row.Median, j.base.Median), "than"
		if r >= 2 {
			than = "as"
		}
		return fmt.Sprintf("%s with %s %s with %s", change(r), j.row.Configuration, than, j.base.Configuration)
	}
	return fmt.Sprintf("%s %s, and %s", j.is(), part(j), part(*j.than))
}

// thanBase compares with the base: "43% lower than", "2.3 times as high as".
func (j judged) thanBase() string {
	switch r := j.versus.Ratio; {
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
	if r := j.versus.Ratio; r != nil {
		return change(*r)
	}
	return Quantity(j.row.Median, j.metric.Unit)
}

// spoken are the names in sentences of metrics whose name is a heading.
var spoken = map[string]string{
	requestsPerSecond:      "requests per second are",
	results.GoodAnswers:    "answers of 2xx per second are",
	peakMemory:             "the memory at its peak is",
	linesLost:              "the log lines that were lost are",
	results.FailedRequests: "the share of failed requests is",
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
	if i := j.versus.Interval; i != nil {
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
