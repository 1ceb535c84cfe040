package experiment

import (
	"time"

	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load/settings"
)

// An Experiment is a service, a load, and the settings that are varied. [Parse]
// reads it from a file.
type Experiment struct {
	// Name identifies the experiment. Title is its headline, and Question
	// the question that it answers, in a sentence or two.
	Name, Title, Question string

	// Folder is the folder of the experiment's file. Relative names in the
	// file are relative to it.
	Folder string

	// Build is run once, in order, before the first run.
	Build []Command

	Service Service

	// Load is sent after WarmUp of the same load, whose responses do not
	// count. Its URL may be a path below the service's, which is also the
	// default.
	Load   settings.Settings
	WarmUp time.Duration // 0 is none

	// Matrix has the settings of the service and the load that are varied. The
	// configurations are its product, without Exclude and with Include. Without a matrix
	// they are the configurations of Include.
	Matrix  []Dimension
	Exclude []map[string]string // labels by setting; a configuration is excluded if all of one fit
	Include []Addition

	// Baseline selects the configuration that the others are compared with:
	// by labels of settings, or its name by "name". If several fit it is
	// the first of them; without labels it is the first of all.
	Baseline map[string]string

	// Lead has the names of the leading metrics, the most important first: metrics of [results.Metrics], or the service's
	// own measures. Only their differences are tested. The default is [results.DefaultLead].
	Lead []string

	// Contrasts are the differences that are tested. Each is a setting of the matrix, whose values are compared with that
	// of the baseline while all other settings are alike, or two names of configurations: "small against large". By
	// default each configuration is compared with the baseline. In a matrix of two settings with two values each, both
	// settings are contrasts by default, and if both are, a last contrast is whether the effect of one depends on the
	// other.
	Contrasts []string

	Repeats int           // of each configuration; 0 is [DefaultRepeats]
	Sample  time.Duration // interval between samples of a service; 0 is 50 ms
	Seed    uint64        // of the order of the runs

	// Profiles has the kinds of profile, cpu and alloc_space, that are
	// taken of a Go service. Each configuration has an extra run for them
	// after the others, because profiling has a cost.
	Profiles []string

	// Quick has the settings of a short experiment: see
	// [Experiment.Shorten].
	Quick []Setting
}

// DefaultRepeats is the number of runs of each configuration if an experiment has none.
const DefaultRepeats = 10

// A Command is a program and its arguments.
type Command []string

// A Service is the program that is measured. The lab starts and stops it, unless it is [Service.Running].
type Service struct {
	// Command starts the service in Dir, with Env added to the lab's own
	// environment. All texts of the service and the load may contain
	//
	//	${port}  a free port of this machine, a different one for each run
	//	${dir}   a folder of the run, which is removed after it
	//	${weir}  the program that runs the lab
	//	${repo}  the folder of Weir's sources in which the lab was started
	//	${build} a folder of the experiment for the results of Build
	//	$$       a dollar, as is any other dollar
	//
	// Commands of Build may only contain the last three names and $$.
	//
	// Args come after Command. They are separate so that a matrix can vary
	// them.
	Command Command
	Args    []string
	Dir     string
	Env     map[string]string

	// URL is the address of the service. Without it, the lab takes the
	// first port on which the service or a child of it listens.
	URL string

	// PID and Cgroup name the processes of a service that already runs: a process with its descendants, or a control group
	// of version 2, as a folder or as a path below /sys/fs/cgroup. At most one of them is set, and Command is empty.
	PID    int
	Cgroup string

	// Ready is a path or a URL that responds with a status below 500 when
	// the service is ready. Without it, the service is ready when it
	// accepts a connection.
	Ready       string
	ReadyWithin time.Duration // 0 is 30 s

	// StopWithin is the time that the service may take after SIGTERM; 0 is
	// 10 s.
	StopWithin time.Duration

	Limits Limits

	// Output receives stdout and stderr. Stderr, if set, receives stderr
	// instead.
	Output, Stderr Sink

	// LinesPerRequest is the number of lines that the service should write
	// for each answered request. It is used to count lost lines; 0 does not
	// count them.
	LinesPerRequest float64

	// Go is the URL, or the path below URL, under which a Go service serves
	// /debug/pprof, /debug/vars or /metrics: "http://127.0.0.1:6060".
	Go string
}

// Limits bound the service and its children. A zero sets no limit.
type Limits struct {
	Files  int   // open files of each process (RLIMIT_NOFILE)
	Memory int64 // bytes, of all processes together, by a control group
	CPUs   int   // on which they may run, by CPU affinity
}

// A Sink receives the output of a service. The zero Sink is /dev/null.
type Sink struct {
	Kind SinkKind

	// PerSecond limits the bytes that the reader of a pipe takes; 0 is no
	// limit.
	PerSecond int64

	// The reader of a pipe stops reading for StopFor, starting at StopAt
	// after the load began. If StopFor is 0 it never stops.
	StopAt, StopFor time.Duration
}

// A SinkKind is the kind of file that a service's output is connected to.
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

// A Choice is a value of a dimension. A file lists values, which are their own
// labels, or maps labels to values or to {value: ..., about: ...}. The label is
// unique in the dimension.
type Choice struct {
	Label string
	Value any // as in YAML; for service.env, variables to add
	About string
}

// An Addition is a configuration outside of the matrix: the experiment's
// service and load with some settings.
type Addition struct {
	Name, About string
	Settings    []Setting
}

// A Setting has a path and a value: "load.duration" and "3s".
type Setting struct {
	Path  string
	Value any // as in YAML: nil, a text, []any, yaml.MapSlice or what fmt.Sprint writes
}

// A Case is a configuration with its service and load: as in the experiment, with the
// configuration's settings.
//
// Its texts are not expanded. [Service] describes ${port} and the other names
// in them.
type Case struct {
	results.Configuration
	Service Service
	Load    settings.Settings
}
