package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/internal/noisetest"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A design is the form of simulated experiments.
type design struct {
	configurations int // besides the baseline and its twin
	measures       int // the runs' own
	runs           int // of each configuration
	load           loop
}

// A loop is the kind of a simulated load.
type loop int

const (
	noLoad loop = iota // benchmarks
	closedLoad
	openLoad
)

func (d design) String() string {
	return fmt.Sprintf("%d configurations, %d measures, %d runs, %s", d.configurations, d.measures, d.runs,
		map[loop]string{noLoad: "no load", closedLoad: "closed loop", openLoad: "open loop"}[d.load])
}

// experiment returns results in which each metric has its own noise. The CPU per request of the first configuration
// differs by the ratio.
func (d design) experiment(random *rand.Rand, model noisetest.Model, ratio float64) *results.Results {
	r := &results.Results{Configurations: []results.Configuration{{Name: "base", Baseline: true},
		{Name: "again", Again: true}}}
	for i := range d.configurations {
		r.Configurations = append(r.Configurations, results.Configuration{Name: fmt.Sprint("x", i)})
	}
	turns := lab.Order(len(r.Configurations), d.runs, random.Uint64())
	series := func() []float64 { return model.Of(random, len(turns)) }
	for _, t := range turns {
		r.Runs = append(r.Runs, results.Run{Number: t.Number, Repeat: t.Repeat,
			Configuration: r.Configurations[t.Case].Name, Outcome: results.Done})
	}
	for m := range d.measures {
		name := fmt.Sprint("measure ", m)
		for i, noise := range series() {
			r.Runs[i].Own = append(r.Runs[i].Own, results.Measure{Name: name, Value: 100 * (1 + noise)})
		}
	}
	if d.load == noLoad {
		return r
	}
	const requests = 100_000
	perSecond, cpu, memory, p50, p99, p999 := series(), series(), series(), series(), series(), series()
	for i := range r.Runs {
		run := &r.Runs[i]
		l := &load.Latency{P50: load.Micros(1000 * (1 + p50[i])), P99: load.Micros(2000 * (1 + p99[i])),
			P999: load.Micros(4000 * (1 + p999[i]))}
		run.Load = &load.Result{
			Requests: requests, Sent: requests, Status: map[string]int64{"2xx": requests},
			RequestsPerSecond: 10_000 * (1 + perSecond[i]), Latency: l,
		}
		if d.load == openLoad {
			run.Load.LatencyFromDue = l
		}
		run.Usage = results.Usage{Seconds: 10, CPUSeconds: 7 * (1 + cpu[i]), PeakRSS: int64(64e6 * (1 + memory[i]))}
		if run.Configuration == "x0" {
			run.Usage.CPUSeconds *= ratio
		}
	}
	return r
}

// claims reports whether a sentence reports a difference.
func claims(findings []analysis.Finding, warnings []string) bool {
	for _, f := range findings {
		if f.Verdict == analysis.Better || f.Verdict == analysis.Worse {
			return true
		}
	}
	return strings.Contains(strings.Join(warnings, "\n"), "differ from itself")
}
