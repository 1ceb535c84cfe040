package analysis

import (
	"slices"

	"github.com/weirhq/weir/lab"
)

// An Analysis is what results say. Its JSON is a document that other programs
// may rely on.
type Analysis struct {
	// Findings are sentences for the top of a report, the most important first.
	Findings []Finding `json:"findings"`

	// Warnings say what a reader has to know before believing the findings.
	Warnings []string `json:"warnings,omitempty"`

	Baseline string `json:"baseline"`        // the configuration that the others are compared with
	Again    string `json:"again,omitempty"` // its twin

	// Families has the comparisons that are corrected together, those of the leading metrics first.
	Families []Family `json:"families,omitempty"`

	Runs    []Runs   `json:"runs"`    // by configuration, in the results' order
	Metrics []Metric `json:"metrics"` // those that a run has, in the order of lab.Metrics, then the runs' own
}

// A Finding is what was found, in a sentence.
type Finding struct {
	Text string `json:"text"`

	// Metric and Configuration are what the sentence is about, "" when it is
	// about several. Verdict is empty when it judges nothing.
	Metric        string  `json:"metric,omitempty"`
	Configuration string  `json:"configuration,omitempty"`
	Verdict       Verdict `json:"verdict,omitempty"`
}

// Runs tells how the runs of a configuration ended.
type Runs struct {
	Configuration string `json:"configuration"`
	All           int    `json:"all"`
	Counted       int    `json:"counted"` // those whose values are compared: done or leaked

	// Outcomes counts the runs by how they ended. Saturated has the numbers of
	// the counted ones whose load generator was at its own limit, and MachineBusy
	// of those whose load generator waited because the machine was busy.
	Outcomes    map[lab.Outcome]int `json:"outcomes"`
	Saturated   []int               `json:"saturated,omitempty"`
	MachineBusy []int               `json:"machine_busy,omitempty"`

	// Unanswered has the numbers of the counted runs in which more than 1% of the
	// requests were not answered. With one of them in any configuration, no metric
	// is divided by the number of answers.
	Unanswered []int `json:"unanswered,omitempty"`

	// FirstError is why the first run that does not count ended so.
	FirstError string `json:"first_error,omitempty"`
}

// A Metric is one number of all configurations.
type Metric struct {
	Name   string     `json:"name"`
	Unit   string     `json:"unit"`
	Better lab.Better `json:"better,omitempty"`
	Own    bool       `json:"own,omitempty"`   // a measure of the runs' own, not one of lab.Metrics
	Leads  bool       `json:"leads,omitempty"` // findings are about it

	named bool // by the experiment, to lead
	first bool // it is of the first family

	// Rows are the configurations that have it, in the results' order.
	Rows []Row `json:"rows"`

	// Noise is the baseline's twin against the baseline, its P not corrected and
	// not judged; nil without a twin.
	Noise *Difference `json:"noise,omitempty"`
}

// A Row is one metric of one configuration.
type Row struct {
	Configuration string `json:"configuration"`
	Summary

	// Versus is against the baseline. It is nil for the baseline itself, and
	// when the baseline does not have the metric.
	Versus *Difference `json:"versus,omitempty"`
}

// A Summary is the values of a metric in the runs of a configuration.
type Summary struct {
	Values []Value `json:"values"` // in the order in which the runs were made
	Median float64 `json:"median"`

	// Interval has the median with a confidence of 95%; nil when the runs are
	// too few for one.
	Interval *Interval `json:"interval,omitempty"`
}

// A Value is what a run has of a metric.
type Value struct {
	Run     int     `json:"run"` // its number
	Value   float64 `json:"value"`
	Outlier bool    `json:"outlier,omitempty"` // far from the other runs of its configuration
}

// An Interval is from Low to High, both in it.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Difference is a configuration against another one.
type Difference struct {
	// Ratio is that of the medians: 1.05 is 5% more than the other one. That of 0
	// to 0 is 1; it is nil when there is none, for the other's median alone is 0.
	Ratio *float64 `json:"ratio,omitempty"`

	// Interval has the ratio with a confidence of 95%, by itself: it is not
	// corrected for the number of comparisons. It is nil when a value is not
	// positive, or the runs are too few for one.
	Interval *Interval `json:"interval,omitempty"`

	// P is how likely values at least as different as these would be if the
	// configurations were alike, and Corrected the same for all comparisons of
	// its Family; nil when nothing was tested.
	P         *float64 `json:"p,omitempty"`
	Corrected *float64 `json:"corrected_p,omitempty"`

	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"` // in words, when the verdict is Noise or NotJudged

	betweenSessions float64 // the p of a difference between two sessions that change with time, else 0
}

// A Verdict says what to make of a difference.
type Verdict string

const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Noise     Verdict = "~" // no more than chance, or than the baseline differs from itself
	Same      Verdict = "=" // both have one value, in all runs: there is nothing to be judged
	NotJudged Verdict = ""  // by no means better or worse, or too few runs to tell
)

// alpha is how often a difference may be seen where there is none, and
// confidence how often an interval has what it is of.
const (
	alpha      = 0.05
	confidence = 0.95
)

// vary tells whether there are two values that are not the same.
func vary(samples ...[]Value) bool {
	all := slices.Concat(samples...)
	return slices.ContainsFunc(all, func(v Value) bool { return v.Value != all[0].Value })
}

// Varies tells whether two runs differ in the metric, in one configuration or in
// two.
func (m *Metric) Varies() bool {
	var samples [][]Value
	for _, row := range m.Rows {
		samples = append(samples, row.Values)
	}
	return vary(samples...)
}

// row returns a configuration's row, or nil.
func row(rows []Row, configuration string) *Row {
	for i := range rows {
		if rows[i].Configuration == configuration {
			return &rows[i]
		}
	}
	return nil
}

// Metric returns a metric by its name, or nil.
func (a *Analysis) Metric(name string) *Metric {
	for i := range a.Metrics {
		if a.Metrics[i].Name == name {
			return &a.Metrics[i]
		}
	}
	return nil
}

// Row returns what a configuration has of the metric, or nil.
func (m *Metric) Row(configuration string) *Row { return row(m.Rows, configuration) }

// A Family is comparisons whose p are corrected together by Holm's method.
type Family struct {
	Metrics     []string `json:"metrics"`
	Leads       bool     `json:"leads,omitempty"` // it is the first family: sentences are about it first
	Comparisons int      `json:"comparisons"`     // of these metrics, in which two runs differ

	// Alpha is the limit of the p that Holm's method has corrected. [Difference.Corrected] is multiplied by
	// 0.05/Alpha besides, so that its limit is 0.05 in every family.
	Alpha float64 `json:"alpha"`

	// NeededRuns is how many runs of each configuration it takes for one comparison to be significant.
	NeededRuns int `json:"needed_runs"`
}
