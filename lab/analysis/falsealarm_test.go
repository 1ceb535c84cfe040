package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// repeats is the number of runs of each configuration of a simulated
// experiment.
const repeats = 20

// simulated returns an experiment of recorded runs: a baseline, its twin, and
// the configurations in more.
//
// The runs only have one metric, because the counts take long.
func simulated(metric string, baseline, twin []recordedRun, more ...[]recordedRun) *results.Results {
	r := &results.Results{Lead: []string{metric}, Configurations: []results.Configuration{{Name: "base", Baseline: true},
		{Name: "again", Again: true}}}
	for i := range more {
		r.Configurations = append(r.Configurations, results.Configuration{Name: fmt.Sprint("x", i)})
	}
	all := append([][]recordedRun{baseline, twin}, more...)
	for repeat := range repeats {
		for i, runs := range all {
			r.Runs = append(r.Runs, runs[repeat].asRun(metric, len(r.Runs)+1, repeat+1, r.Configurations[i].Name))
		}
	}
	return r
}

func (r recordedRun) asRun(metric string, number, repeat int, configuration string) results.Run {
	const requests = 1000
	run := results.Run{Number: number, Repeat: repeat, Configuration: configuration, Outcome: results.Done,
		Load: &load.Result{Requests: requests, RequestsPerSecond: 1, Latency: &load.Latency{}}}
	if r.set == openSet {
		run.Load.LatencyFromDue = run.Load.Latency
	}
	switch metric {
	case "requests per second":
		run.Load.RequestsPerSecond = r.perSecond
	case "latency p99":
		run.Load.Latency.P99 = load.Micros(r.p99)
	case "CPU per request":
		run.Usage = results.Usage{Seconds: 1, CPUSeconds: r.cpuPerRequest * requests / 1e6}
	}
	return run
}

// deal shuffles runs and returns hands of repeats runs each. No run is in two
// hands.
func deal(random *rand.Rand, runs []recordedRun, hands int) [][]recordedRun {
	order := random.Perm(len(runs))
	dealt := make([][]recordedRun, hands)
	for i := range dealt {
		for range repeats {
			dealt[i] = append(dealt[i], runs[order[0]])
			order = order[1:]
		}
	}
	return dealt
}

// TestFalseAlarmsAreRare has experiments without any difference. 5% of them may report one, and three standard
// deviations more by chance, with one configuration besides the baseline and with six. With WEIR_SOAK there are 1,000 of
// each.
func TestFalseAlarmsAreRare(t *testing.T) {
	analysis.Simulates(t)
	sets := recorded(t)
	for _, c := range []struct {
		set, metric    string
		configurations int
	}{
		{closedSet, "requests per second", 1},
		{closedSet, "requests per second", 6},
		{openSet, "CPU per request", 1},
		{openSet, "latency p99", 1},
	} {
		t.Run(fmt.Sprint(c.set, " ", c.metric, " ", c.configurations), func(t *testing.T) {
			random := rand.New(rand.NewPCG(2026, uint64(c.configurations)))
			experiments, bound := 100, 11
			if os.Getenv("WEIR_SOAK") != "" {
				experiments, bound = 1000, 70
			}
			alarms := 0
			for range experiments {
				hands := deal(random, sets[c.set], 2+c.configurations)
				m := analysis.Of(simulated(c.metric, hands[0], hands[1], hands[2:]...)).Metric(c.metric)
				if !m.Leads {
					t.Fatalf("%s does not lead", m.Name)
				}
				if found(m) {
					alarms++
				}
			}
			t.Logf("%d of %d experiments find what is not there", alarms, experiments)
			if alarms > bound {
				t.Errorf("%d false alarms in %d experiments, want at most %d", alarms, experiments, bound)
			}
		})
	}
}

func found(m *analysis.Metric) bool {
	for _, row := range m.Rows {
		if d := row.Versus; d != nil && (d.Verdict == analysis.Better || d.Verdict == analysis.Worse) {
			return true
		}
	}
	return false
}

// Requests use 3% more CPU in one configuration.
func TestDifferenceOfThreePercentIsFound(t *testing.T) {
	analysis.Simulates(t)
	sets := recorded(t)
	random := rand.New(rand.NewPCG(3, 3))
	const cpu, experiments, least = "CPU per request", 100, 90
	worse, truth := 0, 0
	for range experiments {
		alike := deal(random, sets[costlySet], 2)
		dearer := deal(random, sets[dearerSet], 1)
		d := analysis.Of(simulated(cpu, alike[0], alike[1], dearer[0])).Metric(cpu).Row("x0").Versus
		if d.Verdict == analysis.Better {
			t.Errorf("what costs more is better: ratio %v", *d.Ratio)
		}
		if d.Verdict == analysis.Worse {
			worse++
		}
		if d.Interval.Low <= 1.03 && 1.03 <= d.Interval.High {
			truth++
		}
	}
	t.Logf("%d of %d experiments find that a request costs more; in %d the interval has 1.03", worse, experiments,
		truth)
	if worse < least {
		t.Errorf("%d of %d experiments find that a request costs 3%% more, want at least %d", worse, experiments, least)
	}
	if truth < least {
		t.Errorf("in %d of %d experiments the interval has the true ratio 1.03, want at least %d", truth, experiments,
			least)
	}
}
