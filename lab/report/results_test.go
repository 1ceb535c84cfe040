package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A scene describes made-up results.
type scene struct {
	configurations []string
	repeats        int
	seconds        float64       // of each run
	every          time.Duration // between samples
	points         int           // of each run
}

// whole is an experiment of the largest size that the report has to handle: 40
// runs of a minute, sampled every 50 ms. Under the race detector, which is ten
// times as slow, it is smaller.
var whole = func() scene {
	s := scene{[]string{"output=null", "output=file", "output=pipe", "output=terminal"}, 10, 60, 50 * time.Millisecond,
		4000}
	if underRace {
		s.repeats, s.seconds, s.points = 6, 20, 1000
	}
	return s
}()

// small is made quickly.
var small = scene{[]string{"output=null", "output=file", "output=pipe"}, 6, 3, 50 * time.Millisecond, 300}

// make returns results in which each configuration costs more than the one
// before it, and the reader of the log stops in the last. The same scene always
// has the same results.
func (s scene) make() *results.Results {
	random := rand.New(rand.NewPCG(1, 2))
	r := &results.Results{
		Name: "log-cost", Title: "What does logging cost this service?",
		Lead:     []string{"requests per second"},
		Question: "The same service with its output to nowhere, a file, a pipe and a terminal.",
		Source:   "name: log-cost\nmatrix:\n  service.output: [null, file, pipe, terminal]\nrepeats: 10\n", Seed: 1,
		Version: "test",
		Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Ended: time.Date(2026, 11, 22, 9, 50, 0, 0, time.UTC),
		Machine: load.Machine{System: "linux/amd64", Kernel: "6.1.0", Processor: "A Processor @ 2.50GHz", CPUs: 2,
			Go: "go1.26"},
		LabCPU: 0.004,
	}
	for i, name := range append([]string{s.configurations[0] + " again"}, s.configurations...) {
		c := results.Configuration{Name: name, Labels: []results.Label{{Setting: "service.output", Value: name}},
			Again:    i == 0,
			Baseline: i == 1}
		if i == 4 {
			c.About = "a pseudo-terminal of 80 columns, drained"
		}
		r.Configurations = append(r.Configurations, c)
	}
	r.Configurations[0], r.Configurations[1] = r.Configurations[1], r.Configurations[0]
	for repeat := 1; repeat <= s.repeats; repeat++ {
		for i, c := range r.Configurations {
			if repeat == s.repeats && c.Again { // 4 x 10 runs, as required
				continue
			}
			r.Runs = append(r.Runs, s.run(random, c.Name, max(0, i-1), repeat, len(r.Runs)+1))
		}
	}
	return r
}

// run returns a run of a configuration with that cost.
func (s scene) run(random *rand.Rand, name string, cost, repeat, number int) results.Run {
	slow := 1 + .2*float64(cost) + .01*random.NormFloat64()
	rate, us := 50_000/slow, load.Micros(slow)
	requests := int64(rate * s.seconds)
	run := results.Run{
		Number: number, Configuration: name, Repeat: repeat, Outcome: results.Done, Exit: "exit status 0",
		Started: time.Date(2026, 11, 22, 9, number, 0, 0, time.UTC), Seconds: s.seconds + 3, ReadyAfter: .02 +
			.002*random.Float64(),
		Load: &load.Result{
			URL: "http://127.0.0.1:8080/", Protocol: "HTTP/1.1", Pace: "closed", Asked: requests, Sent: requests,
			Requests:          requests,
			RequestsPerSecond: rate, DurationSeconds: s.seconds, Connections: 64,
			Status: map[string]int64{"2xx": requests},
			Latency: &load.Latency{Unit: "us", Count: requests, P50: 1200 * us, P90: 2000 * us,
				P99: 5200 * us * load.Micros(1+.1*random.Float64()), P999: 14e3 * us,
				Max: 40e3 * us * load.Micros(1+random.Float64())},
			Points: s.pointsOf(random, slow, cost),
		},
		Output: results.Output{Bytes: requests * 120, Lines: requests, BytesPerSecond: rate * 120,
			MostBehind: int64(cost) * 16 << 10, After: .01},
		Usage: results.Usage{
			Seconds: s.seconds, UserSeconds: s.seconds * (.9 + .1*float64(cost)), SystemSeconds: s.seconds * (.3 +
				.2*float64(cost)),
			PeakRSS: int64(40+10*cost) << 20, MeanRSS: int64(35+10*cost) << 20, PeakThreads: 9, PeakFiles: 75,
			FileLimit: 1024, VoluntarySwitches: 1e6, ForcedSwitches: 2e5,
		},
		Go: &results.GoUsage{GCs: 900, PauseSeconds: .05, PeakHeap: 12 << 20, Allocated: requests * 900,
			Allocations: requests * 9, PeakGoroutines: 70},
		Own: []results.Measure{{Name: "log call p99", Unit: "us", Value: 12 * slow}},
	}
	run.Usage.CPUSeconds = run.Usage.UserSeconds + run.Usage.SystemSeconds
	run.Samples = s.samplesOf(random, rate, cost)
	return run
}

func (s scene) pointsOf(random *rand.Rand, slow float64, cost int) []load.Point {
	points := make([]load.Point, s.points)
	for i := range points {
		at := float64(i) / float64(s.points) * s.seconds
		us := 1200 * slow * math.Exp(.4*random.NormFloat64())
		if into := math.Mod(at, s.seconds/3); cost == 3 && into < s.seconds/12 { // a stall at regular intervals
			us = (s.seconds/12 - into) * 1e6
		}
		points[i] = load.Point{At: at, Latency: us, Status: 200}
		if i%997 == 996 {
			points[i].Status = 503
		}
	}
	return points
}

func (s scene) samplesOf(random *rand.Rand, rate float64, cost int) []results.Sample {
	n := int(s.seconds / s.every.Seconds())
	samples := make([]results.Sample, n)
	for i := range samples {
		at := float64(i) * s.every.Seconds()
		teeth := math.Mod(at*float64(2+cost), 1)
		samples[i] = results.Sample{
			At: at, User: .9 + .1*random.Float64(), System: .3 + .1*float64(cost) + .05*random.Float64(),
			RSS: int64((30 + 6*float64(cost) + 8*teeth +
				.02*at*float64(cost)) * (1 << 20)), Threads: 9, Files: 75, Switches: 20_000,
			Output: int64(rate * 120 * (1 + .05*random.Float64())),
			Behind: int64(float64(cost) * 16 * 1024 * random.Float64()),
			Heap:   int64((4 + 8*teeth) * (1 << 20)), Goroutines: 70, GCs: int64(at * float64(2+cost)),
			Pause: at * .0008 * float64(1+cost),
		}
	}
	return samples
}

// hostile texts are used for all texts of results.
var hostile = []string{
	`<script>window.hacked=1</script>`, `"><img src=x onerror=window.hacked=1>`, `=HYPERLINK("http://evil.example/","x")`, "\x1b[31mred\x07\u202e",
	"</title></style></pre>", "| a | b |\n# head", "{{.}} ${port} '+alert(1)+'", "\xff\xfe bytes", "```\n[a](javascript:alert(1))",
}

// hostileResults returns results with hostile texts, and with runs that ended
// badly.
func hostileResults() *results.Results {
	s := small
	s.configurations = hostile
	s.repeats = 2
	r := s.make()
	r.Title, r.Question, r.Source = hostile[0], hostile[1], hostile[4]+"\n"+hostile[8]
	r.Machine.Processor, r.Version = hostile[0], hostile[3]
	for i := range r.Configurations {
		r.Configurations[i].About = hostile[i%len(hostile)]
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		word := hostile[i%len(hostile)]
		run.Warnings = []string{word}
		run.Own = []results.Measure{{Name: hostile[i%3], Unit: hostile[3+i%3], Value: float64(i)}}
		r.Profiled = append(r.Profiled, results.Run{Configuration: run.Configuration,
			Profiles: []results.Profile{{Kind: word, File: "../" + word}}})
		if i%5 == 4 {
			run.Outcome, run.Error, run.Exit, run.LastOutput = results.Died, word, word,
				fmt.Sprintf("line\n%s\n%s", word, hostile[4])
			run.Load, run.Samples = nil, nil
		}
	}
	return r
}
