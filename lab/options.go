package lab

import "time"

// Options say where and how an experiment is run.
type Options struct {
	// Dir is where results are kept: runs/NNN.json as each run ends, results.json
	// and profiles/ in the end. It is made, and refused when it has other results,
	// unless Resume goes on with them: they have to be of the same experiment,
	// machine and Version.
	Dir    string
	Resume bool

	// Version is that of the program, for the results. Weir and Repo are what
	// ${weir} and ${repo} stand for.
	Version, Weir, Repo string

	// Progress, if not nil, is called by one goroutine whenever something has
	// changed, and every second while something is built or a run is made.
	Progress func(Progress)
}

// Progress is how far an experiment has come.
type Progress struct {
	Step          Step
	Run, Of       int // the run that is made, from 1, and how many there are in all
	Configuration string
	Repeat        int
	Elapsed       time.Duration // since the experiment began
	Left          time.Duration // by the runs so far; 0 while it is not known
	Last          *Run          // the run that has just ended, on Step Ended; only to be read
	Line          string        // a line of a build's output, on Step Building
}

// A Step is what is being done.
type Step string

const (
	Building  Step = "building"
	Starting  Step = "starting"
	Warming   Step = "warming up"
	Loading   Step = "loading"
	Stopping  Step = "stopping"
	Ended     Step = "ended"
	Profiling Step = "profiling"
)
