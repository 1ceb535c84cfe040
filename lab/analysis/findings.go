package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// Maximum numbers of sentences of one kind. The others are counted or named.
const (
	maxDifferences = 4
	maxBeside      = 3
	maxAlike       = 2
)

// findings returns the sentences for the top of a report.
func findings(t *table, a *Analysis) []Finding {
	groups := leads(a)
	told := undecided(t, a, groups)
	for _, g := range groups {
		parts := byBase(g)
		for _, part := range parts {
			told = append(told, differing(part, max(1, maxDifferences/len(parts)))...)
		}
	}
	told = append(told, lost(t)...)
	for _, g := range groups {
		for _, part := range byBase(g) {
			told = append(told, alike(part)...)
		}
	}
	if t.alone() && len(told) == 0 {
		told = append(told, Finding{Text: onlyOne})
	} else if len(told) == 0 && slices.ContainsFunc(a.Metrics, func(m Metric) bool { return m.Leads || m.constant }) {
		told = append(told, Finding{Text: allTheSame})
	}
	told = append(told, beside(a)...)
	all := slices.Concat(unmeasured(t), unreliable(t), refusals(t), withheld(allCompared(a)), told, floor(a, groups))
	if len(all) == 0 {
		all = append(all, Finding{Text: "There is nothing to compare."})
	}
	return all
}

// allTheSame is the finding if no leading metric varies.
const allTheSame = "No difference was found: the compared metrics are the same in all runs."

// onlyOne is the finding of an experiment that only measures.
const onlyOne = "Nothing was compared: the experiment has one configuration. The difference between its runs and those with " +
	"(again) is the noise of this machine."

// unmeasured returns findings about configurations without a counted run.
// Configurations with the same outcome share one.
func unmeasured(t *table) []Finding {
	byEnd := map[string][]string{}
	var ends []string
	why := map[string]string{} // first error by outcome
	for _, r := range t.runs {
		if r.All == 0 || r.Counted > 0 {
			continue
		}
		end := ended(r)
		if r.Configuration == t.again && slices.Contains(byEnd[end], t.baseline) {
			continue
		}
		if byEnd[end] == nil {
			ends = append(ends, end)
		}
		byEnd[end] = append(byEnd[end], r.Configuration)
		why[end] = cmp.Or(why[end], r.FirstError)
	}
	var all []Finding
	for _, end := range ends {
		f := Finding{Text: fmt.Sprintf("With %s nothing was measured: %s.", listed(byEnd[end], maxNamed), end)}
		if len(byEnd[end]) == 1 {
			f.Configuration = byEnd[end][0]
		}
		if why[end] != "" {
			f.Text += fmt.Sprintf(" The first one: %s.", firstLine(why[end]))
		}
		if slices.Contains(byEnd[end], t.baseline) {
			f.Text += fmt.Sprintf(" %s is the baseline, so that nothing can be compared with it.", t.baseline)
		}
		all = append(all, f)
	}
	return all
}

// outcomes are the outcomes that do not count, with the words for them after "3
// of 10 runs" and after "In 3 of 10 runs of null".
var outcomes = []struct {
	outcome     results.Outcome
	words, long string
}{
	{results.NeverReady, "was never ready", "the service was never ready"},
	{results.Died, "died", "the service died"},
	{results.NoAnswer, "gave no response", "no request was answered"},
	{results.Failed, "could not be made", "the run could not be made"},
}

// ended describes the runs that do not count: "3 of 10 runs died".
func ended(r Runs) string {
	var parts []string
	for _, o := range outcomes {
		if n := r.Outcomes[o.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s %s", n, readable.Things(int64(r.All), "run"), o.words))
		}
	}
	return readable.Enumerate(parts)
}

// leads returns the tested differences: one group for each leading metric, and one for the runs' own measures if the
// experiment names none.
func leads(a *Analysis) [][]judged {
	var groups [][]judged
	var own []judged
	for i := range a.Metrics {
		m := &a.Metrics[i]
		rows := compared(a, m)
		switch {
		case !m.Leads || len(rows) == 0:
		case m.Own && !m.named:
			own = append(own, rows...)
		default:
			groups = append(groups, rows)
		}
	}
	if own != nil {
		groups = append(groups, own)
	}
	return groups
}

// differing returns findings about differences that are more than noise, the largest ratio first. There are at most most
// of them. One more names the rest.
func differing(group []judged, most int) []Finding {
	found := slices.DeleteFunc(slices.Clone(group), func(j judged) bool { return !j.differs() })
	largestFirst(found)
	if len(found) == most+1 { // a sentence about one more would be no shorter
		most++
	}
	var all []Finding
	for _, j := range found[:min(len(found), most)] {
		all = append(all, j.finding(j.sentence()))
	}
	return append(all, smaller(found[len(all):])...)
}

// smaller describes differences briefly: with their configurations if all are
// of the same metric, otherwise by their number.
func smaller(left []judged) []Finding {
	if len(left) == 0 {
		return nil
	}
	m, base := left[0].metric, left[0].base
	var parts []string
	for _, j := range left {
		if j.metric != m {
			return []Finding{{Text: readable.Things(int64(len(left)), "smaller difference") + " more in the table."}}
		}
		parts = append(parts, fmt.Sprintf("%s with %s", j.briefly(), j.row.Configuration))
	}
	return []Finding{{Text: fmt.Sprintf("Nearer to %s, %s %s.", base.Configuration, is(m), listed(parts, 6)),
		Metric: m.Name}}
}

// besides are the metrics that have a description if they do not lead and differ much.
var besides = []string{linesLost, results.FailedRequests, results.GoodAnswers, peakMemory, latencyP99, cpuPerRequest}

// muchMore is the ratio, in either direction, from which on such a metric is described.
const muchMore = 1.5

// beside describes the largest differences from the baseline in metrics that do not lead: those in which no run of one
// configuration is between two of the other. They have no verdict.
func beside(a *Analysis) []Finding {
	var found []judged
	for _, name := range besides {
		m := a.Metric(name)
		if m == nil || m.Leads || m.Own {
			continue
		}
		base := m.Row(a.Baseline)
		for i := range m.Rows {
			r := &m.Rows[i]
			if r.Versus == nil || r.Configuration == a.Again {
				continue
			}
			j := judged{m, r, base, r.Versus, nil}
			if apart(r.Values, base.Values) && j.size() >= math.Log(muchMore) {
				found = append(found, j)
			}
		}
	}
	largestFirst(found)
	var all []Finding
	for _, j := range found[:min(len(found), maxBeside)] {
		all = append(all, j.finding("Not tested, because "+j.metric.Name+" is no leading metric: with"+
			strings.TrimPrefix(j.sentence(), "With")))
	}
	return all
}

// apart reports whether all values of one sample are larger than all of the other, in samples that are large enough.
func apart(a, b []Value) bool {
	x, y := numbers(a), numbers(b)
	return smallestP(len(x), len(y)) <= alpha && (slices.Min(x) > slices.Max(y) || slices.Max(x) < slices.Min(y))
}

// alike returns findings about comparisons without a verdict of better or worse: those that are undecided, and those
// without a difference.
func alike(group []judged) []Finding {
	var noise [none + 1][]judged
	for _, j := range group {
		if j.versus.Verdict == Noise {
			k := j.versus.kindOfNoise()
			noise[k] = append(noise[k], j)
		}
	}
	var all []Finding
	for _, rows := range noise {
		all = append(all, fewOrOne(rows, len(group))...)
	}
	return all
}

// fewOrOne returns a finding for each comparison, or one for all if there are many. The comparisons are of one kind,
// and of a group with that many.
func fewOrOne(rows []judged, of int) []Finding {
	if len(rows) <= maxAlike {
		var all []Finding
		for _, j := range rows {
			all = append(all, j.finding(j.alike()))
		}
		return all
	}
	kind := rows[0].versus.kindOfNoise()
	if slices.ContainsFunc(rows, func(j judged) bool { return j.metric != rows[0].metric }) {
		return []Finding{{Verdict: Noise, Text: fmt.Sprintf("In %d of %d comparisons of the runs' own measures %s.",
			len(rows), of, kind.ofMany(intervals(rows)))}}
	}
	m := rows[0].metric
	return []Finding{{Metric: m.Name, Verdict: Noise, Text: fmt.Sprintf("Between %s and %s, in %s %s.",
		rows[0].base.Configuration, listed(configurations(rows), 6), m.Name, kind.ofMany(intervals(rows)))}}
}

// firstLine shortens an error for a sentence.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return readable.Clip(strings.TrimRight(line, ".:"))
}
