package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
)

// runExported loads a server with three paths, of which one responds with 404 and one closes the connection, and
// returns the result and the text on stderr.
func runExported(t *testing.T, flags ...string) (r *load.Result, stderr string) {
	t.Helper()
	server := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			http.NotFound(w, r)
		case "/closed":
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, "hello")
		}
	}))
	file := filepath.Join(t.TempDir(), "requests.txt")
	requests := fmt.Sprintf("%s/ok\n%[1]s/ok\n%[1]s/missing\n%[1]s/closed\n", server.URL)
	if err := os.WriteFile(file, []byte(requests), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, append([]string{"load", "--json", "-r", "400", "-d", "3s", "-c", "2", "--warm-up", "500ms",
		"--requests-file", file}, flags...)...)
	p.wait(0)
	result := new(load.Result)
	if err := json.Unmarshal([]byte(output(t, p)), result); err != nil {
		t.Fatal(err)
	}
	if result.StatusCodes["200"] == 0 || result.StatusCodes["404"] == 0 || result.Errors["eof"] == 0 {
		t.Errorf("the run has not all kinds of responses: %v %v", result.StatusCodes, result.Errors)
	}
	return result, p.stderr.String()
}

// exportedValues returns what a server has to have of a run at its end, by the name in Prometheus and the labels.
func exportedValues(r *load.Result) map[string]float64 {
	last := r.Series[len(r.Series)-1]
	want := map[string]float64{
		"requests_total{outcome=answered}":                 float64(r.Requests),
		"requests_total{outcome=failed}":                   float64(r.Failed),
		"requests_total{outcome=unanswered}":               float64(r.Unanswered),
		"requests_total{outcome=unsent}":                   float64(r.Unsent),
		"io_bytes_total{direction=read}":                   float64(r.BytesRead),
		"io_bytes_total{direction=written}":                float64(r.BytesWritten),
		"connections{}":                                    float64(last.Connections),
		"latency_quantile_seconds{from=due,quantile=0.5}":  float64(last.P50) / 1e6,
		"latency_quantile_seconds{from=due,quantile=0.9}":  float64(last.P90) / 1e6,
		"latency_quantile_seconds{from=due,quantile=0.99}": float64(last.P99) / 1e6,
		"latency_quantile_seconds{from=due,quantile=1}":    float64(last.Max) / 1e6,
	}
	addLatency(want, "latency", "from=due", r.LatencyFromDue)
	for status, n := range r.StatusCodes {
		want["responses_total{status="+status+"}"] = float64(n)
	}
	for kind, n := range r.Errors {
		want["errors_total{kind="+kind+"}"] = float64(n)
	}
	for _, t := range r.Targets {
		for outcome, n := range map[string]int64{"answered": t.Requests, "failed": t.Failed, "unanswered": t.Unanswered} {
			want[fmt.Sprintf("target_requests_total{method=GET,outcome=%s,path=%s}", outcome, t.Path)] = float64(n)
		}
		for class, n := range t.Status {
			want[fmt.Sprintf("target_responses_total{method=GET,path=%s,status=%s}", t.Path, class)] = float64(n)
		}
		addLatency(want, "target_latency", "from=due,method=GET,path="+t.Path, t.LatencyFromDue)
	}
	return want
}

// addLatency adds the count and the sum of a latency. The sum has the answered requests, and those given up.
func addLatency(want map[string]float64, name, labels string, l *load.Latency) {
	sum := 0.0
	switch {
	case l.NeverAnswered == 0:
		sum = float64(l.Mean) / 1e6 * float64(l.Count)
	case l.Answered != nil:
		sum = float64(l.Answered.Mean) / 1e6 * float64(l.Answered.Count)
	}
	want[name+"_seconds_sum{"+labels+"}"] = sum
	want[name+"_seconds_count{"+labels+"}"] = float64(l.Count)
}

// compareExported compares the values that a server has with those of the result. Sums have three digits.
func compareExported(t *testing.T, got map[string]float64, r *load.Result) {
	t.Helper()
	want := exportedValues(r)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, ok := got[name]
		off := 0.0
		if strings.Contains(name, "_sum{") {
			off = 1e-3 * want[name]
		}
		if !ok || math.Abs(value-want[name]) > off {
			t.Errorf("%s is %v (%v), want %v", name, value, ok, want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok && !strings.Contains(name, "_bucket{") {
			t.Errorf("unexpected %s", name)
		}
	}
}

// exportedKey returns the key of exportedValues.
func exportedKey(name string, labels map[string]string) string {
	var parts []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		switch label {
		case "__name__", "run", "job", "instance", "zone":
		default:
			parts = append(parts, label+"="+labels[label])
		}
	}
	return strings.TrimPrefix(name, "weir_load_") + "{" + strings.Join(parts, ",") + "}"
}

// number parses a value of Prometheus.
func number(t *testing.T, value any) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(value.(string), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestExportToPrometheus runs a load with --export to a server of Prometheus. Its queries yield the numbers of the
// result, the quantiles of each second, and counters that begin with 0 at the start of the run. Gauges end with it.
func TestExportToPrometheus(t *testing.T) {
	t.Parallel()
	server := peer.StartPrometheus(t, "global: {}\n")
	r, _ := runExported(t, "--export", "prometheus+"+server.URL, "--tag", "run=nightly 12", "--tag", "zone=eu")
	got := map[string]float64{}
	for _, s := range server.Query(`{run="nightly 12",job="weir-load",instance!="",zone="eu"}[1h]`) {
		got[exportedKey(s.Metric["__name__"], s.Metric)] = number(t, s.Values[len(s.Values)-1][1])
	}
	compareExported(t, got, r)
	for _, s := range server.Query(`{run="nightly 12",__name__!~".*_(total|bucket|count|sum)"}`) {
		t.Errorf("%v is still shown after the run", s.Metric)
	}
	answered := server.Query(`weir_load_requests_total{outcome="answered"}[1h]`)
	if len(answered) != 1 || len(answered[0].Values) < 3 ||
		answered[0].Values[0] != [2]any{float64(r.Started.UnixMilli()) / 1e3, "0"} {
		t.Errorf("the samples of the answered requests are %v, want 0 at %v and some of the run", answered, r.Started)
	}
	// The last second of the result may contain one that was exported before, and is in no row of the result.
	var want, quantiles []float64
	for _, s := range r.Series[:len(r.Series)-1] {
		if s.Requests+s.Errors > 0 {
			want = append(want, float64(s.P90)/1e6)
		}
	}
	for _, s := range server.Query(`weir_load_latency_quantile_seconds{quantile="0.9"}[1h]`)[0].Values {
		quantiles = append(quantiles, number(t, s[1]))
	}
	if n := len(quantiles) - len(want); n < 1 || n > 2 || !slices.Equal(quantiles[:len(want)], want) {
		t.Errorf("the p90 are %v, want %v and those of the end", quantiles, want)
	}
	median := number(t, server.Query(`histogram_quantile(0.5, weir_load_latency_seconds_bucket)`)[0].Value[1])
	if want := float64(r.LatencyFromDue.P50) / 1e6; median < want/1.5 || median > want*1.5 { // a bucket
		t.Errorf("the median of the histogram is %v s, and that of the result %v s", median, want)
	}
}

// TestExportToCollector runs a load with --export to an OpenTelemetry Collector. Its last points have the numbers of
// the result.
func TestExportToCollector(t *testing.T) {
	t.Parallel()
	c := peer.StartCollector(t)
	r, _ := runExported(t, "--export", "otlp+http://"+c.Address, "--tag", "zone=eu")
	got := map[string]float64{}
	for _, p := range c.Points() {
		labels := map[string]string{}
		for name, value := range p.Attributes {
			labels[name] = value.(string)
		}
		if labels["run"] != r.Started.UTC().Format(time.RFC3339) || labels["zone"] != "eu" ||
			p.Resource["service.name"] != "weir-load" || p.Resource["service.instance.id"] == "" {
			t.Fatalf("the point %+v has not the labels of the run", p)
		}
		name := strings.ReplaceAll(p.Name, ".", "_") + map[string]string{"s": "_seconds", "By": "_bytes"}[p.Unit]
		cumulative := p.Cumulative && p.Started == uint64(r.Started.UnixNano()) && p.Time > p.Started
		switch {
		case p.Type == "Sum" && p.Monotonic && cumulative:
			got[exportedKey(name+"_total", labels)] = number(t, p.Value)
		case p.Type == "Histogram" && cumulative && len(p.Counts) == len(p.Bounds)+1:
			all := uint64(0)
			for _, n := range p.Counts {
				all += n
			}
			if all != p.Count {
				t.Errorf("the counts of %s are %v, want %d in all", name, p.Counts, p.Count)
			}
			got[exportedKey(name+"_count", labels)] = float64(p.Count)
			got[exportedKey(name+"_sum", labels)] = number(t, p.Value)
		case p.Type == "Gauge":
			got[exportedKey(name, labels)] = number(t, p.Value)
		default:
			t.Errorf("unexpected point %+v", p)
		}
	}
	compareExported(t, got, r)
}

// A server that is away from the beginning does not end the load. It is reported at once, and the result has the number
// of intervals that it did not get.
func TestExportToNoServer(t *testing.T) {
	t.Parallel()
	r, stderr := runExported(t, "--export", "otlp+http://weir:hunter2@127.0.0.1:1")
	text := strings.Join(r.Warnings, "\n")
	if !strings.Contains(text, "intervals were not exported as a whole to otlp+http://127.0.0.1:1: ") ||
		!strings.Contains(text, "connection refused") || strings.Contains(text, "hunter2") {
		t.Errorf("the warnings are %q, want the intervals and the reason, without the password", text)
	}
	said := regexp.MustCompile(`--export: http://127\.0\.0\.1:1/v1/metrics: .*connection refused; the load continues`)
	if n := len(said.FindAllString(stderr, -1)); n != 1 || strings.Contains(stderr, "hunter2") {
		t.Errorf("stderr has the failure %d times, want once, without the password:\n%s", n, stderr)
	}
}
