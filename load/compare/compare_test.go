package compare_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchmath"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/compare"
	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/internal/latencies"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// made returns a result with about the given rate and latencies in microseconds.
func made(t testing.TB, seed uint64, seconds int, rate, micros float64) *load.Result {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	h := hdr.New()
	r := &load.Result{
		Started: time.Date(2026, 11, 22, 0, 0, int(seed), 0, time.UTC),
		URL:     "http://127.0.0.1:8080/", Protocol: "HTTP/1.1", Pace: "closed loop",
		Connections: 64, Pipeline: 1, Threads: 2, DurationSeconds: float64(seconds),
		Machine: load.Machine{System: "linux/amd64", CPUs: 2, Processor: "P"},
		Server:  &load.ServerProcess{PeakRSS: 64 << 20},
	}
	var sum, n float64
	for i := range seconds {
		answers := int64(rate * (1 + 0.02*random.NormFloat64()))
		slow := 1 + 0.02*random.NormFloat64()
		for range 200 {
			us := micros * slow * (0.5 + random.ExpFloat64()/2)
			h.Record(int64(us*1e3), 1)
			sum, n = sum+us, n+1
		}
		r.Requests += answers
		r.Series = append(r.Series, load.Second{
			Start: float64(i), Seconds: 1, Requests: answers,
			P50: load.Micros(micros * slow), P90: load.Micros(2 * micros * slow), P99: load.Micros(3 * micros * slow),
		})
		for j := range 20 {
			r.Server.Samples = append(r.Server.Samples, load.ServerSample{
				At: float64(i) + float64(j+1)/20, CPU: 0.5, RSS: 60<<20 + int64(i)<<10,
			})
		}
		r.Server.CPUSeconds += 0.5
	}
	r.Asked, r.Sent = r.Requests, r.Requests
	r.RequestsPerSecond = float64(r.Requests) / float64(seconds)
	r.Latency = &load.Latency{
		Unit: "us", Count: int64(n), Min: load.Micros(h.Min()) / 1e3, Max: load.Micros(h.Max()) / 1e3,
		Mean: load.Micros(sum / n), Histogram: h.Encode(),
	}
	return r
}

func mustCompare(t *testing.T, a, b []*load.Result) compare.Comparison {
	t.Helper()
	c, err := compare.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func row(t *testing.T, c compare.Comparison, metric string) compare.Row {
	t.Helper()
	i := slices.IndexFunc(c.Rows, func(r compare.Row) bool { return r.Metric == metric })
	if i < 0 {
		t.Fatalf("no row %q in %v", metric, c.Rows)
	}
	return c.Rows[i]
}

func one(r *load.Result) []*load.Result { return []*load.Result{r} }

// TestRunsAgreeWithBenchmath compares four runs per side.
func TestRunsAgreeWithBenchmath(t *testing.T) {
	var a, b []*load.Result
	var ra, rb []float64
	for i := range uint64(5) {
		a, b = append(a, made(t, i, 3, 1000, 300)), append(b, made(t, 10+i, 3, 900, 330))
		ra, rb = append(ra, a[i].RequestsPerSecond), append(rb, b[i].RequestsPerSecond)
	}
	c := mustCompare(t, a, b)
	got := row(t, c, "requests per second")
	sa := benchmath.NewSample(ra, &benchmath.DefaultThresholds)
	sb := benchmath.NewSample(rb, &benchmath.DefaultThresholds)
	want := benchmath.AssumeNothing.Compare(sa, sb)
	if !c.Tested() || *got.P != want.P {
		t.Errorf("tested %v: %+v with p %v, want p %v", c.Tested(), got, *got.P, want.P)
	}
	if center := benchmath.AssumeNothing.Summary(sa, 0.95).Center; math.Abs(float64(got.A.Value)-center) > 1e-9 {
		t.Errorf("A's value is %v, want the median of runs %v", got.A.Value, center)
	}
	if got.Verdict != compare.Worse || row(t, c, "p99.9 from sent").P == nil || len(c.Warnings) > 0 {
		t.Errorf("the rate is %s, p99.9 %+v, warnings %q", got.Verdict, row(t, c, "p99.9 from sent"), c.Warnings)
	}
	for _, row := range mustCompare(t, a, b[:3]).Rows {
		if row.Verdict != compare.Untested || row.P != nil || row.A.Interval != nil {
			t.Errorf("5 runs against 3 were tested: %+v", row)
		}
	}
}

// A result does not differ from itself.
func TestEqualIsNoise(t *testing.T) {
	r := made(t, 1, 10, 1000, 100)
	runs := []*load.Result{r, made(t, 2, 10, 1000, 100), made(t, 3, 10, 1000, 100), made(t, 4, 10, 1000, 100)}
	for _, row := range mustCompare(t, runs, runs).Rows {
		if row.Verdict != compare.Noise || row.A.Value != 0 && row.Ratio != 1 {
			t.Errorf("%s of a result and itself: %+v", row.Metric, row)
		}
	}
}

// The percentiles of a side come from the merged distribution of its runs, and are not means of percentiles.
func TestHistogramsAreMerged(t *testing.T) {
	fast, slow := made(t, 1, 5, 1000, 100), made(t, 2, 5, 1000, 10_000)
	c := mustCompare(t, []*load.Result{fast, slow}, one(slow))
	all, err := hdr.Decode(fast.Latency.Histogram)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hdr.Decode(slow.Latency.Histogram)
	if err != nil {
		t.Fatal(err)
	}
	all.Merge(h)
	if got, want := row(t, c, "p90 from sent").A.Value, compare.Value(all.At(latencies.Rank(90, all.Count())))/1e3; got != want {
		t.Errorf("p90 of both runs is %v, want %v", got, want)
	}
	want := float64(fast.Latency.Mean+slow.Latency.Mean) / 2
	if got := row(t, c, "mean from sent").A.Value; math.Abs(float64(got)-want) > 1e-6 {
		t.Errorf("the mean of both is %v, want %v", got, want)
	}
}

func TestServerMetricsAreCompared(t *testing.T) {
	a, b := made(t, 1, 8, 1000, 100), made(t, 2, 8, 2000, 100)
	c := mustCompare(t, one(a), one(b))
	cpu := row(t, c, "server CPU per request")
	if want := 1e6 * 4 / float64(a.Requests); math.Abs(float64(cpu.A.Value)-want) > 1e-9 || cpu.Ratio >= 1 {
		t.Errorf("CPU per request is %+v, want %v, and less for B", cpu, want)
	}
	if m := row(t, c, "server memory, most"); m.A.Value != 64<<20 || m.Ratio != 1 {
		t.Errorf("memory is %+v", m)
	}
	b.Server = nil
	for _, row := range mustCompare(t, one(a), one(b)).Rows {
		if strings.HasPrefix(row.Metric, "server") {
			t.Errorf("%+v, although B has no server", row)
		}
	}
}

// Latencies from due are compared only if all results have them.
func TestOpenLoopsAreComparedFromDue(t *testing.T) {
	a, b := made(t, 1, 8, 1000, 100), made(t, 2, 8, 1000, 100)
	a.LatencyFromDue, a.Pace = a.Latency, "1000/s"
	c := mustCompare(t, one(a), one(b))
	row(t, c, "p50 from sent")
	if !strings.Contains(strings.Join(c.Warnings, "\n"), "the pace differs: 1000/s and closed loop") {
		t.Errorf("no warning of the pace: %q", c.Warnings)
	}
	b.LatencyFromDue, b.Pace = b.Latency, "1000/s"
	b.Connections = 99
	c = mustCompare(t, one(a), one(b))
	row(t, c, "p50 from due")
	if len(c.Warnings) != 1 {
		t.Errorf("warnings of two open loops: %q, want the one on too few runs", c.Warnings)
	}
}

func TestWarningsNameTheDifferences(t *testing.T) {
	for _, c := range []struct {
		change func(*load.Result)
		want   string
	}{
		{func(r *load.Result) { r.URL = "http://other/" }, "the URL differs: http://127.0.0.1:8080/ and http://other/"},
		{func(r *load.Result) { r.RequestsHash, r.Targets[0].Method = "77", "PUT" },
			"the set of requests differs: GET / (66) and PUT / (77)"},
		{func(r *load.Result) { r.RequestsHash, r.BodyBytes = "77", 9 },
			"the set of requests differs: GET / (66) and GET / with 9 bytes (77)"},
		{func(r *load.Result) { r.TimeoutSeconds = 1 }, "the timeout differs: 10s and 1s"},
		{func(r *load.Result) { r.Protocol = "HTTP/2" }, "the protocol differs"},
		{func(r *load.Result) { r.Connections = 1 }, "the number of connections differs: 64 and 1"},
		{func(r *load.Result) { r.Pipeline = 12 }, "the pipeline differs"},
		{func(r *load.Result) { r.Threads = 1 }, "the number of threads differs"},
		{func(r *load.Result) { r.DurationSeconds = 60 }, "the duration differs: 8.0s and 60.0s"},
		{func(r *load.Result) { r.Machine.Processor = "Q" }, "the machine differs"},
		{func(r *load.Result) { r.Saturated = true }, "run 1 of B is not to be trusted: the generator was saturated"},
		{func(r *load.Result) { r.Saturated, r.Generator.Waited = true, 0.18 },
			"run 1 of B is not to be trusted: the machine was busy"},
		{func(r *load.Result) { r.Interrupted = true }, "run 1 of B was interrupted"},
		{func(*load.Result) {}, "one run against one run cannot show which differences are more than noise"},
	} {
		a, b := made(t, 1, 8, 1000, 100), made(t, 2, 8, 1000, 100)
		for _, r := range []*load.Result{a, b} {
			r.RequestsHash, r.TimeoutSeconds = "66", 10
			r.Targets = []load.TargetResult{{Method: "GET", Path: "/"}}
		}
		c.change(b)
		if got := strings.Join(mustCompare(t, one(a), one(b)).Warnings, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("warnings are %q, want %q", got, c.want)
		}
	}
}

// The same file given twice is one sample.
func TestRepeatedRunGivesAWarning(t *testing.T) {
	r := made(t, 1, 5, 1000, 100)
	got := strings.Join(mustCompare(t, []*load.Result{r, made(t, 2, 5, 1000, 100), r}, one(r)).Warnings, "\n")
	if !strings.Contains(got, "run 3 of A is the same as run 1") || strings.Contains(got, "of B is the same") {
		t.Errorf("warnings are %q", got)
	}
}

func TestErrorsNameTheirCause(t *testing.T) {
	r := made(t, 1, 3, 1000, 100)
	if c, err := compare.Compare(nil, one(r)); err == nil {
		t.Errorf("no runs make %+v", c)
	}
	broken := made(t, 1, 3, 1000, 100)
	broken.Latency.Histogram = "x"
	if _, err := compare.Compare(one(r), one(broken)); err == nil ||
		!strings.Contains(err.Error(), "histogram of run 1") {
		t.Errorf("a broken histogram: %v", err)
	}
	none := &load.Result{Errors: map[string]int64{"refused": 64}}
	c := mustCompare(t, one(r), one(none))
	if e := row(t, c, "errors"); e.B.Value != 1 {
		t.Errorf("errors of a run without a response are %+v, want all", e)
	}
	if _, err := json.Marshal(mustCompare(t, one(none), one(none))); err != nil {
		t.Errorf("a comparison of nothing: %v", err)
	}
}

func TestTextShowsTheComparison(t *testing.T) {
	var a, b []*load.Result
	for i := range uint64(6) {
		r := made(t, 10+i, 12, 10_500, 1010)
		r.Errors, r.Failed, r.Sent = map[string]int64{"reset": 12}, 12, r.Sent+12
		r.Machine.CPUs = 4
		a, b = append(a, made(t, i, 12, 10_000, 900)), append(b, r)
	}
	var text bytes.Buffer
	for _, c := range []compare.Comparison{mustCompare(t, a, b), mustCompare(t, a[:1], b[:1])} {
		if err := c.WriteText(&text); err != nil {
			t.Fatal(err)
		}
	}
	golden := filepath.Join("testdata", "text.golden")
	if *update {
		if err := os.WriteFile(golden, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("the table (-want +got); -update rewrites it:\n%s", diff)
	}
}

// The document has the same rows as the table.
func TestJSONHasTheRowsOfTheTable(t *testing.T) {
	c := mustCompare(t, one(made(t, 1, 5, 1000, 100)), one(made(t, 2, 5, 1000, 100)))
	document, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var again compare.Comparison
	if err := json.Unmarshal(document, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("written and read (-want +got):\n%s", diff)
	}
}

func ExampleCompare() {
	before := []*load.Result{{DurationSeconds: 10, RequestsPerSecond: 1000}}
	after := []*load.Result{{DurationSeconds: 10, RequestsPerSecond: 1100}}
	c, err := compare.Compare(before, after)
	if err != nil {
		fmt.Println(err)
		return
	}
	rate := c.Rows[0]
	fmt.Printf("%s: %.2f, %s\n", rate.Metric, rate.Ratio, rate.Verdict)
	// Output: requests per second: 1.10, untested
}

// without removes the response of every tenth request of a run: it was given up after
// that time, or never answered if the time is 0.
func without(t *testing.T, r *load.Result, after time.Duration) *load.Result {
	t.Helper()
	answered := *r.Latency
	h, err := hdr.Decode(answered.Histogram)
	if err != nil {
		t.Fatal(err)
	}
	l := &load.Latency{Unit: "us", Answered: &answered, Count: answered.Count * 10 / 9, Min: answered.Min,
		Mean: load.NeverAnswered}
	l.GivenUp = l.Count - answered.Count
	if after > 0 {
		h.Record(int64(after), l.GivenUp)
	} else {
		l.GivenUp, l.NeverAnswered = 0, l.GivenUp
	}
	l.Histogram, l.MaxFinite, l.Max = h.Encode(), load.Micros(h.Max())/1e3, load.NeverAnswered
	if after > 0 {
		l.MaxFinite, l.Max = 0, l.MaxFinite
	}
	r.Latency = l
	return r
}

// TestUnansweredRequestsWorsenP99 checks that p99 is not better if a fast run leaves requests without a response.
func TestUnansweredRequestsWorsenP99(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after func(*load.Result) *load.Result
		p99           compare.Verdict
		a, b          string
	}{
		{"given up", nil, func(r *load.Result) *load.Result { return without(t, r, 10*time.Second) },
			compare.Worse, "", "≥10"},
		{"never answered", nil, func(r *load.Result) *load.Result { return without(t, r, 0) },
			compare.Worse, "", "never"},
		{"both never", func(r *load.Result) *load.Result { return without(t, r, 0) },
			func(r *load.Result) *load.Result { return without(t, r, 0) }, compare.Noise, "never", "never"},
		{"a bound below the other", func(r *load.Result) *load.Result { return without(t, r, time.Second) },
			func(r *load.Result) *load.Result { return without(t, r, 10*time.Second) }, compare.Untested, "≥1", "≥10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, runs := range []int{1, 4} {
				var a, b []*load.Result
				for i := range uint64(runs) {
					slow, fast := made(t, i, 8, 1000, 900), made(t, 10+i, 8, 1000, 90)
					if c.before != nil {
						slow = c.before(slow)
					}
					a, b = append(a, slow), append(b, c.after(fast))
				}
				got := mustCompare(t, a, b)
				p99 := row(t, got, "p99 from sent")
				want := c.p99
				if !got.Tested() {
					want = compare.Untested
				}
				if p99.Verdict != want {
					t.Errorf("%d runs: p99 is %+v, want it %s", runs, p99, want)
				}
				var text bytes.Buffer
				if err := got.WriteText(&text); err != nil {
					t.Fatal(err)
				}
				line, _, _ := strings.Cut(text.String()[strings.Index(text.String(), "p99 from sent"):], "\n")
				if !strings.Contains(line, c.a) || !strings.Contains(line, c.b) || strings.Contains(line, "Inf") ||
					strings.Contains(line, "NaN") {
					t.Errorf("%d runs: %q, want %q and %q in it", runs, line, c.a, c.b)
				}
				if _, err := json.Marshal(got); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSharedTargetsAreCompared checks the rows of the targets that both sides have.
func TestSharedTargetsAreCompared(t *testing.T) {
	withTargets := func(r *load.Result, paths ...string) *load.Result {
		r.RequestsHash = strings.Join(paths, " ")
		for _, path := range paths {
			r.Targets = append(r.Targets, load.TargetResult{Method: "GET", Path: path, Sent: 200, Requests: 200,
				Status: map[string]int64{"2xx": 200 - int64(len(path))}, Latency: r.Latency})
		}
		return r
	}
	for _, runs := range []int{1, 4} {
		var a, b []*load.Result
		for i := range uint64(runs) {
			a = append(a, withTargets(made(t, i, 8, 1000, 100), "/same", "/a"))
			b = append(b, withTargets(made(t, 10+i, 8, 1000, 900), "/same", "/b"))
		}
		c := mustCompare(t, a, b)
		var got []string
		for _, row := range c.Rows {
			if row.Target != "" {
				got = append(got, fmt.Sprintf("%s %s %v", row.Target, row.Metric, row.B.Value > row.A.Value))
			}
			if want := runs >= 4; row.Target != "" && (row.P != nil) != want {
				t.Errorf("%d runs: %s of %s was tested: %v", runs, row.Metric, row.Target, row.P != nil)
			}
		}
		want := []string{"GET /same p50 from sent true", "GET /same p99 from sent true", "GET /same not 2xx false"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d runs (-want +got):\n%s", runs, diff)
		}
		if got := strings.Join(c.Warnings, "\n"); !strings.Contains(got,
			"the set of requests differs: 2 targets (/same /a) and 2 targets (/same /b)") {
			t.Errorf("warnings are %q", got)
		}
	}
}
