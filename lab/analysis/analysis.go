package analysis

import (
	"slices"

	"github.com/weirhq/weir/lab/results"
)

// An Analysis is the statistical evaluation of results. Its JSON is a stable
// format for other programs.
type Analysis struct {
	// Findings are sentences for the top of a report, the most important first.
	Findings []Finding `json:"findings"`

	// Warnings limit the validity of the findings.
	Warnings []string `json:"warnings,omitempty"`

	Baseline string `json:"baseline"`        // name of the configuration that the others are compared with
	Again    string `json:"again,omitempty"` // name of its twin

	// Family has the comparisons that are tested, and corrected together. It is nil if there are none.
	Family *Family `json:"family,omitempty"`

	Runs    []Runs   `json:"runs"`    // by configuration, in the results' order
	Metrics []Metric `json:"metrics"` // the metrics that some run has: results.Metrics in their order, then the runs' own
}

// A Finding is a sentence.
type Finding struct {
	Text string `json:"text"`

	// Metric and Configuration are the subjects of the sentence, or "" if
	// it has several. Verdict is empty if the sentence contains none.
	Metric        string  `json:"metric,omitempty"`
	Configuration string  `json:"configuration,omitempty"`
	Verdict       Verdict `json:"verdict,omitempty"`
}

// Runs counts the runs of a configuration by their end.
type Runs struct {
	Configuration string `json:"configuration"`
	All           int    `json:"all"`
	Counted       int    `json:"counted"` // the runs whose values are compared: done or leaked

	// Outcomes counts the runs by outcome. Saturated has the numbers of the counted runs
	// whose load generator was at its own limit, and MachineBusy of runs whose load
	// generator waited because the machine was busy.
	Outcomes    map[results.Outcome]int `json:"outcomes"`
	Saturated   []int                   `json:"saturated,omitempty"`
	MachineBusy []int                   `json:"machine_busy,omitempty"`

	// Unanswered has the numbers of the counted runs in which more than 1%
	// of the requests were not answered. They have no metric that is divided
	// by the number of responses.
	Unanswered []int `json:"unanswered,omitempty"`

	// FirstError is the error of the first run that does not count.
	FirstError string `json:"first_error,omitempty"`
}

// A Metric is one metric of all configurations.
type Metric struct {
	Name   string         `json:"name"`
	Unit   string         `json:"unit"`
	Better results.Better `json:"better,omitempty"`
	Own    bool           `json:"own,omitempty"`   // one of the runs' own measures, not one of results.Metrics
	Leads  bool           `json:"leads,omitempty"` // a leading metric: its differences are tested

	named    bool // the experiment names it as leading, or it is in [results.DefaultLead]
	constant bool // it would lead, but is the same in all runs

	// Rows are the configurations with values, in the results' order.
	Rows []Row `json:"rows"`

	// Answers are the differences of the experiment's contrasts that are not against the baseline. Only a leading metric
	// has them.
	Answers []Answer `json:"answers,omitempty"`

	// Noise is the baseline's twin compared with the baseline. Its P is not
	// corrected and it is not judged. It is nil without a twin.
	Noise *Difference `json:"noise,omitempty"`
}

// A Row is one metric of one configuration.
type Row struct {
	Configuration string `json:"configuration"`
	Summary

	// Versus compares with the baseline. It is nil for the baseline itself, and if the baseline has no value. It is only
	// tested if the metric leads, and if the experiment has this contrast.
	Versus *Difference `json:"versus,omitempty"`

	tested bool
}

// An Answer is the difference of a contrast. The ratio of an interaction is that of two ratios.
type Answer struct {
	results.Contrast
	Versus *Difference `json:"versus"`
}

// A Summary is the values of a metric in the runs of a configuration.
type Summary struct {
	Values []Value `json:"values"` // in the order in which the runs were made
	Median float64 `json:"median"`

	// Interval contains the median with a confidence of 95%. It is nil if
	// there are too few runs.
	Interval *Interval `json:"interval,omitempty"`
}

// A Value is the value of a metric in one run.
type Value struct {
	Run     int     `json:"run"` // number of the run
	Value   float64 `json:"value"`
	Outlier bool    `json:"outlier,omitempty"` // far from the other runs of its configuration
}

// An Interval is closed: it contains both Low and High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Difference compares a configuration with another one.
type Difference struct {
	// Ratio is 1.05 if the values are 5% more than those of the other one. Within an experiment it is the one at which
	// the test finds nothing on either side. If a value is not positive, and between two sessions, it is the ratio of
	// the medians. The ratio of 0 to 0 is 1. It is nil if only the other median is 0.
	Ratio *float64 `json:"ratio,omitempty"`

	// Interval contains the ratio with a confidence of 95%, not corrected
	// for the number of comparisons. It excludes 1 exactly if P is at most 0.05. It is nil if a value is not positive,
	// or if there are too few runs.
	Interval *Interval `json:"interval,omitempty"`

	// P is the probability of a difference at least as large as this one if
	// the configurations were alike. Corrected is P corrected for all
	// comparisons of the Family. Both are nil if the difference is not tested.
	P         *float64 `json:"p,omitempty"`
	Corrected *float64 `json:"corrected_p,omitempty"`

	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"` // reason for the verdict Noise or NotJudged

	withheld        bool    // better but for the failures of the configuration
	betweenSessions float64 // p of a difference between two sessions that change with time, otherwise 0
}

// A Verdict is the judgement of a difference.
type Verdict string

const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Noise   Verdict = "~"       // no more than chance
	Same    Verdict = "="       // all runs of both have the same value
	Differs Verdict = "differs" // of an interaction

	// NotJudged is the verdict of a difference that is not tested, that has too few runs, in which neither direction is
	// better, or in which a configuration that fails more often would be better.
	NotJudged Verdict = ""
)

// alpha is the probability of finding a difference that does not exist.
// confidence is the probability that an interval contains the true value.
const (
	alpha      = 0.05
	confidence = 0.95
)

// vary reports whether two values differ.
func vary(samples ...[]Value) bool {
	all := slices.Concat(samples...)
	return slices.ContainsFunc(all, func(v Value) bool { return v.Value != all[0].Value })
}

// Varies reports whether the values of two runs differ, in one configuration or
// in two.
func (m *Metric) Varies() bool {
	var samples [][]Value
	for _, row := range m.Rows {
		samples = append(samples, row.Values)
	}
	return vary(samples...)
}

// row returns the row of a configuration, or nil.
func row(rows []Row, configuration string) *Row {
	for i := range rows {
		if rows[i].Configuration == configuration {
			return &rows[i]
		}
	}
	return nil
}

// Metric returns the metric of that name, or nil.
func (a *Analysis) Metric(name string) *Metric {
	for i := range a.Metrics {
		if a.Metrics[i].Name == name {
			return &a.Metrics[i]
		}
	}
	return nil
}

// Row returns the row of a configuration, or nil.
func (m *Metric) Row(configuration string) *Row { return row(m.Rows, configuration) }

// A Family is the comparisons whose p are corrected together: within an experiment by the method of Westfall and Young,
// between two sessions by Holm's.
type Family struct {
	Metrics     []string `json:"metrics"`
	Comparisons int      `json:"comparisons"` // comparisons of these metrics in which two runs differ

	// Alpha is the limit of the corrected p: 0.05, or less between two sessions. [Difference.Corrected] is also multiplied
	// by 0.05/Alpha, so that its limit is 0.05.
	Alpha float64 `json:"alpha"`

	// NeededRuns is the number of runs of each configuration with which each comparison can be significant.
	NeededRuns int `json:"needed_runs"`
}
