// Package compare puts the results of load side by side and reports which of their
// differences are more than noise.
//
// A run is one sample, so that a difference needs at least four runs a side. With
// fewer a Comparison has the differences and judges none. The seconds of a run
// are no substitute: they share its moment, its memory layout and its neighbours,
// and a test on them found differences in one of ten pairs of equal runs.
//
// Samples are compared by the Mann-Whitney U test, which assumes nothing about
// how they are distributed (golang.org/x/perf/benchmath, AssumeNothing). Of
// twenty metrics that do not differ, one seems to.
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

// A Comparison is two sides beside each other. Its JSON is a document that other
// programs may rely on.
type Comparison struct {
	RunsA int `json:"runs_a"`
	RunsB int `json:"runs_b"`

	Rows []Row `json:"rows"`

	// Warnings say why the sides may not be comparable, and that the runs are too
	// few to be tested.
	Warnings []string `json:"warnings,omitempty"`
}

// A Row is one metric of both sides.
type Row struct {
	Target string `json:"target,omitempty"` // the method and the path pattern; "" for all of the run
	Metric string `json:"metric"`
	Unit   string `json:"unit"` // "/s", "us", "share" of 1, or "bytes"

	A Side `json:"a"`
	B Side `json:"b"`

	// Ratio is the value of B in that of A: 1.05 is 5% more. It is 0 when A's
	// value is, or one of them is infinite.
	Ratio float64 `json:"ratio,omitempty"`

	Verdict Verdict `json:"verdict"`

	// P is how likely runs at least as different as these would be if the sides
	// were alike; nil without a test.
	P *float64 `json:"p,omitempty"`
}

// A Side is what one side has of a metric.
type Side struct {
	// Value is the median of the runs, or that of all runs taken together when they
	// are too few to be tested. AtLeast marks a lower bound: requests were given up
	// before they were answered.
	Value   Value `json:"value"`
	AtLeast bool  `json:"at_least,omitempty"`

	// Interval holds the median with a confidence of 95%; nil when the runs are
	// too few for it.
	Interval []float64 `json:"interval,omitempty"`
}

// A Value is one of a metric. It is +Inf for a latency of requests that were never answered, which is
// null in JSON.
type Value float64

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return load.Micros(v).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(b []byte) error { return (*load.Micros)(v).UnmarshalJSON(b) }

// infinite reports whether the value is that of requests that were never answered.
func (v Value) infinite() bool { return math.IsInf(float64(v), 1) }

// A Verdict says what to make of a difference.
type Verdict string

const (
	Better Verdict = "better" // B's is
	Worse  Verdict = "worse"

	// Noise is when the samples are not different enough, or differ in the other
	// direction than the values.
	Noise Verdict = "noise"

	// Untested is when the runs are too few, or the value of a side is a lower bound
	// that the other's is above.
	Untested Verdict = "untested"
)

// leastRuns are how many runs a side needs to be compared by them: with fewer
// the test could not tell any two sides apart (its p would be above 0.05).
const leastRuns = 4

// Compare compares the runs of one side with those of the other. It fails when a
// side has none, or a result's histograms cannot be read.
func Compare(a, b []*load.Result) (Comparison, error) {
	if len(a) == 0 || len(b) == 0 {
		return Comparison{}, errors.New("compare: a side has no runs")
	}
	c := Comparison{RunsA: len(a), RunsB: len(b), Warnings: differences(a, b)}
	if err := c.addRows("", metrics(a, b), latencyOf(fromDue(a, b)), a, b); err != nil {
		return Comparison{}, err
	}
	for _, t := range commonTargets(slices.Concat(a, b)) {
		if err := c.addRows(t.name(), t.metrics(a), t.latency, a, b); err != nil {
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

// addRows compares the metrics that both sides have.
func (c *Comparison) addRows(
	target string, metrics []metric, latency func(*load.Result) *load.Latency, a, b []*load.Result,
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
			row.Target = target
			c.Rows = append(c.Rows, row)
		}
	}
	return nil
}

// row compares one metric, if both sides have it.
func (c *Comparison) row(m metric, a, b side) (Row, bool) {
	row := Row{Metric: m.name, Unit: m.unit, Verdict: Untested}
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

// verdict judges a tested row; more says whether more is better.
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

// side fills a side of a row, and returns its samples.
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

// median is that of the summary, which has none where two infinite values are its neighbours.
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
