package analysis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A series is the requests per second of a configuration's runs.
type series struct {
	name   string
	values []float64
}

// The names of the baseline and its twin.
const (
	null  = "null"
	again = "null again"
)

// closedLoop returns results of a closed loop with interleaved runs, in which requests per second lead. The first series
// is the baseline. A series named again is its twin.
func closedLoop(all ...series) *results.Results {
	r := &results.Results{Name: "made", Lead: []string{"requests per second"},
		Started: time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC),
		Machine: load.Machine{System: "linux/amd64", CPUs: 2}}
	longest := 0
	for i, s := range all {
		r.Configurations = append(r.Configurations, results.Configuration{Name: s.name, Baseline: i == 0,
			Again: s.name == again})
		longest = max(longest, len(s.values))
	}
	for i := range longest {
		for _, s := range all {
			if i < len(s.values) {
				r.Runs = append(r.Runs, results.Run{Number: len(r.Runs) + 1, Configuration: s.name, Repeat: i + 1,
					Outcome: results.Done,
					Load: &load.Result{RequestsPerSecond: s.values[i], Requests: 1000, Sent: 1000,
						Status: map[string]int64{"2xx": 1000}, Latency: &load.Latency{}}})
			}
		}
	}
	return r
}

// TestLeadChoosesTheLeadingMetrics names leading metrics in the experiment. Findings are about these,
// in that order, and a metric that no run has is mentioned.
func TestLeadChoosesTheLeadingMetrics(t *testing.T) {
	r := closedLoop(series{null, around(1, 10, 1000, .01)}, series{"pipe", around(2, 10, 500, .01)},
		series{again, around(3, 10, 1000, .01)})
	for i := range r.Runs {
		run := &r.Runs[i]
		value := 100 + float64(i)/100
		if run.Configuration == "pipe" {
			value *= 2
		}
		run.Own = []results.Measure{{Name: "log call p99", Unit: "us", Value: value},
			{Name: "log call p50", Unit: "us", Value: value / 10}}
	}
	r.Lead = []string{"log call p99", "log cal p50"}
	a := analysis.Of(r)
	if got := a.Metrics[0]; got.Name != "log call p99" || !got.Leads ||
		got.Row("pipe").Versus.Verdict != analysis.Worse {
		t.Errorf("the first metric is %+v", got)
	}
	for _, f := range a.Findings {
		if f.Metric != "" && f.Metric != "log call p99" {
			t.Errorf("a finding is about %s: %s", f.Metric, f.Text)
		}
	}
	if want := `The experiment is about "log cal p50", which no run has: lead names a metric as the tables do.`; !slices.Contains(a.Warnings, want) {
		t.Errorf("warnings %q lack %q", a.Warnings, want)
	}
}

// around returns n different values around a middle, within that share of it.
func around(seed uint64, n int, middle, share float64) []float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	values := make([]float64, n)
	for i := range values {
		values[i] = middle * (1 + share*random.NormFloat64())
	}
	return values
}

// ownMeasures returns the results with the rates as the runs' own measures.
func ownMeasures(r *results.Results, name, unit string, better results.Better) *results.Results {
	r.Lead = nil
	for i := range r.Runs {
		r.Runs[i].Own = []results.Measure{{Name: name, Unit: unit, Better: better,
			Value: r.Runs[i].Load.RequestsPerSecond}}
		r.Runs[i].Load = nil
	}
	return r
}

func rate(t *testing.T, a *analysis.Analysis) *analysis.Metric {
	t.Helper()
	m := a.Metric("requests per second")
	if m == nil {
		t.Fatalf("no requests per second in %+v", a.Metrics)
	}
	return m
}

func TestVerdictsFollowTheDifference(t *testing.T) {
	base := around(1, 10, 50_000, 0.01)
	twin := around(2, 10, 50_000, 0.01)
	few := func(s []float64) []float64 { return s[:2] }
	for _, c := range []struct {
		name          string
		base, twin, x []float64
		want          analysis.Verdict
		why           string
	}{
		{"more", base, twin, around(3, 10, 60_000, 0.01), analysis.Better, ""},
		{"less", base, twin, around(3, 10, 40_000, 0.01), analysis.Worse, ""},
		{"the same", base, twin, around(3, 10, 50_000, 0.01), analysis.Noise, "chance may be all of it"},
		{"exactly the same", base, base, base, analysis.Noise, "chance may be all of it (p 1)"},
		{"between the baseline and its twin", base, around(2, 10, 60_000, 0.01), around(3, 10, 55_000, 0.01),
			analysis.Noise, "chance may be all of it"},
		{"two runs", few(base), few(twin), few(around(3, 10, 90_000, 0.01)), analysis.NotJudged,
			"too few runs: 2 blocks; at least 4 of each are needed"},
		{"five runs and no twin", base[:5], nil, around(3, 5, 90_000, 0.01), analysis.NotJudged,
			"too few runs: 5 blocks; at least 6 of each are needed"},
		{"no twin", base, nil, around(3, 10, 60_000, 0.01), analysis.Better, ""},
		{"from zero", make([]float64, 10), make([]float64, 10), base, analysis.Better, ""},
		{"to zero", base, twin, make([]float64, 10), analysis.Worse, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := rate(t, analysis.Of(closedLoop(series{"null", c.base}, series{again, c.twin}, series{"x", c.x})))
			if got := m.Row("x").Versus; got.Verdict != c.want || !strings.HasPrefix(got.Why, c.why) || c.why == "" &&
				got.Why != "" {
				t.Errorf("verdict %q, for %q; want %q for %q", got.Verdict, got.Why, c.want, c.why)
			}
			if m.Row("null").Versus != nil {
				t.Errorf("the baseline is compared with itself: %+v", m.Row("null").Versus)
			}
			if noise := m.Noise; (noise == nil) != (c.twin == nil) || noise != nil &&
				(noise.Verdict != analysis.NotJudged || noise.Corrected != nil) {
				t.Errorf("the noise is %+v", noise)
			}
		})
	}
}

// A higher rate and a lower latency are better; some measures have no better
// direction.
func TestDirectionDecidesTheVerdict(t *testing.T) {
	for better, want := range map[results.Better]analysis.Verdict{results.Higher: analysis.Better,
		results.Lower:   analysis.Worse,
		results.Neither: analysis.NotJudged} {
		r := ownMeasures(closedLoop(series{"null", around(1, 8, 10, 0.01)}, series{"x", around(2, 8, 20, 0.01)}),
			"depth", "m", better)
		a := analysis.Of(r)
		m := a.Metric("depth")
		if d := m.Row("x").Versus; d.Verdict != want || (d.P == nil) != (better == results.Neither) || !m.Own ||
			m.Leads == (better == results.Neither) ||
			m.Unit != "m" {
			t.Errorf("with %q: %+v, leads %v; want verdict %q", better, d, m.Leads, want)
		}
	}
}

// With more configurations, each needs a smaller p.
func TestMoreConfigurationsNeedSmallerP(t *testing.T) {
	all := []series{{"null", around(1, 6, 100, 0.01)}, {again, around(2, 6, 100, 0.01)},
		{"x", around(4, 6, 102.5, 0.01)}}
	alone := rate(t, analysis.Of(closedLoop(all...))).Row("x").Versus
	if alone.Verdict != analysis.Better || *alone.P != *alone.Corrected {
		t.Fatalf("x alone is %+v, p %v", alone, *alone.P)
	}
	for i := range 8 {
		all = append(all, series{fmt.Sprint("y", i), around(uint64(10+i), 6, 100, 0.01)})
	}
	among := rate(t, analysis.Of(closedLoop(all...))).Row("x").Versus
	if *among.Corrected < 2**among.P || *among.Corrected > 9**among.P+0.01 || *among.Corrected <= *alone.Corrected {
		t.Errorf("x among nine is %+v, p %v corrected %v; want p 2 to 9 times", among, *among.P, *among.Corrected)
	}
}

// Benchmarks are corrected together, except those that cannot differ. Measures that depend on each other count as one.
func TestMeasuresAreCorrectedTogether(t *testing.T) {
	r := closedLoop(series{"a", around(1, 10, 100, 0.01)}, series{"b", around(2, 10, 101, 0.01)})
	r.Lead = nil
	for i := range r.Runs {
		run := &r.Runs[i]
		value := run.Load.RequestsPerSecond
		run.Load = nil
		run.Own = []results.Measure{{Name: "x", Value: value}, {Name: "y", Value: value}, {Name: "z", Value: value},
			{Name: "same", Value: 1}, {Name: "shown", Value: value, Better: results.Neither}}
	}
	a := analysis.Of(r)
	for _, name := range []string{"x", "y", "z"} {
		if d := a.Metric(name).Row("b").Versus; math.Abs(*d.Corrected-*d.P) > 0.005 {
			t.Errorf("the p of %s is %v, corrected %v; want it once", name, *d.P, *d.Corrected)
		}
	}
	if f := a.Family; f.Comparisons != 3 {
		t.Errorf("%d measures are corrected together, want 3: %+v", f.Comparisons, f)
	}
}

// A run in which the service failed counts with 0 responses per second. One that the lab could not make has no
// value. A configuration without any measured run is not compared.
func TestFailedRunsCountAsZero(t *testing.T) {
	r := closedLoop(series{"null", around(1, 8, 100, 0.01)}, series{"x", around(2, 8, 200, 0.01)},
		series{"y", around(3, 8, 300, 0.01)})
	outcomes := []results.Outcome{results.Done, results.Leaked, results.Died, results.NoAnswer, results.NeverReady,
		results.Failed, results.Done,
		results.Done}
	for i := range r.Runs {
		run := &r.Runs[i]
		switch run.Configuration {
		case "x":
			run.Outcome = outcomes[run.Repeat-1]
		case "y":
			run.Outcome, run.Error = results.Died, fmt.Sprintf("cause %d", run.Repeat)
		}
	}
	a := analysis.Of(r)
	var got []float64
	for _, v := range rate(t, a).Row("x").Values {
		got = append(got, v.Value)
	}
	all := around(2, 8, 200, 0.01)
	if want := []float64{all[0], all[1], 0, 0, 0, all[6], all[7]}; !slices.Equal(got, want) {
		t.Errorf("values of x are %v, want %v", got, want)
	}
	if rate(t, a).Row("y") != nil {
		t.Errorf("y has values: %+v", rate(t, a).Row("y"))
	}
	if x := a.Runs[1]; x.All != 8 || x.Counted != 4 || x.Outcomes[results.Died] != 1 {
		t.Errorf("runs of x: %+v", x)
	}
	if first := a.Findings[0]; first.Text != "With y nothing was measured: 8 of 8 runs died. The first one: cause 1." ||
		first.Configuration != "y" {
		t.Errorf("the first finding is %q, want the one on y", first.Text)
	}
	for what, counts := range map[string]string{
		"the service was never ready": "such a run counts with 0 responses per second",
		"the service died":            "such a run counts with 0 responses per second",
		"no request was answered":     "such a run counts with 0 responses per second",
		"the run could not be made":   "compared are the runs that were measured",
	} {
		if want := "In 1 of 8 runs of x " + what + "; " + counts + "."; !slices.Contains(a.Warnings, want) {
			t.Errorf("warnings are %q, want among them %q", a.Warnings, want)
		}
	}
}

// A service that dies in half of its starts, and is twice as fast and half as expensive otherwise, is worse in its failures
// and better in nothing: not beside the baseline, and not as the other side of a comparison.
func TestAServiceThatFailsIsNotBetter(t *testing.T) {
	of := func(failing results.Outcome, pace bool) *results.Results {
		r := closedLoop(series{null, around(1, 12, 49, 0.01)}, series{again, around(2, 12, 49, 0.01)},
			series{"x", around(3, 12, 100, 0.01)})
		for i := range r.Runs {
			run := &r.Runs[i]
			run.Usage = results.Usage{Seconds: 1, CPUSeconds: 1 + float64(i%7)/1000}
			run.Load.Latency.P99 = load.Micros(1000 + i)
			if run.Configuration == "x" {
				run.Usage.CPUSeconds /= 2
				run.Load.Latency.P99 /= 2
				if run.Repeat%2 == 0 && failing != "" {
					run.Outcome, run.Error = failing, "it failed"
				}
			}
			if pace {
				run.Load.LatencyFromDue, r.Lead = run.Load.Latency, nil
			}
		}
		return r
	}
	for _, failing := range []results.Outcome{results.Died, results.NoAnswer, results.NeverReady} {
		for _, pace := range []bool{false, true} {
			a := analysis.Of(of(failing, pace))
			c := analysis.Compare(of("", pace), of(failing, pace))
			for _, f := range append(a.Findings, c.Findings...) {
				if f.Verdict == analysis.Better {
					t.Errorf("%s, pace %v: %q", failing, pace, f.Text)
				}
			}
			for _, m := range a.Metrics {
				if row := m.Row("x"); row != nil && row.Versus != nil && row.Versus.Verdict == analysis.Better {
					t.Errorf("%s, pace %v: %s of x is better", failing, pace, m.Name)
				}
			}
			const want = "With x, the service failed in 6 of 12 runs; with null, in 0 of 12."
			if f := a.Findings[0]; f.Text != want || f.Verdict != analysis.Worse {
				t.Errorf("%s, pace %v: the first finding is %q %q, want %q, worse", failing, pace, f.Text, f.Verdict, want)
			}
		}
	}
	// Runs with and without responses have no interval of a ratio, and half the rate is not "no difference".
	c := analysis.Compare(of("", false), of(results.Died, false))
	for _, f := range append(analysis.Of(of(results.Died, false)).Findings, c.Findings...) {
		if text := strings.ToLower(f.Text); strings.Contains(text, "no difference in requests per second") &&
			(strings.HasPrefix(text, "x: ") || strings.Contains(text, " x ")) {
			t.Errorf("got %q", f.Text)
		}
	}
	if got := rate(t, analysis.Of(of(results.Died, false))).Row("x").Median; got < 49 || got > 51 {
		t.Errorf("the median of 6 runs of 100 and 6 of 0 responses per second is %v, want 50", got)
	}
}

// A failed request in one run changes neither the leading metrics nor the metrics on the page.
func TestOneFailedRequestChangesNoMetric(t *testing.T) {
	names := func(failed int64, pace bool) (all, lead []string) {
		r := closedLoop(series{null, around(1, 8, 1, 0.01)}, series{"x", around(2, 8, 1, 0.01)})
		r.Lead = nil
		for i := range r.Runs {
			run := &r.Runs[i]
			run.Usage = results.Usage{Seconds: 1, CPUSeconds: 1}
			l := run.Load
			l.Sent, l.Requests, l.Status = 60, 60, map[string]int64{"2xx": 60}
			if i == 3 {
				l.Requests, l.Failed = 60-failed, failed
				l.Status["2xx"] = l.Requests
			}
			if pace {
				l.LatencyFromDue = l.Latency
			}
		}
		for _, m := range analysis.Of(r).Metrics {
			if m.Leads {
				lead = append(lead, m.Name)
			}
			all = append(all, m.Name)
		}
		return all, lead
	}
	for _, pace := range []bool{false, true} {
		all, lead := names(0, pace)
		if other, otherLead := names(1, pace); !slices.Equal(lead, otherLead) || !slices.Equal(all, other) {
			t.Errorf("pace %v: got %q of %q, without the failure %q of %q", pace, otherLead, other, lead, all)
		}
	}
}

// "No difference" is never said of a comparison whose interval excludes equality.
func TestNoDifferenceNeedsIntervalWithEquality(t *testing.T) {
	analysis.Simulates(t)
	undecided := 0
	for seed := range uint64(30) {
		var all []series
		for i, mean := range []float64{1000, 1000, 1005, 1010, 1015, 1000, 1008} {
			name := fmt.Sprint("c", i)
			if i == 1 {
				name = again
			}
			all = append(all, series{name, around(100*seed+uint64(i), 6, mean, 0.01)})
		}
		r := closedLoop(all...)
		m := rate(t, analysis.Of(r))
		findings := slices.Concat(analysis.Of(r).Findings, analysis.Compare(r, closedLoop(all[2:]...)).Findings)
		for _, f := range findings {
			undecided += strings.Count(f.Text, "undecided")
			if !strings.Contains(strings.ToLower(f.Text), "no difference") {
				continue
			}
			for _, row := range m.Rows {
				if row.Versus == nil || !strings.Contains(f.Text, row.Configuration) || strings.Contains(f.Text, "A and B") {
					continue
				}
				if in := row.Versus.Interval; in.Low > 1 || in.High < 1 {
					t.Errorf("seed %d: %q, with the interval %v", seed, f.Text, *in)
				}
			}
		}
	}
	if undecided == 0 {
		t.Error("no finding is undecided, want some")
	}
}

// Between two sessions, a difference that is no larger than that of a baseline from its twin is noise.
func TestTwinsOfSidesForbidSmallerDifferences(t *testing.T) {
	a := closedLoop(series{null, around(1, 10, 100, 0.01)}, series{again, around(2, 10, 120, 0.01)},
		series{"x", around(3, 10, 100, 0.01)})
	b := closedLoop(series{null, around(4, 10, 100, 0.01)}, series{again, around(5, 10, 100, 0.01)},
		series{"x", around(6, 10, 110, 0.01)})
	const want = "x: requests per second of A and B differ within the noise: "
	if got := analysis.Compare(a, b).Findings; !slices.ContainsFunc(got, func(f analysis.Finding) bool {
		return strings.HasPrefix(f.Text, want) && f.Verdict == analysis.Noise
	}) {
		t.Errorf("the findings are %+v, want among them %q", got, want)
	}
}

// With a pace, the rate of responses is that of the load generator and never better or worse.
func TestAPaceMakesTheRateNoFinding(t *testing.T) {
	r := closedLoop(series{null, around(1, 10, 100, 0.001)}, series{"x", around(2, 10, 101, 0.001)})
	for i := range r.Runs {
		r.Runs[i].Load.LatencyFromDue = r.Runs[i].Load.Latency
	}
	if v := rate(t, analysis.Of(r)).Row("x").Versus.Verdict; v != analysis.NotJudged {
		t.Errorf("the verdict is %q, want none", v)
	}
}

// Without a choice the default metrics lead, in each kind of load, and the runs' own measures only without a load.
func TestDefaultLeadDependsOnNoResult(t *testing.T) {
	leads := func(r *results.Results) (names []string) {
		for _, m := range analysis.Of(r).Metrics {
			if m.Leads {
				names = append(names, m.Name)
			}
		}
		return names
	}
	r := closedLoop(series{"null", around(1, 5, 100, 0.01)}, series{"x", around(2, 5, 100, 0.01)})
	r.Lead = nil
	for i := range r.Runs {
		r.Runs[i].Usage = results.Usage{Seconds: 1, CPUSeconds: 0.5 + float64(i)/100}
		r.Runs[i].Own = []results.Measure{{Name: "delay", Value: float64(i)},
			{Name: "size", Value: float64(i), Better: results.Neither}}
	}
	if got := leads(r); !slices.Equal(got, results.DefaultLead()) {
		t.Errorf("in the closed loop %q lead, want %q", got, results.DefaultLead())
	}
	for i := range r.Runs {
		r.Runs[i].Load.LatencyFromDue = &load.Latency{P99: load.Micros(i)}
	}
	last := r.Runs[len(r.Runs)-1].Load
	last.Status, last.StatusCodes = map[string]int64{"2xx": 900, "5xx": 100}, map[string]int64{"200": 900, "503": 100}
	if got := leads(r); !slices.Equal(got, results.DefaultLead()) {
		t.Errorf("with a pace and refusals %q lead, want %q", got, results.DefaultLead())
	}
	for i := range r.Runs {
		r.Runs[i].Load = nil
	}
	if got := leads(r); !slices.Equal(got, []string{"delay"}) {
		t.Errorf("without a load %q lead, want the run's own measure", got)
	}
}

func TestWarningsNameTheirCause(t *testing.T) {
	steady := func() *results.Results {
		return closedLoop(series{"null", []float64{99, 102, 100, 98, 101, 103, 97, 100.5, 99.2, 100.8}},
			series{again, []float64{101.5, 98.5, 100.2, 102.5, 97.5, 99.5, 100.7, 101.2, 98.8, 100.4}},
			series{"x", []float64{200, 201, 199, 202, 198, 203, 197, 200.5, 199.2, 200.8}})
	}
	for _, c := range []struct {
		name   string
		change func(*results.Results)
		want   string // "" for none
	}{
		{"nothing", func(*results.Results) {}, ""},
		{"interrupted", func(r *results.Results) { r.Interrupted = true }, "was ended before all of its runs"},
		{"the lab's CPU", func(r *results.Results) { r.LabCPU = 0.034 },
			"The lab itself took 3.4% of a CPU while it measured, more than the limit of 1.0%"},
		{"a saturated generator", func(r *results.Results) { r.Runs[2].Load.Saturated = true },
			"In 1 of 10 runs of x the load generator was at its own limit"},
		{"a busy machine", func(r *results.Results) {
			l := r.Runs[2].Load
			l.Saturated, l.Generator = true, load.Generator{Busy: 0.5, Waited: 0.3}
		}, "In 1 of 10 runs of x the machine was busy: the load generator waited for a CPU"},
		{"a generator that was busy and waited", func(r *results.Results) {
			l := r.Runs[2].Load
			l.Saturated, l.Generator = true, load.Generator{Busy: 0.97, Waited: 0.3}
		}, "In 1 of 10 runs of x the load generator was at its own limit"},
		{"leaked", func(r *results.Results) { r.Runs[2].Outcome = results.Leaked },
			"In 1 of 10 runs of x the service left processes behind"},
		{"a generator that is saturated everywhere", func(r *results.Results) {
			for i := range r.Runs {
				r.Runs[i].Load.Saturated = i%2 == 0
			}
		}, "In 15 of 30 runs of all 3 configurations the load generator was at its own limit"},
		{"few", func(r *results.Results) { r.Runs = r.Runs[:12] }, "a 95% interval of a median needs 6"},
		{"one configuration", func(r *results.Results) {
			r.Runs = slices.DeleteFunc(r.Runs, func(r results.Run) bool { return r.Configuration != "null" })
		}, "Nothing was compared: only runs of the baseline were measured."},
		{"the twin alone", func(r *results.Results) {
			r.Runs = slices.DeleteFunc(r.Runs, func(r results.Run) bool { return r.Configuration == "x" })
		}, "Nothing was compared: only runs of the baseline were measured."},
		{"no baseline", func(r *results.Results) {
			r.Runs = slices.DeleteFunc(r.Runs, func(r results.Run) bool { return r.Configuration == "null" })
		}, "Nothing was compared: no run of the baseline, null, was measured."},
		{"unlike itself", func(r *results.Results) {
			for i := range r.Runs {
				if r.Runs[i].Configuration == again {
					r.Runs[i].Load.RequestsPerSecond *= 1.2
				}
			}
		}, "The baseline seems to differ from itself in requests per second by "},
		{"drift", func(r *results.Results) {
			for i := range r.Runs {
				r.Runs[i].Load.RequestsPerSecond -= float64(i)
			}
		}, "Requests per second of the baseline falls from run to run"},
		{"an outlier", func(r *results.Results) { r.Runs[5].Load.RequestsPerSecond = 150 },
			"these runs are far from the others of their configuration: 6 (x, 150/s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := steady()
			c.change(r)
			got := analysis.Of(r).Warnings
			if c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("warnings are %q, want %q", got, c.want)
			}
		})
	}
}

func TestFindingsSummarizeDifferences(t *testing.T) {
	n := func(from float64) []float64 { // ten values with a median of from+4.5
		var v []float64
		for i := range 10 {
			v = append(v, from+float64(i))
		}
		return v
	}
	falling := n(52_097.9)
	slices.Reverse(falling)
	r := closedLoop(series{"stdout=null", n(52_095.5)}, series{again, n(52_096.3)},
		series{"stdout=terminal", n(29_695.5)}, series{"stdout=file", falling}, series{"logging off", n(120_000)})
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Usage = results.Usage{Seconds: 1, PeakRSS: 64<<20 + int64(i)}
		if run.Configuration == "stdout=terminal" {
			run.Usage.PeakRSS *= 4
			run.Output.Expected, run.Output.Lost = 1000, int64(i)
		}
	}
	var got []string
	a := analysis.Of(r)
	for _, f := range a.Findings {
		got = append(got, fmt.Sprintf("%s|%s", f.Verdict, f.Text))
	}
	want := []string{
		"better|With logging off, requests per second are 2.30 times as high as with stdout=null: 120,005/s instead " +
			"of 52,100/s (95% interval of the ratio 2.30 to 2.30, 10 runs each).",
		"worse|With stdout=terminal, requests per second are 43% lower than with stdout=null: 29,700/s instead of " +
			"52,100/s (95% interval of the ratio 0.570 to 0.570, 10 runs each).",
		// no run of the baseline reports how many it lost
		"|Log lines were lost with stdout=terminal (24.5 in the median run, 47.0 at most).",
		"~|No difference in requests per second was found between stdout=file and stdout=null: 52,102/s and " +
			"52,100/s; if there is one, it is likely under 0.1% (95% interval of the ratio 1.000 to 1.000, 10 runs each).",
		"|Not tested, because memory, peak is no leading metric: with stdout=terminal, the memory at its peak is 4.00 " +
			"times as high as with stdout=null: 268 MB instead of 67.1 MB (95% interval of the ratio 4.00 to 4.00, 10 runs each).",
		"|The noise: stdout=null, run as two configurations, differs from itself by less than 0.1% in requests per " +
			"second (95% interval of the ratio 1.000 to 1.000).",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings, -want +got:\n%s", diff)
	}
}

// Without a twin, three runs are not enough for a verdict. The first findings say so, and give
// the number of runs that is needed and the largest difference so far.
func TestTooFewRunsAreTheFirstFinding(t *testing.T) {
	low, high := []float64{100, 101, 102}, []float64{200, 201, 202}
	for _, c := range []struct {
		series []series
		want   []string
	}{
		{[]series{{"null", low}, {"x", high}}, []string{
			"There are too few runs to distinguish a difference from chance: 3 of each configuration. It takes at " +
				"least 6.",
			"The largest difference so far, which may be chance: with x, requests per second are 99.0% higher than " +
				"with null, 201/s instead of 101/s.",
		}},
		{[]series{{"null", low}, {"x", high[:2]}, {"y", []float64{10, 11, 12}}}, []string{
			"There are too few runs to distinguish a difference from chance: 2 to 3 of each configuration. It takes " +
				"at least 7, for 2 comparisons at once.",
			"The largest difference so far, which may be chance: with y, requests per second are 89% lower than with " +
				"null, 11.0/s instead of 101/s.",
		}},
		{[]series{{"null", around(1, 10, 100, 0.01)}, {again, around(3, 10, 100, 0.01)},
			{"x", []float64{200, 201, 202, 203}}, {"y", around(2, 10, 200, 0.01)}}, []string{
			"With x, requests per second are 99.9% higher than with null: 202/s",
		}},
		{[]series{{"null", around(1, 10, 100, 0.01)}, {"x", high[:1]}, {"y", around(2, 10, 200, 0.01)}}, []string{
			"There are too few runs to distinguish a difference from chance: of x. It takes at least 7, for 2 " +
				"comparisons at once.",
		}},
	} {
		got := analysis.Of(closedLoop(c.series...)).Findings
		for i, want := range c.want {
			if i >= len(got) || !strings.HasPrefix(got[i].Text, want) {
				t.Errorf("the findings are %+v, want %q as number %d", got, want, i)
			}
		}
	}
}

// A measure that is the same in all runs has no finding and does not lead. If
// one configuration differs, the others are the same.
func TestConstantMeasuresHaveNoFinding(t *testing.T) {
	lost := func(of map[string]float64) *results.Results {
		r := closedLoop(series{"null", around(1, 10, 100, 0.01)}, series{again, around(2, 10, 100, 0.01)},
			series{"x", around(3, 10, 200, 0.01)}, series{"y", around(4, 10, 200, 0.01)})
		for i := range r.Runs {
			run := &r.Runs[i]
			run.Own = []results.Measure{{Name: "lines dropped", Value: of[run.Configuration]}}
		}
		r.Lead = append(r.Lead, "lines dropped")
		return r
	}
	told := func(a *analysis.Analysis) bool {
		return slices.ContainsFunc(a.Findings, func(f analysis.Finding) bool {
			return strings.Contains(f.Text,
				"lines dropped")
		})
	}
	none := lost(nil)
	a := analysis.Of(none)
	m := a.Metric("lines dropped")
	if d := m.Row("x").Versus; m.Leads || told(a) || d.Verdict != analysis.Same || d.Ratio == nil || *d.Ratio != 1 {
		t.Errorf("0 everywhere leads %v, differs by %+v, and the findings are %+v; want none of it", m.Leads, d,
			a.Findings)
	}
	some := lost(map[string]float64{"y": 7})
	a = analysis.Of(some)
	m = a.Metric("lines dropped")
	if x, y := m.Row("x").Versus, m.Row("y").Versus; !m.Leads || !told(a) || x.Verdict != analysis.Same ||
		y.Verdict != analysis.Worse {
		t.Errorf("7 of y leads %v, x is %+v, y %+v, and the findings are %+v", m.Leads, x, y, a.Findings)
	}
	if c := analysis.Compare(none, lost(map[string]float64{null: 3, again: 3, "x": 3,
		"y": 3})); !strings.Contains(fmt.Sprint(c.Findings), "lines dropped") {
		t.Errorf("0 everywhere against 3 everywhere is not told of: %+v", c.Findings)
	}
	none.Lead = nil
	for i := range none.Runs {
		none.Runs[i].Load = nil
	}
	if got := analysis.Of(none).Findings; len(got) != 1 ||
		!strings.HasPrefix(got[0].Text, "No difference was found: the compared metrics are the same") {
		t.Errorf("where nothing differs the findings are %+v", got)
	}
}

// Many differences are described in few sentences.
func TestManyDifferencesNeedFewSentences(t *testing.T) {
	all := []series{{"null", around(1, 10, 100, 0.001)}}
	for i := range 8 {
		all = append(all, series{string(rune('a' + i)), around(uint64(2+i), 10, float64(120+20*i), 0.001)})
	}
	var got []string
	for _, f := range analysis.Of(closedLoop(all...)).Findings {
		got = append(got, f.Text)
	}
	if want := "Nearer to null, requests per second are 80% higher with d, 60% higher with c, 40% higher with b and " +
		"20% higher with a."; len(got) != 5 || got[4] != want {
		t.Errorf("the findings are %q, want five, the last %q", got, want)
	}
}

// Many own measures do not lead to many findings.
func TestManyMeasuresMakeFewFindings(t *testing.T) {
	r := closedLoop(series{"a", make([]float64, 10)}, series{again, make([]float64, 10)},
		series{"b", make([]float64, 10)})
	r.Lead = nil
	random := rand.New(rand.NewPCG(1, 1))
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Load = nil
		for j := range 40 {
			value := 1e-6 * float64(j+1) * (1 + 0.01*random.NormFloat64())
			if run.Configuration == "b" && j%4 == 0 {
				value *= 2
			}
			run.Own = append(run.Own, results.Measure{Name: fmt.Sprintf("Benchmark%d sec/op", j), Unit: "s",
				Value: value})
		}
	}
	a := analysis.Of(r)
	if n := len(a.Findings); n > 9 {
		t.Errorf("%d findings: %+v", n, a.Findings)
	}
	var text strings.Builder
	for _, f := range a.Findings {
		fmt.Fprintln(&text, f.Text)
	}
	for _, want := range []string{"With b, Benchmark", "6 smaller differences more in the table.",
		"comparisons of the runs' own measures no difference was found; if there is one, it is likely under "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("findings lack %q:\n%s", want, &text)
		}
	}
}

func TestQuantityHasAReadableUnit(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{52_100.4, "/s", "52,100/s"}, {1310, "us", "1.31 ms"}, {0.0034, "us", "3.40 ns"}, {3.4e-9, "s", "3.40 ns"}, {0,
			"s", "0 µs"},
		{64e6, "bytes", "64.0 MB"}, {64e6, "bytes/s", "64.0 MB/s"}, {1234, "", "1,234"}, {1.5, "CPUs", "1.50 CPUs"},
		{3.4e-7, "s/req", "340 ns/req"}, {2048, "B/req", "2.05 kB/req"}, {0.00042, "", "0.00042"}, {0.00042, "fish/op",
			"0.00042 fish/op"}, {12, "ms", "12.0 ms"}, {2.5, "%", "2.50%"},
	} {
		if got := analysis.Quantity(c.value, c.unit); got != c.want {
			t.Errorf("Quantity(%v, %q) = %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

// Metrics that do not lead have no test and no verdict. If they differ much, a finding describes it.
func TestOtherMetricsAreDescribed(t *testing.T) {
	of := func(rate float64) *results.Results {
		r := closedLoop(series{null, around(1, 6, 100, 0.01)}, series{again, around(2, 6, 100, 0.01)},
			series{"x", around(3, 6, rate, 0.01)})
		cost := map[string]float64{null: 1, again: 1, "x": 1.4}
		for i := range r.Runs {
			run := &r.Runs[i]
			run.Usage = results.Usage{Seconds: 1, CPUSeconds: cost[run.Configuration] * (1 + float64(i)/1000)}
			run.Own = []results.Measure{{Name: "size", Value: run.Usage.CPUSeconds}, {Name: "same", Value: 1}}
		}
		return r
	}
	for _, rate := range []float64{100, 200} {
		r := of(rate)
		a, c := analysis.Of(r), analysis.Compare(r, of(rate))
		for _, name := range []string{"CPU per request", "size"} {
			m := a.Metric(name)
			if d := m.Row("x").Versus; m.Leads || d.P != nil || d.Verdict != analysis.NotJudged ||
				math.Abs(*d.Ratio-1.4) > 0.01 || d.Interval == nil || d.Why != "not tested: it is no leading metric" {
				t.Errorf("%s of x is %+v, leads %v", name, d, m.Leads)
			}
		}
		if d := a.Metric("same").Row("x").Versus; d.Verdict != analysis.Same {
			t.Errorf("equal values are %+v", d)
		}
		for _, f := range append(a.Findings, c.Findings...) {
			if f.Metric == "CPU per request" || f.Metric == "size" {
				t.Errorf("a finding is %q", f.Text)
			}
		}
		want := &analysis.Family{Metrics: []string{"requests per second"}, Comparisons: 1, Alpha: 0.05, NeededRuns: 4}
		if diff := cmp.Diff(want, a.Family); diff != "" {
			t.Errorf("the family, -want +got:\n%s", diff)
		}
	}
}

// A service with a queue does the same work, but responds to only a tenth of the
// requests.
func TestUnansweredRunsHaveNoCostPerRequest(t *testing.T) {
	r := closedLoop(series{"null", around(1, 10, 1000, 0.01)}, series{again, around(2, 10, 1000, 0.01)},
		series{"queue", around(3, 10, 100, 0.01)})
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Usage = results.Usage{Seconds: 1, CPUSeconds: 1 + float64(i)/1000}
		run.Load.LatencyFromDue = run.Load.Latency
		if run.Configuration != "queue" {
			run.Load.Requests, run.Load.Unanswered = 100, 900
		}
	}
	r.Lead = []string{"CPU per request", "requests per second"}
	a := analysis.Of(r)
	for _, m := range a.Metrics {
		if row := m.Row("queue"); strings.HasSuffix(m.Name, "per request") && row != nil && row.Versus != nil {
			t.Errorf("%s is compared: %+v", m.Name, m.Row("queue"))
		}
	}
	if value, ok := results.Metrics()[slices.IndexFunc(results.Metrics(),
		func(m results.Metric) bool { return m.Name == "CPU per request" })].Of(&r.Runs[0]); ok {
		t.Errorf("the first run has a CPU per request of %v", value)
	}
	const want = "In 20 of 20 runs of null and null again more than 1% of the requests had no response. The service " +
		"worked for them, too, so such a run has no CPU per request, no user CPU per request, "
	for _, warnings := range [][]string{a.Warnings, {strings.TrimPrefix(analysis.Compare(r, r).Warnings[1], "A: ")}} {
		if len(warnings) == 0 || !strings.HasPrefix(warnings[0], want) {
			t.Errorf("the warnings are %q, want first %q", warnings, want)
		}
	}
	for i := range r.Runs {
		r.Runs[i].Load.Requests, r.Runs[i].Load.Unanswered = 990, 10
	}
	if a := analysis.Of(r); a.Metric("CPU per request") == nil {
		t.Error("with 1% of the requests unanswered there is no CPU per request")
	}
}

// If one of two sides changes with time, each counts as one run.
func TestChangingSideCountsAsOneRun(t *testing.T) {
	slow := func(level float64) *results.Results {
		wave := make([]float64, 10)
		for i := range wave {
			wave[i] = level * (1 + 0.05*math.Sin(float64(i)/2))
		}
		return closedLoop(series{"null", wave}, series{again, wave})
	}
	for level, want := range map[float64]analysis.Verdict{108: analysis.Noise, 200: analysis.Better} {
		f := analysis.Compare(slow(100), slow(level)).Findings[0]
		if f.Verdict != want || want == analysis.Noise &&
			!strings.Contains(f.Text, "The runs of one side change with time by about as much") {
			t.Errorf("of 100 and %v requests per second on a machine that changes by 5%%, the finding is %+v, want %q",
				level, f, want)
		}
	}
}

func TestCompareJudgesEachConfiguration(t *testing.T) {
	a := closedLoop(series{"null", around(1, 10, 100, 0.01)}, series{again, around(2, 10, 100, 0.01)},
		series{"x", around(3, 10, 100, 0.01)}, series{"old", around(4, 10, 100, 0.01)})
	b := closedLoop(series{"null", around(5, 10, 100, 0.01)}, series{again, around(6, 10, 100, 0.01)},
		series{"x", around(7, 10, 80, 0.01)}, series{"new", around(8, 10, 100, 0.01)})
	a.Source, b.Source = "name: made\nrepeats: 10\n", "name: made\nrepeats: 20\n"
	b.Machine.CPUs = 4
	for i := range b.Runs {
		b.Runs[i].Load.Connections = 64
	}
	c := analysis.Compare(a, b)
	if !slices.Equal(c.OnlyA, []string{"old"}) || !slices.Equal(c.OnlyB, []string{"new"}) {
		t.Errorf("only in A %q and in B %q, want old and new", c.OnlyA, c.OnlyB)
	}
	if first := c.Findings[0]; first.Configuration != "x" || first.Verdict != analysis.Worse ||
		!strings.HasPrefix(first.Text, "x: requests per second are 2") {
		t.Errorf("the first finding is %+v, want that x is worse", first)
	}
	if second := c.Findings[1]; second.Configuration != "null" || second.Verdict != analysis.Noise {
		t.Errorf("the second finding is %+v, want that null is the same", second)
	}
	all := strings.Join(c.Warnings, "\n")
	for _, want := range []string{
		"The machine's number of CPUs differs: 2 in A and 4 in B.",
		`The experiments differ, first in line 2: "repeats: 10" in A and "repeats: 20" in B.`,
		"The load differs:",
		"not run in turn",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("warnings lack %q:\n%s", want, all)
		}
	}
	for _, m := range c.Metrics {
		for _, row := range m.Rows {
			if row.Configuration == again {
				t.Errorf("the twin is compared in %s", m.Name)
			}
		}
	}
}

// Results do not differ from themselves. The only warning is that the sides did
// not run in turn.
func TestResultsDoNotDifferFromThemselves(t *testing.T) {
	r := closedLoop(series{"null", around(1, 10, 100, 0.01)}, series{again, around(2, 10, 100, 0.01)},
		series{"x", around(3, 10, 200, 0.01)})
	c := analysis.Compare(r, r)
	if len(c.Warnings) != 1 {
		t.Errorf("warnings are %q", c.Warnings)
	}
	for _, m := range c.Metrics {
		for _, row := range m.Rows {
			if row.Versus.Verdict == analysis.Better || row.Versus.Verdict == analysis.Worse {
				t.Errorf("%s of %s is %+v", m.Name, row.Configuration, row.Versus)
			}
		}
	}
}

// Many configurations without a difference share one sentence. Identical
// results are reported as identical.
func TestEqualConfigurationsShareASentence(t *testing.T) {
	session := func(seed uint64) *results.Results {
		return closedLoop(series{"null", around(seed, 10, 100, 0.01)}, series{"x", around(seed+1, 10, 200, 0.01)},
			series{"y", around(seed+2, 10, 300, 0.01)})
	}
	a, b := session(1), session(11)
	b.Started = b.Started.Add(time.Hour)
	c := analysis.Compare(a, b)
	const want = "Between A and B, in requests per second with null, x and y no difference was found; if there is " +
		"one, it is likely under "
	if len(c.Findings) != 1 || !strings.HasPrefix(c.Findings[0].Text, want) || c.Findings[0].Verdict != analysis.Noise {
		t.Errorf("the findings are %+v, want one that begins with %q", c.Findings, want)
	}
	for i := range b.Runs { // half of each are sixteen times the others
		b.Runs[i].Load.RequestsPerSecond *= []float64{0.25, 4}[b.Runs[i].Repeat%2]
	}
	if got := analysis.Compare(a, b).Findings[0].Text; !strings.Contains(got,
		"; the runs scatter, and the 95% intervals reach from 75% lower to ") ||
		!strings.HasSuffix(got, " times as high.") {
		t.Errorf("of runs that scatter the first finding is %q, want how far the intervals reach", got)
	}
	if got := analysis.Compare(a, a).Warnings; len(got) != 1 ||
		!strings.HasPrefix(got[0], "A and B are the same results") {
		t.Errorf("of results and themselves the warnings are %q, want that they are the same", got)
	}
}

// If only refusals were measured, the first finding says so.
func TestRefusalsAreTheFirstFinding(t *testing.T) {
	r := closedLoop(series{"null", around(1, 5, 100, 0.01)}, series{again, around(2, 5, 100, 0.01)},
		series{"x", around(3, 5, 100, 0.01)})
	for i := range r.Runs {
		l := r.Runs[i].Load
		l.Status, l.StatusCodes = map[string]int64{"4xx": 1000}, map[string]int64{"404": 1000}
	}
	findings := analysis.Of(r).Findings
	for i, want := range []string{
		"With null and x no request was answered with 2xx (answers of 404): the numbers describe refusals.",
		"No difference in requests per second was found between x and null: ",
	} {
		if i >= len(findings) || !strings.HasPrefix(findings[i].Text, want) {
			t.Errorf("the findings are %+v, want as number %d %q", findings, i+1, want)
		}
	}
}

func TestEmptyResultsCanBeAnalyzed(t *testing.T) {
	for name, r := range map[string]*results.Results{
		"nothing": {},
		"no runs": {Configurations: []results.Configuration{{Name: "a", Baseline: true},
			{Name: "a again", Again: true}}},
		"a twin alone": {Configurations: []results.Configuration{{Name: "a", Again: true}}},
	} {
		a := analysis.Of(r)
		if len(a.Findings) == 0 {
			t.Errorf("%s: no findings", name)
		}
		if c := analysis.Compare(r, r); len(c.Findings) == 0 {
			t.Errorf("%s: no findings of a comparison", name)
		}
	}
}

// FuzzOf makes results of any bytes. Every four bytes are a run: its outcome
// and configuration, and its value.
func FuzzOf(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint64(3))
	f.Add(bytes.Repeat([]byte{0, 1, 2, 3}, 12), uint64(0))
	f.Add(bytes.Repeat([]byte{4, 8, 15, 16, 23, 42}, 8), uint64(1))
	odd := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
		-math.MaxFloat64, math.SmallestNonzeroFloat64, 1e299, -1e299}
	outcomes := []results.Outcome{results.Done, results.Done, results.Done, results.Leaked, results.Died,
		results.Failed, "", "strange"}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		value := func() float64 {
			if random.IntN(3) == 0 {
				return odd[random.IntN(len(odd))]
			}
			return random.NormFloat64() * math.Pow(10, float64(random.IntN(20)-10))
		}
		r := &results.Results{LabCPU: value()}
		for i := range seed % 4 {
			r.Configurations = append(r.Configurations, results.Configuration{Name: string(rune('a' + i)),
				Baseline: random.IntN(2) == 0, Again: random.IntN(3) == 0})
		}
		for i, c := range text[:min(len(text), 20)] {
			run := results.Run{Number: i, Configuration: string(rune('a' + c%5)), Outcome: outcomes[c/5%8],
				Usage: results.Usage{Seconds: value(), CPUSeconds: value(), PeakRSS: int64(c)}}
			if c%7 > 0 {
				run.Load = &load.Result{Requests: int64(c % 3), RequestsPerSecond: value(),
					Latency: &load.Latency{P50: load.Micros(value()), P99: load.Micros(value())}}
			}
			run.Own = []results.Measure{{Name: string(rune('m' + c%2)), Value: value()}}
			r.Runs = append(r.Runs, run)
		}
		before, _ := json.Marshal(r)
		a, c := analysis.Of(r), analysis.Compare(r, r)
		if after, _ := json.Marshal(r); !bytes.Equal(before, after) {
			t.Errorf("the results were changed from %s to %s", before, after)
		}
		if len(a.Findings) == 0 || len(c.Findings) == 0 {
			t.Errorf("no findings: %+v %+v", a, c)
		}
		for _, document := range []any{a, c} {
			if _, err := json.Marshal(document); err != nil {
				t.Errorf("no JSON: %v", err)
			}
		}
		for _, m := range a.Metrics {
			for _, row := range m.Rows {
				checkRow(t, m.Name, row)
			}
		}
	})
}

// checkRow checks invariants of a row.
func checkRow(t *testing.T, metric string, row analysis.Row) {
	t.Helper()
	if i := row.Interval; i != nil && !(i.Low <= row.Median && row.Median <= i.High) {
		t.Errorf("%s: the median %v is not in %+v", metric, row.Median, *i)
	}
	d := row.Versus
	if d == nil {
		return
	}
	if d.Interval != nil && !(d.Interval.Low <= *d.Ratio && *d.Ratio <= d.Interval.High) {
		t.Errorf("%s: the ratio %v is not in %+v", metric, *d.Ratio, *d.Interval)
	}
	if d.P == nil {
		if d.Verdict != analysis.NotJudged && d.Verdict != analysis.Same {
			t.Errorf("%s: %s without a test", metric, d.Verdict)
		}
		return
	}
	if *d.P < 0 || *d.P > 1 || d.Corrected != nil && *d.Corrected < *d.P {
		t.Errorf("%s: p %v, corrected %v", metric, *d.P, d.Corrected)
	}
	if judged := d.Verdict == analysis.Better || d.Verdict == analysis.Worse; judged && *d.Corrected > 0.05 {
		t.Errorf("%s: %s with p %v", metric, d.Verdict, *d.Corrected)
	}
}
