// Package compare puts the results of load side by side and reports which of their
// differences are more than noise.
//
// A run is one sample, so a difference needs at least four runs per side. With
// fewer, a Comparison has the differences but does not judge them. The seconds of a
// run are not samples: they share its moment, its memory layout and its neighbours,
// and a test of them found differences in one of ten pairs of equal runs.
//
// Samples are compared by the Mann-Whitney U test, which assumes nothing about
// their distribution (golang.org/x/perf/benchmath, AssumeNothing). Of twenty
// metrics without a difference, it finds one.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/weirhq/weir/load"
)

// A Comparison compares two sides. Its JSON is a stable format.
type Comparison struct {
	RunsA int `json:"runs_a"`
	RunsB int `json:"runs_b"`

	Rows []Row `json:"rows"`

	// Warnings are reasons why the sides may not be comparable, such as too few runs.
	Warnings []string `json:"warnings,omitempty"`
}

// A Row has one metric of both sides.
type Row struct {
	Target string `json:"target,omitempty"` // method and path pattern; "" for the whole run
	Metric string `json:"metric"`
	Unit   string `json:"unit"` // "/s", "us", "share" of 1, or "bytes"

	A Side `json:"a"`
	B Side `json:"b"`

	// Ratio is B's value divided by A's: 1.05 is 5% more. It is 0 if A's value is 0
	// or one of them is infinite.
	Ratio float64 `json:"ratio,omitempty"`

	Verdict Verdict `json:"verdict"`

	// P is the p-value of the test: how probable runs at least as different as these
	// are if the sides are equal. It is nil without a test.
	P *float64 `json:"p,omitempty"`
}

// A Side is the metric of one side.
type Side struct {
	// Value is the median of the runs; if they are too few for a test, it is the
	// metric of all runs together. AtLeast marks a lower bound: requests were given
	// up before they were answered.
	Value   Value `json:"value"`
	AtLeast bool  `json:"at_least,omitempty"`

	// Interval is the 95% confidence interval of the median; nil with too few runs.
	Interval []float64 `json:"interval,omitempty"`
}

// A Value is the value of a metric. It is +Inf, and null in JSON, for a latency of
// requests that were never answered.
type Value float64

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return load.Micros(v).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(b []byte) error { return (*load.Micros)(v).UnmarshalJSON(b) }

// infinite reports whether it is a latency of requests that were never answered.
func (v Value) infinite() bool { return math.IsInf(float64(v), 1) }

// A Verdict is the judgement of a difference.
type Verdict string

const (
	Better Verdict = "better" // B is better than A
	Worse  Verdict = "worse"

	// Noise: the difference is not significant, or the values are equal.
	Noise Verdict = "noise"

	// Untested: there are too few runs, or a value is a lower bound and the other
	// one is above it.
	Untested Verdict = "untested"
)

// leastRuns is the number of runs per side that a test needs. With fewer its p is
// above 0.05 for any two sides.
const leastRuns = 4

// Compare compares the runs of two sides. It returns an error if a side has no runs
// or a histogram cannot be decoded.
func Compare(a, b []*load.Result) (Comparison, error) {
	if len(a) == 0 || len(b) == 0 {
		return Comparison{}, errors.New("compare: a side has no runs")
	}
	c := Comparison{RunsA: len(a), RunsB: len(b), Warnings: differences(a, b)}
	if err := c.addRows("", runMetrics, fromDue(a, b), latencyOf(fromDue(a, b)), a, b); err != nil {
		return Comparison{}, err
	}
	for _, t := range commonTargets(slices.Concat(a, b)) {
		if err := c.addRows(t.name(), t.metrics(), open(a[0]), t.latency, a, b); err != nil {
			return Comparison{}, err
		}
	}
	if !c.Tested() {
		c.Warnings = append(c.Warnings, fmt.Sprintf(
			"%s against %s cannot show which differences are more than noise: give at least %d runs a side",
			runsText(c.RunsA), runsText(c.RunsB), leastRuns))
	}
	return c, nil
}

// Tested reports whether there are enough runs to tell differences from noise.
func (c *Comparison) Tested() bool { return c.RunsA >= leastRuns && c.RunsB >= leastRuns }

// addRows adds the metrics that both sides have.
func (c *Comparison) addRows(
	target string, metrics []metric, due bool, latency func(*load.Result) *load.Latency, a, b []*load.Result,
) error {
	sideA, err := newSide(a, latency)
	if err != nil {
		return err
	}
	sideB, err := newSide(b, latency)
	if err != nil {
		return err
	}
	for _, m := range metrics {
		if row, ok := c.row(m, sideA, sideB); ok {
			row.Target, row.Metric = target, m.rowName(due)
			c.Rows = append(c.Rows, row)
		}
	}
	return nil
}

// row compares a metric; ok is false if a side does not have it.
func (c *Comparison) row(m metric, a, b side) (row Row, ok bool) {
	row = Row{Unit: m.unit, Verdict: Untested}
	sa, okA := c.side(&row.A, m, a)
	sb, okB := c.side(&row.B, m, b)
	if !okA || !okB {
		return row, false
	}
	if row.A.Value != 0 && !row.A.Value.infinite() && !row.B.Value.infinite() {
		row.Ratio = float64(row.B.Value / row.A.Value)
	}
	if c.Tested() {
		test := benchmath.AssumeNothing.Compare(sa, sb)
		if row.Verdict = verdict(row, m.more, test); row.Verdict != Untested {
			row.P = &test.P
		}
	}
	return row, true
}

// verdict judges a tested row. more reports whether more is better.
func verdict(row Row, more bool, test benchmath.Comparison) Verdict {
	change := cmp.Compare(row.B.Value, row.A.Value)
	switch {
	case row.A.AtLeast && change >= 0, row.B.AtLeast && change <= 0:
		return Untested
	case test.P > test.Alpha || change == 0:
		return Noise
	case change > 0 == more:
		return Better
	}
	return Worse
}

// side fills one side of a row, and returns its samples if there are enough.
func (c *Comparison) side(s *Side, m metric, of side) (*benchmath.Sample, bool) {
	whole, ok := m.whole(of.all)
	if !ok {
		return nil, false
	}
	s.Value, s.AtLeast = Value(whole.value), whole.atLeast
	if !c.Tested() {
		return nil, true
	}
	var values []float64
	for _, g := range of.each {
		v, ok := m.whole(g)
		if !ok {
			return nil, false
		}
		values = append(values, v.value)
		s.AtLeast = s.AtLeast || v.atLeast
	}
	sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	summary := benchmath.AssumeNothing.Summary(sample, 0.95)
	s.Value = Value(median(sample, summary))
	if !math.IsInf(summary.Lo, 0) && !math.IsInf(summary.Hi, 0) {
		s.Interval = []float64{summary.Lo, summary.Hi}
	}
	return sample, true
}

// median returns the median of the samples. The summary has none if it lies between
// two infinite values.
func median(sample *benchmath.Sample, summary benchmath.Summary) float64 {
	n := len(sample.Values)
	if !math.IsInf(sample.Values[n-1], 1) {
		return summary.Center
	}
	return (sample.Values[(n-1)/2] + sample.Values[n/2]) / 2
}

func runsText(n int) string {
	if n == 1 {
		return "one run"
	}
	return fmt.Sprint(n, " runs")
}
