package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A Comparison compares two results: of two commits, or of two machines. Its
// JSON is a stable format for other programs.
type Comparison struct {
	A Side `json:"a"`
	B Side `json:"b"`

	// Findings are sentences, the most important first. Warnings limit their
	// validity, above all other differences between A and B.
	Findings []Finding `json:"findings"`
	Warnings []string  `json:"warnings,omitempty"`

	// OnlyA and OnlyB are configurations that the other side does not have.
	OnlyA []string `json:"only_a,omitempty"`
	OnlyB []string `json:"only_b,omitempty"`

	// Family has the comparisons that are tested, and corrected together. It is nil if there are none.
	Family *Family `json:"family,omitempty"`

	Metrics []ComparedMetric `json:"metrics"`
}

// A Side identifies one of the results.
type Side struct {
	Name    string `json:"name"`
	Started string `json:"started"` // for people
	Version string `json:"version"`
}

// A ComparedMetric is one metric of the configurations that both sides have.
type ComparedMetric struct {
	Name   string         `json:"name"`
	Unit   string         `json:"unit"`
	Better results.Better `json:"better,omitempty"`
	Leads  bool           `json:"leads,omitempty"`
	Rows   []ComparedRow  `json:"rows"`

	a, b column
}

// A ComparedRow is one metric of one configuration. Versus compares B with A.
// The difference between a baseline and its twin on either side is noise.
type ComparedRow struct {
	Configuration string     `json:"configuration"`
	A             Summary    `json:"a"`
	B             Summary    `json:"b"`
	Versus        Difference `json:"versus"`
}

// Compare compares each configuration of b with the configuration of the same name of
// a. It changes neither.
func Compare(a, b *results.Results) *Comparison {
	ta, tb := tableOf(a), tableOf(b)
	c := &Comparison{A: sideOf(a), B: sideOf(b)}
	c.OnlyA, c.OnlyB = onlyIn(ta, tb), onlyIn(tb, ta)
	for _, ca := range ta.columns {
		i := slices.IndexFunc(tb.columns, func(cb column) bool {
			return cb.Name == ca.Name && cb.Unit == ca.Unit && cb.own == ca.own
		})
		if i < 0 {
			continue
		}
		if m := compareColumns(ta, ca, tb.columns[i]); len(m.Rows) > 0 {
			c.Metrics = append(c.Metrics, m)
		}
	}
	c.judge(ta, tb)
	c.Warnings = differences(a, b)
	for _, side := range []struct {
		name string
		t    *table
	}{{"A", ta}, {"B", tb}} {
		for _, w := range slices.Concat(undivided(side.t), failures(side.t), saturated(side.t)) {
			c.Warnings = append(c.Warnings, side.name+": "+w)
		}
	}
	c.Findings = c.find()
	return c
}

func sideOf(r *results.Results) Side {
	return Side{Name: r.Name, Started: r.Started.Format("2006-01-02 15:04"), Version: r.Version}
}

// onlyIn returns the configurations that have runs here and not there.
func onlyIn(here, there *table) []string {
	var names []string
	for _, r := range here.runs {
		if r.All > 0 && r.Configuration != here.again && !slices.ContainsFunc(there.runs,
			func(o Runs) bool { return o.Configuration == r.Configuration && o.All > 0 }) {
			names = append(names, r.Configuration)
		}
	}
	return names
}

// compareColumns compares one metric in all configurations, without a verdict.
func compareColumns(ta *table, a, b column) ComparedMetric {
	m := ComparedMetric{Name: a.Name, Unit: a.Unit, Better: a.Better, Leads: a.leads && b.leads && a.varies(&b), a: a,
		b: b}
	for _, name := range ta.configurations {
		va, vb := a.values[name], b.values[name]
		if name == ta.again || len(va) == 0 || len(vb) == 0 {
			continue
		}
		m.Rows = append(m.Rows, ComparedRow{Configuration: name, A: summary(va), B: summary(vb),
			Versus: *difference(va, vb)})
	}
	return m
}

// judge corrects the p of the leading metrics and sets their verdicts.
func (c *Comparison) judge(ta, tb *table) {
	var trials []trial
	for i := range c.Metrics {
		m := &c.Metrics[i]
		floor := max(distance(m.a.values[ta.baseline], m.a.values[ta.again]),
			distance(m.b.values[tb.baseline], m.b.values[tb.again]))
		sa, sb := sessionOf(&m.a), sessionOf(&m.b)
		for j := range m.Rows {
			r := &m.Rows[j]
			va, vb := r.A.Values, r.B.Values
			if !m.Leads {
				r.Versus.notTested(doesNotLead, va, vb)
				continue
			}
			r.Versus.betweenSessions = betweenSessions(sa, sb, va, vb)
			trials = append(trials, trial{metric: m.Name, better: m.Better, versus: &r.Versus,
				change: r.B.Median - r.A.Median, within: distance(va, vb) <= floor, test: betweenSides{va, vb}})
		}
	}
	c.Family = judgeAll(trials, withoutTurns)
	for i := range c.Metrics {
		for j := range c.Metrics[i].Rows {
			r := &c.Metrics[i].Rows[j]
			r.Versus.withhold(tb.fails[r.Configuration].more(ta.fails[r.Configuration]))
		}
	}
}

// find returns the findings: the differences in the leading metrics, followed by the comparisons without a difference.
func (c *Comparison) find() []Finding {
	differ, same, identical := c.leading()
	all := slices.Concat(differ, same, c.undecided())
	switch {
	case len(all) > 0:
		return all
	case identical:
		return []Finding{{Text: allTheSame}}
	}
	return []Finding{{Text: "There is nothing to compare: no configuration was measured in both."}}
}

// leading returns the findings about the leading metrics, and reports whether
// one of these metrics is the same in all runs.
func (c *Comparison) leading() (differ, same []Finding, identical bool) {
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if !m.Leads {
			continue
		}
		var noise []*ComparedRow
		for j := range m.Rows {
			switch r := &m.Rows[j]; r.Versus.Verdict {
			case Better, Worse:
				differ = append(differ, m.finding(r))
			case Noise:
				noise = append(noise, r)
			case Same:
				identical = true
			}
		}
		same = append(same, m.alike(noise)...)
	}
	return differ, same, identical
}

// undecided returns a finding if comparisons have too few runs.
func (c *Comparison) undecided() []Finding {
	open := 0
	for i := range c.Metrics {
		m := &c.Metrics[i]
		for j := range m.Rows {
			if v := &m.Rows[j].Versus; m.Leads && m.Better != results.Neither && v.Verdict == NotJudged && !v.withheld {
				open++
			}
		}
	}
	if open == 0 {
		return nil
	}
	return []Finding{{Text: fmt.Sprintf("%s cannot be told from chance: the runs are too few. It takes at least %d of "+
		"each configuration.", readable.Things(int64(open), "comparison"), c.Family.NeededRuns)}}
}

// alike returns findings about comparisons without a verdict of better or worse: one for each configuration if there
// are few of a kind, otherwise one for all.
func (m *ComparedMetric) alike(noise []*ComparedRow) []Finding {
	var found []Finding
	for _, kind := range []noiseKind{forbidden, open, none} {
		var each []Finding
		var names []string
		var all []*Interval
		for _, r := range noise {
			if r.Versus.kindOfNoise() == kind {
				each = append(each, m.finding(r))
				names = append(names, r.Configuration)
				all = append(all, r.Versus.Interval)
			}
		}
		if len(each) > maxAlike {
			each = []Finding{{Metric: m.Name, Verdict: Noise, Text: fmt.Sprintf("Between A and B, in %s with %s %s.",
				m.Name, listed(names, 6), kind.ofMany(all))}}
		}
		found = append(found, each...)
	}
	return found
}

// finding returns the finding about one configuration.
func (m *ComparedMetric) finding(r *ComparedRow) Finding {
	f := Finding{Metric: m.Name, Configuration: r.Configuration, Verdict: r.Versus.Verdict}
	values := fmt.Sprintf("%s in B and %s in A", Quantity(r.B.Median, m.Unit), Quantity(r.A.Median, m.Unit))
	switch d := r.Versus; {
	case f.Verdict == Noise && d.Why == withinItself:
		f.Text = fmt.Sprintf("%s: %s of A and B differ within the noise: %s; a baseline differs from itself by as "+
			"much.", r.Configuration, m.Name, values)
	case f.Verdict == Noise && d.Why == changesWithTime:
		f.Text = fmt.Sprintf("%s: it is undecided whether %s differs: %s. The runs of one side change with time by about "+
			"as much, and A and B were not run in turn.", r.Configuration, m.Name, values)
	case f.Verdict == Noise && d.kindOfNoise() == open:
		if d.Interval != nil {
			values += fmt.Sprintf(" (95%% interval of the ratio %s to %s)", ratio(d.Interval.Low), ratio(d.Interval.High))
		}
		f.Text = fmt.Sprintf("%s: it is undecided whether %s differs: %s; %s.", r.Configuration, m.Name, values, d.Why)
	case f.Verdict == Noise:
		f.Text = fmt.Sprintf("%s: no difference in %s was found: %s%s.", r.Configuration, m.Name, values,
			allowed(d.Interval))
	case d.Ratio == nil || d.Interval == nil:
		f.Text = fmt.Sprintf("%s: %s differs: %s.", r.Configuration, m.Name, values)
	default:
		f.Text = fmt.Sprintf("%s: %s %s in B: %s (95%% interval of the ratio %s to %s, %d and %d runs).",
			r.Configuration, is(&Metric{Name: m.Name}),
			change(*d.Ratio), values, ratio(d.Interval.Low), ratio(d.Interval.High), len(r.B.Values), len(r.A.Values))
	}
	return f
}

// differences returns sentences about differences between two results other
// than the measurements.
func differences(a, b *results.Results) []string {
	if !a.Started.IsZero() && a.Started.Equal(b.Started) && a.Machine == b.Machine {
		return []string{"A and B are the same results: they began at the same moment, on the same machine."}
	}
	all := []string{"A and B were not run in turn: changes of the machine in between are part of each difference."}
	differs := func(what, va, vb string) {
		if va != vb {
			all = append(all, fmt.Sprintf("%s differs: %s in A and %s in B.", what, orNone(va), orNone(vb)))
		}
	}
	differs("The machine's system", a.Machine.System, b.Machine.System)
	differs("The machine's kernel", a.Machine.Kernel, b.Machine.Kernel)
	differs("The machine's processor", a.Machine.Processor, b.Machine.Processor)
	differs("The machine's number of CPUs", strconv.Itoa(a.Machine.CPUs), strconv.Itoa(b.Machine.CPUs))
	differs("Weir's Go version", a.Machine.Go, b.Machine.Go)
	differs("Weir's version", a.Version, b.Version)
	differs("The experiment", a.Name, b.Name)
	if line, sa, sb := readable.FirstDifference(a.Source, b.Source); line > 0 && a.Name == b.Name {
		all = append(all, fmt.Sprintf("The experiments differ, first in line %d: %q in A and %q in B.", line,
			strings.TrimSpace(sa), strings.TrimSpace(sb)))
	}
	return append(all, loadsDiffer(a, b)...)
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// loadsDiffer returns sentences about differences in the load that
// configurations received. Configurations with the same difference share a
// sentence.
func loadsDiffer(a, b *results.Results) []string {
	var differences []string
	names := map[string][]string{} // by difference
	seen := map[string]bool{}
	for i := range a.Runs {
		name := a.Runs[i].Configuration
		mine, other := firstLoad(a, name), firstLoad(b, name)
		if seen[name] || mine == nil || other == nil {
			continue
		}
		seen[name] = true
		da, db := loadText(mine), loadText(other)
		if da == db {
			continue
		}
		d := fmt.Sprintf("%s in A and %s in B", da, db)
		if names[d] == nil {
			differences = append(differences, d)
		}
		names[d] = append(names[d], name)
	}
	var all []string
	for _, d := range differences {
		of := ""
		if len(names[d]) < len(seen) {
			of = " of " + listed(names[d], maxNamed)
		}
		all = append(all, fmt.Sprintf("The load%s differs: %s.", of, d))
	}
	return all
}

// firstLoad returns the first run of a configuration with a load, or nil.
func firstLoad(r *results.Results, configuration string) *results.Run {
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Configuration == configuration && run.Load != nil && measured(run) {
			return run
		}
	}
	return nil
}

func loadText(r *results.Run) string {
	l := r.Load
	return fmt.Sprintf("%s, %s, %s, pipelines of %d, %s, %s", l.Protocol, l.Pace,
		readable.Things(int64(l.Connections), "connection"), l.Pipeline,
		readable.Things(int64(l.Threads), "thread"), readable.Lasting(float64(int(l.DurationSeconds+0.5))))
}
