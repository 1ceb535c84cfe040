package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// undecided returns a finding for each family with leading metrics that has too
// few runs for its number of comparisons: how many runs it needs, and the
// largest difference so far.
func undecided(t *table, a *Analysis, groups [][]judged) []Finding {
	var all []Finding
	for _, f := range a.Families {
		if open := f.open(slices.Concat(groups...)); len(open) > 0 {
			all = append(all, f.tooFew(t, a, open, ""))
			all = append(all, soFar(open)...)
		}
	}
	return all
}

// undecidedElsewhere returns the findings of undecided for the families in which
// only metrics that do not lead have too few runs.
func undecidedElsewhere(t *table, a *Analysis, groups [][]judged) []Finding {
	var all []Finding
	for _, f := range a.Families {
		if open := f.open(allCompared(a)); len(open) > 0 && len(f.open(slices.Concat(groups...))) == 0 {
			all = append(all, f.tooFew(t, a, open, " in the other metrics"))
		}
	}
	return all
}

// open returns the comparisons of the family that have too few runs.
func (f *Family) open(rows []judged) []judged {
	return slices.DeleteFunc(slices.Clone(rows), func(j judged) bool {
		return j.metric.first != f.Leads || j.row.Versus.Verdict != NotJudged || j.metric.Better == results.Neither ||
			j.row.Versus.withheld
	})
}

// tooFew describes how many runs the family has and how many it needs.
func (f *Family) tooFew(t *table, a *Analysis, open []judged, in string) Finding {
	where := fmt.Sprintf("%s of each configuration", t.fewest())
	if slices.ContainsFunc(allCompared(a), func(j judged) bool {
		return j.metric.first == f.Leads && (j.row.Versus.differs() || j.row.Versus.Verdict == Noise)
	}) {
		where = "of " + listed(configurations(open), maxNamed)
	}
	many := ""
	if f.Comparisons > 1 {
		many = fmt.Sprintf(", for %d comparisons at once", f.Comparisons)
	}
	return Finding{Text: fmt.Sprintf("There are too few runs to distinguish a difference from chance%s: %s. It takes "+
		"at least %d%s.", in, where, f.NeededRuns, many)}
}

// soFar describes the largest difference of the first metric.
func soFar(open []judged) []Finding {
	first := open[0].metric
	open = slices.DeleteFunc(slices.Clone(open), func(j judged) bool {
		return j.metric != first && !first.Own || !j.metric.Own && first.Own
	})
	largestFirst(open)
	j := open[0]
	if j.row.Median == j.base.Median {
		return nil
	}
	return []Finding{{Metric: j.metric.Name, Configuration: j.row.Configuration,
		Text: fmt.Sprintf("The largest difference so far, which may be chance: with %s, %s %s with %s, %s instead of "+
			"%s.", j.row.Configuration, j.is(), j.than(),
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
