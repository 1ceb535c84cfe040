package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// undecided returns findings if there are too few runs for the number of comparisons: how many are needed, and the largest
// difference so far.
func undecided(t *table, a *Analysis, groups [][]judged) []Finding {
	open := slices.DeleteFunc(slices.Concat(groups...), func(j judged) bool {
		return j.versus.Verdict != NotJudged || j.metric.Better == results.Neither || j.versus.withheld
	})
	if len(open) == 0 {
		return nil
	}
	where := fmt.Sprintf("%s of each configuration", t.fewest())
	if slices.ContainsFunc(allCompared(a), func(j judged) bool { return j.differs() || j.versus.Verdict == Noise }) {
		where = "of " + listed(configurations(open), maxNamed)
	}
	many := ""
	if a.Family.Comparisons > 1 {
		many = fmt.Sprintf(", for %d comparisons at once", a.Family.Comparisons)
	}
	return append([]Finding{{Text: fmt.Sprintf("There are too few runs to distinguish a difference from chance: %s. It "+
		"takes at least %d%s.", where, a.Family.NeededRuns, many)}}, soFar(open)...)
}

// soFar describes the largest difference of the first metric.
func soFar(open []judged) []Finding {
	first := open[0].metric
	open = slices.DeleteFunc(open, func(j judged) bool {
		return j.metric != first && !first.Own || !j.metric.Own && first.Own
	})
	largestFirst(open)
	j := open[0]
	if j.than != nil || j.row.Median == j.base.Median {
		return nil
	}
	return []Finding{{Metric: j.metric.Name, Configuration: j.row.Configuration,
		Text: fmt.Sprintf("The largest difference so far, which may be chance: with %s, %s %s with %s, %s instead of "+
			"%s.", j.row.Configuration, j.is(), j.thanBase(),
			j.base.Configuration, Quantity(j.row.Median, j.metric.Unit), Quantity(j.base.Median, j.metric.Unit))}}
}

// fewest describes the number of counted runs of the configurations that have
// any: "3", or "2 to 3".
func (t *table) fewest() string {
	least, most := math.MaxInt, 0
	for _, r := range t.runs {
		if r.Counted > 0 {
			least, most = min(least, r.Counted), max(most, r.Counted)
		}
	}
	if least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(least)
}

// floor describes the noise of the first leading metric, or of the noisiest of
// the runs' own measures.
func floor(a *Analysis, groups [][]judged) []Finding {
	var worst *Metric
	measures := 0
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if len(groups) == 0 || m.Noise == nil || m.Noise.Ratio == nil ||
			!slices.ContainsFunc(groups[0], func(j judged) bool { return j.metric == m }) {
			continue
		}
		measures++
		if worst == nil || m.noise() > worst.noise() {
			worst = m
		}
	}
	if worst == nil || worst.noise() == 0 && worst.Noise.Interval == nil { // for example 2xx responses if there are none
		return nil
	}
	by := percent(worst.noise())
	if measures > 1 {
		by = "up to " + by
	}
	text := fmt.Sprintf("The noise: %s, run as two configurations, differs from itself by %s in %s", a.Baseline, by,
		worst.Name)
	if in := worst.Noise.Interval; in != nil {
		text += fmt.Sprintf(" (95%% interval of the ratio %s to %s)", ratio(in.Low), ratio(in.High))
	}
	return []Finding{{Text: text + ".", Metric: worst.Name}}
}

// noise returns the difference between the baseline and its twin, as a share.
func (m *Metric) noise() float64 { return math.Abs(*m.Noise.Ratio - 1) }
