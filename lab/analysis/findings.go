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

// A judged is the difference of a configuration in one metric.
type judged struct {
	metric *Metric
	row    *Row
	base   *Row
}

// findings returns the sentences for the top of a report.
func findings(t *table, a *Analysis) []Finding {
	groups := leads(a)
	told := undecided(t, a, groups)
	for _, g := range groups {
		told = append(told, differing(g)...)
	}
	told = append(told, lost(t)...)
	if slices.ContainsFunc(slices.Concat(groups...), judged.differs) {
		told = append(told, beside(a)...)
	} else {
		told = append(told, elsewhere(a)...)
	}
	for _, g := range groups {
		told = append(told, alike(g)...)
	}
	told = append(told, undecidedElsewhere(t, a, groups)...)
	if len(told) == 0 && slices.ContainsFunc(a.Metrics, func(m Metric) bool { return len(compared(a, &m)) > 0 }) {
		told = append(told, Finding{Text: allTheSame})
	}
	all := slices.Concat(unmeasured(t), unreliable(t), refusals(t), withheld(allCompared(a)), told, floor(a, groups))
	if len(all) == 0 {
		all = append(all, Finding{Text: "There is nothing to compare."})
	}
	return all
}

// allTheSame is the finding if no leading metric varies.
const allTheSame = "No difference was found: the compared metrics are the same in all runs."

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
	{results.NoAnswer, "gave no answer", "no request was answered"},
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

// leads returns the rows that findings are about: one group for each leading
// metric, and one for the runs' own measures.
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

// differing returns findings about differences that are better or worse, the
// largest ratio first. One finding names the rest.
func differing(group []judged) []Finding {
	found := slices.DeleteFunc(slices.Clone(group), func(j judged) bool { return !j.differs() })
	largestFirst(found)
	most := maxDifferences
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

// besides are the metrics that do not lead, but have a finding if they differ
// much.
var besides = []string{linesLost, notAnswered, results.GoodAnswers, peakMemory, latencyP99, cpuPerRequest}

// muchMore is the ratio, in either direction, from which on such a metric has a
// finding.
const muchMore = 1.5

func beside(a *Analysis) []Finding {
	var found []judged
	for _, name := range besides {
		m := a.Metric(name)
		if m == nil || m.Leads || m.Own {
			continue
		}
		for _, j := range compared(a, m) {
			if j.differs() && j.size() >= math.Log(muchMore) {
				found = append(found, j)
			}
		}
	}
	largestFirst(found)
	var all []Finding
	for _, j := range found[:min(len(found), maxBeside)] {
		all = append(all, j.finding(j.sentence()))
	}
	return all
}

// elsewhere returns a finding for each metric that does not lead and differs:
// the largest difference, followed by those of the other configurations.
func elsewhere(a *Analysis) []Finding {
	var all []Finding
	for i := range a.Metrics {
		found := slices.DeleteFunc(compared(a, &a.Metrics[i]), func(j judged) bool { return !j.differs() })
		if len(found) == 0 {
			continue
		}
		largestFirst(found)
		f := found[0].finding(found[0].sentence())
		for _, rest := range smaller(found[1:]) {
			f.Text += " " + rest.Text
		}
		all = append(all, f)
	}
	return all
}

// alike returns findings about comparisons without a verdict of better or worse: those that the noise of the baseline
// forbids, those that are undecided, and those without a difference.
func alike(group []judged) []Finding {
	var noise [3][]judged
	for _, j := range group {
		if j.row.Versus.Verdict == Noise {
			k := j.row.Versus.kindOfNoise()
			noise[k] = append(noise[k], j)
		}
	}
	var all []Finding
	for _, rows := range noise {
		all = append(all, fewOrOne(rows, len(group))...)
	}
	return all
}

// fewOrOne returns a finding for each comparison, or one for all if there are many. The comparisons are of one kind, and of a
// group with that many.
func fewOrOne(rows []judged, of int) []Finding {
	if len(rows) <= maxAlike {
		var all []Finding
		for _, j := range rows {
			all = append(all, j.finding(j.alike()))
		}
		return all
	}
	kind := rows[0].row.Versus.kindOfNoise()
	if slices.ContainsFunc(rows, func(j judged) bool { return j.metric != rows[0].metric }) {
		return []Finding{{Verdict: Noise, Text: fmt.Sprintf("In %d of %d comparisons of the runs' own measures %s.",
			len(rows), of, kind.ofMany(intervals(rows)))}}
	}
	m := rows[0].metric
	return []Finding{{Metric: m.Name, Verdict: Noise, Text: fmt.Sprintf("Between %s and %s, in %s %s.",
		rows[0].base.Configuration, listed(configurations(rows), 6), m.Name, kind.ofMany(intervals(rows)))}}
}

// A noiseKind is the reason for the verdict Noise.
type noiseKind int

const (
	forbidden noiseKind = iota // the baseline differs from itself by as much
	open                       // the interval of the ratio excludes 1, or there is none; chance may be all of it
	none                       // the interval contains 1, or the medians are equal
)

func (d *Difference) kindOfNoise() noiseKind {
	switch {
	case d.Why == withinItself:
		return forbidden
	case d.Interval != nil && (d.Interval.Low > 1 || d.Interval.High < 1),
		d.Interval == nil && d.Ratio != nil && *d.Ratio != 1: // as with runs of 0 answers per second
		return open
	}
	return none
}

// ofMany is the end of a sentence about several comparisons.
func (k noiseKind) ofMany(intervals []*Interval) string {
	switch k {
	case forbidden:
		return "the noise forbids a verdict: the baseline differs from itself by as much"
	case open:
		return "a difference is undecided: no 95% interval contains equality, but chance may be all of it in so many " +
			"comparisons"
	}
	return "no difference was found" + allowed(intervals...)
}

// alike describes one comparison without a verdict of better or worse.
func (j judged) alike() string {
	d, unit := j.row.Versus, j.metric.Unit
	values := fmt.Sprintf("%s instead of %s", Quantity(j.row.Median, unit), Quantity(j.base.Median, unit))
	switch d.kindOfNoise() {
	case forbidden:
		return fmt.Sprintf("With %s, %s within the noise: %s with %s, which differs from itself by as much.",
			j.row.Configuration, j.is(), values, j.base.Configuration)
	case open:
		return fmt.Sprintf("It is undecided whether %s differs between %s and %s: %s (%s); %s.", j.metric.Name,
			j.row.Configuration, j.base.Configuration, values, j.sureness(), d.Why)
	}
	text := fmt.Sprintf("No difference in %s was found between %s and %s: %s and %s", j.metric.Name,
		j.row.Configuration, j.base.Configuration,
		Quantity(j.row.Median, unit), Quantity(j.base.Median, unit))
	if d.Interval == nil {
		return text + fmt.Sprintf(" (%s).", j.runs())
	}
	return text + fmt.Sprintf("%s (%s).", allowed(d.Interval), j.sureness())
}

// scattered is the width from which on an interval says more about the runs
// than about the difference.
const scattered = 0.2

// allowed describes the differences that the intervals allow, after comparisons
// that found none. It is "" if one of them has no interval.
func allowed(all ...*Interval) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, i := range all {
		if i == nil {
			return ""
		}
		low, high = min(low, i.Low), max(high, i.High)
	}
	if widest := max(1-low, high-1); widest < scattered {
		return fmt.Sprintf("; if there is one, it is likely %s", under(widest))
	}
	reach := "the 95% interval reaches"
	if len(all) > 1 {
		reach = "the 95% intervals reach"
	}
	return fmt.Sprintf("; the runs scatter, and %s from %s to %s", reach, change(low), change(high))
}

func intervals(group []judged) []*Interval {
	var all []*Interval
	for _, j := range group {
		all = append(all, j.row.Versus.Interval)
	}
	return all
}

// firstLine shortens an error for a sentence.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return readable.Clip(strings.TrimRight(line, ".:"))
}
