// Package results defines the measurements of an experiment and the metrics by which its configurations are compared.
// Package lab makes [Results]; packages analysis and report read them.
package results

import (
	"slices"
	"time"

	"github.com/weirhq/weir/load"
)

// Results are the measurements of an experiment. Their JSON is a stable format
// for other programs.
type Results struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Question string `json:"question,omitempty"`

	// Lead has the names of the leading metrics, the most important first. They are chosen before the first run, and only
	// their differences are tested. Without any they are [DefaultLead], or the runs' own measures if no run has a load.
	Lead []string `json:"lead,omitempty"`

	// Contrasts are the differences that are tested. Without any, each configuration is compared with the baseline.
	Contrasts []Contrast `json:"contrasts,omitempty"`

	// Source is the experiment as it ran, in YAML. It can be run again.
	Source string `json:"source"`

	Started time.Time    `json:"started"`
	Ended   time.Time    `json:"ended"`
	Seed    uint64       `json:"seed"`
	Version string       `json:"version"` // of the program that ran the experiment, as in v0.1.0
	Machine load.Machine `json:"machine"`

	Configurations []Configuration `json:"configurations"`
	Runs           []Run           `json:"runs"` // in the order in which they ran

	// Profiled are the extra runs in which profiles were taken, at most one
	// of each configuration. They are not among Runs, because profiling has
	// a cost.
	Profiled []Run `json:"profiled,omitempty"`

	// Interrupted is set if fewer runs were made than the experiment asks
	// for.
	Interrupted bool `json:"interrupted,omitempty"`

	// LabCPU is the share of one CPU that the lab itself used during the
	// load: to take samples, to poll a Go service, and to read the
	// service's output. The CPU of the load generator is not included.
	LabCPU float64 `json:"lab_cpu"`
}

// Light returns a copy without the large parts: samples, and the points of loads. It shares the rest with r.
func (r *Results) Light() *Results {
	light := *r
	light.Runs, light.Profiled = lightRuns(r.Runs), lightRuns(r.Profiled)
	return &light
}

func lightRuns(runs []Run) []Run {
	light := slices.Clone(runs)
	for i := range light {
		run := &light[i]
		run.Samples = nil
		if run.Load != nil {
			without := *run.Load
			without.Points = nil
			run.Load = &without
		}
	}
	return light
}

// A Configuration is one choice of the varied settings.
type Configuration struct {
	// Name is short and identifies the configuration: its labels,
	// "stdout=pipe GOGC=100", or the name that the experiment gives it.
	Name   string  `json:"name"`
	Labels []Label `json:"labels,omitempty"`

	// Baseline says that the others are compared with this one. Again says
	// that it is the baseline's twin, which shows the noise.
	Baseline bool `json:"baseline,omitempty"`
	Again    bool `json:"again,omitempty"`

	// About describes the effect of the configuration if the name does not.
	About string `json:"about,omitempty"`
}

// A Label is the value of a varied setting.
type Label struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
}

// A Contrast asks whether a configuration differs from another one. With Than it is an interaction: it asks whether this
// difference is larger or smaller than that one, as ratios.
type Contrast struct {
	Configuration string    `json:"configuration"`
	Against       string    `json:"against"`
	Than          *Contrast `json:"than,omitempty"`
}

// String returns the contrast as in a file: "small against large".
func (c Contrast) String() string { return c.Configuration + " against " + c.Against }

// An Outcome says how a run ended.
type Outcome string

const (
	Done       Outcome = "done"
	NeverReady Outcome = "never ready"
	Died       Outcome = "died" // the service ended before the load did
	NoAnswer   Outcome = "no answer"
	Leaked     Outcome = "leaked" // measured, but the service left processes behind or did not end
	Failed     Outcome = "failed" // the lab could not do its part; Error says why
)

// ServiceFailed reports whether the service did not serve in the run: it was never ready, died, or gave no response.
func (r *Run) ServiceFailed() bool {
	return r.Outcome == NeverReady || r.Outcome == Died || r.Outcome == NoAnswer
}

// A Run is one start of the service, or one period of load if the service already runs.
type Run struct {
	Number        int       `json:"number"` // from 1, in the order in which they ran
	Configuration string    `json:"configuration"`
	Repeat        int       `json:"repeat"` // from 1
	Started       time.Time `json:"started"`
	Seconds       float64   `json:"seconds"` // from the start of the service until everything had stopped

	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
	Exit    string  `json:"exit,omitempty"` // how the service ended: "exit status 0", "signal: killed"

	// LastOutput is the end of the service's stdout and stderr. It is kept
	// for every outcome except Done, and if Exit is neither success nor
	// SIGTERM.
	LastOutput string `json:"last_output,omitempty"`

	// ReadyAfter is the time until the service was ready, in seconds. It is 0 if the service already ran.
	ReadyAfter float64 `json:"ready_after"`

	// WarmUp describes the load before the measured one. It is nil without any.
	WarmUp *WarmUp `json:"warm_up,omitempty"`

	// Load is the result of the load generator, or nil if it did not run.
	Load *load.Result `json:"load,omitempty"`

	// Usage is the resource usage of the service during the load, without
	// the warm-up. Missing has the parts of it, and of Samples, that could not be measured. Their values are 0.
	Usage   Usage     `json:"usage"`
	Missing []Missing `json:"missing,omitempty"`

	// Output counts the service's stdout and stderr together.
	Output Output `json:"output"`

	// Go has statistics of the Go runtime, or nil if they are not known.
	Go *GoUsage `json:"go,omitempty"`

	// Own are measures that the service wrote to the file that
	// WEIR_LAB_MEASURES names.
	Own []Measure `json:"own,omitempty"`

	// Samples are in the run's own file and not in results.json.
	Samples []Sample `json:"samples,omitempty"`

	// Profiles are files below the results' folder. Only runs in Profiled
	// have them.
	Profiles []Profile `json:"profiles,omitempty"`

	// LabCPU is the share of one CPU that the lab used during the load.
	LabCPU float64 `json:"lab_cpu"`

	Warnings []string `json:"warnings,omitempty"`
}

// A WarmUp is the load that a service gets before it is measured.
type WarmUp struct {
	Seconds float64 `json:"seconds"` // with the time by which it was extended

	// Warming is set if the service still became faster at the end of the longest extension.
	Warming bool `json:"warming,omitempty"`

	// Faster is the ratio by which the service was faster in the second half of the measured load than in the first: of
	// the requests per second, or of the median latencies if the load had a pace. It is nil if it is not known, or if the
	// load changes with time.
	Faster *float64 `json:"faster,omitempty"`
}

// Usage is the resource usage of the service and its children during the load.
// The CPU of children that end before a sample sees them is known if their
// parent waits for them. Memory that processes share counts for each of them.
type Usage struct {
	Seconds           float64 `json:"seconds"` // length of the measurement
	CPUSeconds        float64 `json:"cpu_seconds"`
	UserSeconds       float64 `json:"user_seconds"`
	SystemSeconds     float64 `json:"system_seconds"`
	PeakRSS           int64   `json:"peak_rss_bytes"`
	MeanRSS           int64   `json:"mean_rss_bytes"` // of the samples
	PeakThreads       int     `json:"peak_threads"`
	PeakFiles         int     `json:"peak_open_files"`
	FileLimit         int64   `json:"open_file_limit"` // 0 if it is not known
	VoluntarySwitches int64   `json:"voluntary_switches"`
	ForcedSwitches    int64   `json:"forced_switches"`
	Instructions      float64 `json:"instructions,omitempty"` // in user mode; 0 if they were not counted
}

// Output counts the lines and bytes that a service wrote.
type Output struct {
	Bytes int64 `json:"bytes"` // received by the reader, or written to the file
	Lines int64 `json:"lines"`

	// BytesPerSecond is the rate during the load.
	BytesPerSecond float64 `json:"bytes_per_second"`

	// MostBehind is the largest number of bytes seen waiting in a pipe or
	// terminal for their reader.
	MostBehind int64 `json:"most_behind_bytes"`

	// After is the time between the last response and the last output, in
	// seconds.
	After float64 `json:"after_seconds"`

	// Expected is the number of lines that the service should have written:
	// the measure [LinesEmitted] if the service writes it, otherwise
	// lines_per_request of the experiment times the answered requests. Lost
	// is the number of missing lines. Both are 0 if neither is known, or if
	// stdout is null.
	Expected int64 `json:"expected_lines,omitempty"`
	Lost     int64 `json:"lost_lines,omitempty"`
}

// LinesEmitted is the name of the measure with which a service reports the
// number of lines it meant to write to stdout and stderr since it began. If
// requests are abandoned or wait for their log, the number of responses is not
// enough.
const LinesEmitted = "log lines emitted"

// GoUsage is the work of the Go runtime of a service during the load.
type GoUsage struct {
	GCs            int64   `json:"gcs"`
	PauseSeconds   float64 `json:"gc_pause_seconds"`     // sum
	PauseMax       float64 `json:"gc_pause_max_seconds"` // 0 if it is not known
	PeakHeap       int64   `json:"peak_heap_bytes"`      // in use
	Allocated      int64   `json:"allocated_bytes"`
	Allocations    int64   `json:"allocations"`
	PeakGoroutines int     `json:"peak_goroutines"`
}

// A Measure is a number about a run.
type Measure struct {
	Name   string  `json:"name"` // "log call p99"
	Unit   string  `json:"unit"` // "us", "bytes", "/s", "" for a count
	Value  float64 `json:"value"`
	Better Better  `json:"better,omitempty"`
}

// A Better says in which direction a measure improves. The zero value means
// lower.
type Better string

const (
	Lower   Better = ""
	Higher  Better = "higher"
	Neither Better = "neither" // shown, but not judged
)

// A Sample is the state of a service at a moment. Rates are since the sample
// before.
type Sample struct {
	At       float64 `json:"at"`   // in seconds since the load began; negative during the warm-up
	User     float64 `json:"user"` // CPUs in user mode: 1.5 is one and a half
	System   float64 `json:"system"`
	RSS      int64   `json:"rss"`
	Threads  int     `json:"threads"`
	Files    int     `json:"files"`
	Switches int64   `json:"switches"` // voluntary and involuntary, per second
	Output   int64   `json:"output"`   // bytes per second
	Behind   int64   `json:"behind"`   // bytes that wait for their reader

	// Of a Go service. It is polled less often than samples are taken, and
	// the values are repeated in between.
	Heap       int64   `json:"heap,omitempty"`
	Goroutines int     `json:"goroutines,omitempty"`
	GCs        int64   `json:"gcs,omitempty"`   // since the load began
	Pause      float64 `json:"pause,omitempty"` // garbage collection pauses since the load began, in seconds
}

// A Profile is a file with a profile of a service.
type Profile struct {
	Kind string `json:"kind"` // "cpu" or "alloc_space"
	File string `json:"file"` // below the results' folder, in the format of pprof
}
