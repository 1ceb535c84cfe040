package results_test

import (
	"slices"
	"testing"

	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

func TestRefusalsHaveTheirOwnMetrics(t *testing.T) {
	known := len(results.Metrics())
	good := results.Run{Load: &load.Result{Requests: 200, RequestsPerSecond: 100, Status: map[string]int64{"2xx": 200},
		StatusCodes: map[string]int64{"200": 200}}}
	if got := len(results.MetricsOf([]results.Run{good, {}})); got != known {
		t.Errorf("got %d metrics of runs in which all was answered, want the %d that are known", got, known)
	}
	refused := results.Run{Load: &load.Result{
		Requests: 40, RequestsPerSecond: 20, Status: map[string]int64{"2xx": 10,
			"5xx": 30}, StatusCodes: map[string]int64{"200": 10, "503": 30},
		Errors: map[string]int64{"timeout": 4, "bad_answer": 5, "reset": 0},
	}}
	var names []string
	values := map[string][2]float64{}
	for _, m := range results.MetricsOf([]results.Run{good, refused, {}})[known:] {
		a, okA := m.Of(&good)
		b, okB := m.Of(&refused)
		if _, ok := m.Of(&results.Run{}); ok || !okA || !okB {
			t.Errorf("%s: got a value of a run without load: %v, and of the others: %v, %v; want those of the others alone", m.Name, ok, okA, okB)
		}
		names = append(names, m.Name)
		values[m.Name] = [2]float64{a, b}
	}
	if want := []string{results.GoodAnswers, "answers of 503", "failed: bad answer",
		"failed: timeout"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for name, want := range map[string][2]float64{
		results.GoodAnswers: {100, 5}, "answers of 503": {0, 30}, "failed: bad answer": {0, 5},
		"failed: timeout": {0, 4},
	} {
		if values[name] != want {
			t.Errorf("%s: got %v, want %v", name, values[name], want)
		}
	}
}

// TestFailuresCountInTheLatency has a run in which more than one request of a hundred
// was never answered. Its p99 is above that of the slowest run in which all
// were.
func TestFailuresCountInTheLatency(t *testing.T) {
	all := results.Metrics()
	p99 := all[slices.IndexFunc(all, func(m results.Metric) bool { return m.Name == "latency p99" })]
	for _, open := range []bool{false, true} {
		r := &load.Result{Requests: 90, DurationSeconds: 5, TimeoutSeconds: 10,
			Latency: &load.Latency{P99: load.NeverAnswered}}
		if open {
			r.LatencyFromDue = r.Latency
		}
		if got, ok := p99.Of(&results.Run{Load: r}); !ok || got != 15e6 {
			t.Errorf("p99 is %v us, %v; want 15 s", got, ok)
		}
	}
}
