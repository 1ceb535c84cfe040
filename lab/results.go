package lab

import (
	"time"

	"github.com/weirhq/weir/load"
)

// Results are all that an experiment has measured. Their JSON is a document
// that other programs may rely on.
type Results struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Question string `json:"question,omitempty"`

	// Lead has the names of the metrics that the question is about.
	Lead []string `json:"lead,omitempty"`

	// Source is the experiment as it ran, in YAML, so that it can be run again.
	Source string `json:"source"`

	Started time.Time    `json:"started"`
	Ended   time.Time    `json:"ended"`
	Seed    uint64       `json:"seed"`
	Version string       `json:"version"` // of the program that ran it
	Machine load.Machine `json:"machine"`

	Configurations []Configuration `json:"configurations"`
	Runs           []Run           `json:"runs"` // in the order in which they ran

	// Profiled are the runs that were made for the sake of profiles, one of each
	// configuration at most. They are not among Runs, since profiling costs.
	Profiled []Run `json:"profiled,omitempty"`

	// Interrupted tells that fewer runs were made than the experiment asks for.
	Interrupted bool `json:"interrupted,omitempty"`

	// LabCPU is the share of one CPU that the lab itself took while runs were
	// loaded: for its samples, for what it asks a Go service, and for reading
	// the service's output. What the load takes is not in it.
	LabCPU float64 `json:"lab_cpu"`
}

// A Configuration is one choice of the settings that an experiment varies.
type Configuration struct {
	// Name is short and stands for the configuration everywhere: its labels,
	// "stdout=pipe GOGC=100", or what the experiment calls it.
	Name   string  `json:"name"`
	Labels []Label `json:"labels,omitempty"`

	// Baseline tells that the others are compared with this one. Again tells
	// that it is the baseline's twin, there to show the noise.
	Baseline bool `json:"baseline,omitempty"`
	Again    bool `json:"again,omitempty"`

	// About says what the configuration really does, where its name does not.
	About string `json:"about,omitempty"`
}

// A Label is the value of a setting that is varied.
type Label struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
}

// An Outcome says how a run ended.
type Outcome string

const (
	Done       Outcome = "done"
	NeverReady Outcome = "never ready"
	Died       Outcome = "died" // the service ended before the load did
	NoAnswer   Outcome = "no answer"
	Leaked     Outcome = "leaked" // measured, but the service left processes behind or would not end
	Failed     Outcome = "failed" // the lab could not do its part; Error says why
)

// A Run is one start of the service.
type Run struct {
	Number        int       `json:"number"` // from 1, in the order in which they ran
	Configuration string    `json:"configuration"`
	Repeat        int       `json:"repeat"` // from 1
	Started       time.Time `json:"started"`
	Seconds       float64   `json:"seconds"` // from the start of the service until all was stopped

	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
	Exit    string  `json:"exit,omitempty"` // how the service ended: "exit status 0", "signal: killed"

	// LastOutput is the end of what the service wrote to stdout and stderr, kept
	// for every outcome but Done, and when Exit is neither success nor SIGTERM.
	LastOutput string `json:"last_output,omitempty"`

	// ReadyAfter is how long the service took to be ready, in seconds.
	ReadyAfter float64 `json:"ready_after"`

	// Load is what the load generator says, nil when it did not run.
	Load *load.Result `json:"load,omitempty"`

	// Usage is what the service used while it was loaded, warm-up left out.
	Usage Usage `json:"usage"`

	// Output is what became of the service's stdout and stderr together.
	Output Output `json:"output"`

	// Go is what a Go service says of its runtime; nil when it could not be asked.
	Go *GoUsage `json:"go,omitempty"`

	// Own are measures that the service itself wrote to the file that
	// WEIR_LAB_MEASURES names.
	Own []Measure `json:"own,omitempty"`

	// Samples are in the run's own file and not in results.json.
	Samples []Sample `json:"samples,omitempty"`

	// Profiles are files below the results' folder, of a run among Profiled.
	Profiles []Profile `json:"profiles,omitempty"`

	// LabCPU is the share of one CPU that the lab took while the load ran.
	LabCPU float64 `json:"lab_cpu"`

	Warnings []string `json:"warnings,omitempty"`
}

// Usage is what the service and its children used while they were loaded. Of
// children that end, so fast that no sample has them, CPU is known if their
// parent waits for them. Memory that processes share counts for each of them.
type Usage struct {
	Seconds           float64 `json:"seconds"` // how long that was
	CPUSeconds        float64 `json:"cpu_seconds"`
	UserSeconds       float64 `json:"user_seconds"`
	SystemSeconds     float64 `json:"system_seconds"`
	PeakRSS           int64   `json:"peak_rss_bytes"`
	MeanRSS           int64   `json:"mean_rss_bytes"` // of the samples
	PeakThreads       int     `json:"peak_threads"`
	PeakFiles         int     `json:"peak_open_files"`
	FileLimit         int64   `json:"open_file_limit"` // 0 when it is not known
	VoluntarySwitches int64   `json:"voluntary_switches"`
	ForcedSwitches    int64   `json:"forced_switches"`
}

// Output is what a service wrote and who took it.
type Output struct {
	Bytes int64 `json:"bytes"` // that its reader has got, or that are in its file
	Lines int64 `json:"lines"`

	// BytesPerSecond is what came while the service was loaded.
	BytesPerSecond float64 `json:"bytes_per_second"`

	// MostBehind is the most that was seen waiting in a pipe or terminal for its
	// reader, in bytes.
	MostBehind int64 `json:"most_behind_bytes"`

	// After is how long output still came after the last answer, in seconds.
	After float64 `json:"after_seconds"`

	// Expected is how many lines the service should have written: as many as it
	// says itself by the measure [LinesEmitted], else those of the answered
	// requests by the experiment's lines_per_request. Lost is how many of them are
	// missing. Both are 0 when neither says, or stdout is null.
	Expected int64 `json:"expected_lines,omitempty"`
	Lost     int64 `json:"lost_lines,omitempty"`
}

// LinesEmitted is the name of the measure by which a service says how many lines
// it has meant to write to stdout and stderr since it began. Where requests are
// abandoned or wait for their log, the answers do not tell.
const LinesEmitted = "log lines emitted"

// GoUsage is what a Go service's runtime did while it was loaded.
type GoUsage struct {
	GCs            int64   `json:"gcs"`
	PauseSeconds   float64 `json:"gc_pause_seconds"`     // in all
	PauseMax       float64 `json:"gc_pause_max_seconds"` // 0 when it is not known
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

// A Better says which way a measure should go. The zero value says lower.
type Better string

const (
	Lower   Better = ""
	Higher  Better = "higher"
	Neither Better = "neither" // it is shown, and not judged
)

// A Sample is what a service had at a moment. Rates are those since the sample
// before.
type Sample struct {
	At       float64 `json:"at"`   // in seconds since the load began; less than 0 while warming up
	User     float64 `json:"user"` // CPUs in user mode: 1.5 is one and a half
	System   float64 `json:"system"`
	RSS      int64   `json:"rss"`
	Threads  int     `json:"threads"`
	Files    int     `json:"files"`
	Switches int64   `json:"switches"` // voluntary and forced, per second
	Output   int64   `json:"output"`   // bytes per second
	Behind   int64   `json:"behind"`   // bytes that wait for their reader

	// Of a Go service that can be asked; it is asked less often than samples
	// are taken, and the values stay until it is asked again.
	Heap       int64   `json:"heap,omitempty"`
	Goroutines int     `json:"goroutines,omitempty"`
	GCs        int64   `json:"gcs,omitempty"`   // since the load began
	Pause      float64 `json:"pause,omitempty"` // of the collector in all since the load began, in seconds
}

// A Profile is one that was taken of a service.
type Profile struct {
	Kind string `json:"kind"` // "cpu" or "alloc_space"
	File string `json:"file"` // below the results' folder, as pprof reads it
}
