package lab

import (
	"time"

	"github.com/weirhq/weir/load/settings"
)

// An Experiment is a service, a load, and what is varied about them. It comes
// from a file: see [Parse].
type Experiment struct {
	// Name is what the experiment is called by, Title its headline, and Question
	// what it answers, in a sentence or two.
	Name, Title, Question string

	// Folder is where the experiment's file is: relative names in it are below.
	Folder string

	// Build has commands that are run once, in order, before the first run.
	Build []Command

	Service Service

	// Load is sent after WarmUp of the same load, whose answers do not count. Its
	// URL may be a path below the service's; without one it is the service's.
	Load   settings.Settings
	WarmUp time.Duration // 0 is none

	// Matrix has the settings of the service and the load that are varied. Its
	// product, less Exclude and with Include, is the configurations; with Include
	// alone there are no others.
	Matrix  []Dimension
	Exclude []map[string]string // labels by setting; all of one have to fit
	Include []Addition

	// Baseline has labels of the configuration that the others are compared with,
	// by setting, or its name by "name". Of several that fit it is the first, as
	// it is without labels.
	Baseline map[string]string

	// Lead has the names of the metrics that the question is about, the most
	// important first: of [Metrics], or of the service's own measures. With none
	// they are what such a load is mostly about.
	Lead []string

	Repeats int           // of each configuration; 0 is 10
	Sample  time.Duration // how often a service is sampled; 0 is 50 ms
	Seed    uint64        // of the order of the runs

	// Profiles has the kinds of profile, cpu and alloc_space, that are taken of
	// a Go service in a run of each configuration that is made for them alone
	// after the others, since profiling costs.
	Profiles []string

	// Quick has the settings that differ when the experiment is to be short: see
	// [Experiment.Shorten].
	Quick []Setting
}

// A Command is a program and its arguments.
type Command []string

// A Service is what is measured.
type Service struct {
	// Command starts the service in Dir, with Env added to the lab's own
	// environment. In all texts of the service and the load may stand
	//
	//	${port}  a free port of this machine, another one for each run
	//	${dir}   a folder of the run's own, which is removed after it
	//	${weir}  the program that runs the lab
	//	${repo}  the folder of Weir's sources that the lab was started in
	//	${build} a folder of the experiment's own for what Build makes
	//	$$       a dollar, as any other dollar is
	//
	// Commands of Build have the last three alone.
	//
	// Args come after Command; they are apart so that a matrix may vary them.
	Command Command
	Args    []string
	Dir     string
	Env     map[string]string

	// URL is where the service is. Without it, the lab takes the first port on
	// which the service or a child of it listens.
	URL string

	// Ready is a path, or a URL, that answers with less than 500 when the
	// service is ready; without it, accepting a connection is enough.
	Ready       string
	ReadyWithin time.Duration // 0 is 30 s

	// StopWithin is how long the service may take after SIGTERM; 0 is 10 s.
	StopWithin time.Duration

	Limits Limits

	// Output is where stdout and stderr go. Stderr, if set, goes elsewhere.
	Output, Stderr Sink

	// LinesPerRequest is how many lines the service should write for each
	// answered request, for counting those that are lost. 0 does not count.
	LinesPerRequest float64

	// Go is the URL, or the path below URL, at which a Go service serves
	// /debug/pprof, /debug/vars or /metrics: "http://127.0.0.1:6060".
	Go string
}

// Limits bound the service and its children. A zero sets no limit.
type Limits struct {
	Files  int   // open files of each process (RLIMIT_NOFILE)
	Memory int64 // bytes, of all together, by a control group of its own
	CPUs   int   // which they may run on, by their affinity
}

// A Sink is who takes what a service writes. The zero Sink is /dev/null.
type Sink struct {
	Kind SinkKind

	// PerSecond bounds how many bytes a pipe's reader takes; 0 is no bound.
	PerSecond int64

	// The reader of a pipe stops reading for StopFor at StopAt after the load
	// began. A zero StopFor reads on.
	StopAt, StopFor time.Duration
}

// A SinkKind is what a service's output is connected to.
type SinkKind string

const (
	Null     SinkKind = "null"     // /dev/null
	File     SinkKind = "file"     // a file in the run's folder
	Pipe     SinkKind = "pipe"     // a pipe that the lab reads and counts
	Terminal SinkKind = "terminal" // a pseudo-terminal of 80 columns that the lab reads
)

// A Dimension is a setting that is varied.
type Dimension struct {
	Setting string // its path in the file: "service.output", "load.connections", "service.env.GOGC"
	Values  []Choice
}

// A Choice is a value of a dimension. A file lists values, each its own label,
// or maps labels to values, or to {value: ..., about: ...}. The label is unique
// in the dimension.
type Choice struct {
	Label string
	Value any // as YAML has it; of service.env it is added to the variables there are
	About string
}

// An Addition is a configuration beside those of the matrix: the experiment's
// own service and load with some settings.
type Addition struct {
	Name, About string
	Settings    []Setting
}

// A Setting is one that is set: "load.duration" to "3s".
type Setting struct {
	Path  string
	Value any // as YAML has it: nil, a text, []any, yaml.MapSlice or what fmt.Sprint writes
}
