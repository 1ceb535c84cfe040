package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// TestMissingPartsAreNamed has a configuration whose processes are not known. Its metrics have no values, and a warning
// says why.
func TestMissingPartsAreNamed(t *testing.T) {
	r := closedLoop(series{name: "old", values: []float64{100, 101, 102, 103, 104, 105}},
		series{name: "new", values: []float64{100, 101, 102, 103, 104, 105}})
	r.Lead = []string{"CPU per request", "memory, peak"}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Usage = results.Usage{Seconds: 1, CPUSeconds: 1, PeakRSS: 1}
		if run.Configuration == "new" {
			run.Missing = []results.Missing{{Part: results.Memory, Why: "nobody counts it"}}
		}
	}
	a := analysis.Of(r)
	if row := a.Metric("memory, peak").Row("new"); row != nil {
		t.Errorf("new has %+v, want no memory", row)
	}
	if row := a.Metric("CPU per request").Row("new"); row == nil {
		t.Error("new has no CPU per request")
	}
	const want = "There are no values of memory with new: nobody counts it."
	if !slices.Contains(a.Warnings, want) {
		t.Errorf("got %q, want %q", a.Warnings, want)
	}
	for i := range r.Runs {
		r.Runs[i].Missing = []results.Missing{{Part: results.CPU, Why: "a"}, {Part: results.Memory, Why: "a"}}
	}
	a = analysis.Of(r)
	if !slices.Contains(a.Warnings, "There are no values of CPU and memory: a.") ||
		strings.Contains(strings.Join(a.Warnings, " "), "lead names a metric") {
		t.Errorf("got %q, want only why they are missing", a.Warnings)
	}
}

// TestOneConfigurationIsNotCompared has a baseline and its twin only.
func TestOneConfigurationIsNotCompared(t *testing.T) {
	r := closedLoop(series{name: null, values: []float64{100, 101, 102, 103, 104, 105}},
		series{name: again, values: []float64{100, 101, 102, 103, 104, 105}})
	a := analysis.Of(r)
	if len(a.Findings) != 1 || !strings.HasPrefix(a.Findings[0].Text, "Nothing was compared: the experiment has one configuration.") {
		t.Errorf("got %+v, want only that there is one configuration", a.Findings)
	}
	for _, warning := range a.Warnings {
		if strings.Contains(warning, "compared") {
			t.Errorf("got the warning %q", warning)
		}
	}
}
