package lab

import (
	"time"

	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// Options configure the run of an experiment.
type Options struct {
	// Dir is the folder of the results: runs/NNN.json as each run ends,
	// results.json and profiles/ at the end. It is created. A folder with
	// other results is an error, unless Resume is set. Then the run
	// continues, if the results are of the same experiment, machine and
	// Version.
	Dir    string
	Resume bool

	// Until, if not nil, is called after each block, which has one run of each
	// configuration, and reports whether it was the last one. Then the baseline has no
	// twin, and the experiment's Repeats are the most blocks.
	Until func(block []results.Run) (last bool)

	// Duet, if not nil, is the command of a process that calls [ServeHalf] with its stdin and stdout. Then the two runs of
	// a block are made at the same time, on halves of the processors that share no core, and every second block has the
	// halves of the one before it swapped. It needs Until and an experiment with two
	// configurations. Neither a Progress nor a LoadProgress comes from within such runs.
	Duet []string

	// Version is the version of the program, for the results. Weir and Repo
	// are the values of ${weir} and ${repo}.
	Version, Weir, Repo string

	// Progress, if not nil, is called by one goroutine after every change,
	// and every second during a build or a run.
	Progress func(Progress)

	// LoadProgress, if not nil, is called each second while a run is loaded, from another
	// goroutine than Progress, and must not wait. It has the runs with profiles, too, and not
	// the warm-up.
	LoadProgress func(load.Progress)
}

// Progress is the state of an experiment that is running.
type Progress struct {
	Step          Step
	Run, Of       int // number of the current run, from 1, and of all runs
	Configuration string
	Repeat        int
	Elapsed       time.Duration // since the experiment began
	Left          time.Duration // estimated from the runs so far; 0 while it is not known
	Last          *results.Run  // the run that has just ended, on Step Ended; read-only
	Line          string        // a line of a build's output, on Step Building, or about the machine, on Step Looking
}

// A Step is the current activity.
type Step string

const (
	Building  Step = "building"
	Looking   Step = "looking at the machine"
	Starting  Step = "starting"
	Warming   Step = "warming up"
	Loading   Step = "loading"
	Stopping  Step = "stopping"
	Ended     Step = "ended"
	Profiling Step = "profiling"
)

// A reporter reports the progress of the experiment. Its goroutine calls the
// function after every change, and every second during a build or a run.
type reporter struct {
	tell    func(Progress)
	changes chan func(*Progress)
	over    chan struct{}

	// Owned by the goroutine.
	began time.Time
	now   Progress
	until time.Time // estimated end of the experiment; zero while it is not known
}

// startReporter returns a reporter that does nothing if tell is nil.
func startReporter(tell func(Progress)) *reporter {
	t := &reporter{tell: tell, changes: make(chan func(*Progress), 64), over: make(chan struct{}), began: time.Now()}
	go t.run()
	return t
}

// change changes the progress. If f sets Left, the countdown starts again from
// it.
func (t *reporter) change(f func(*Progress)) { t.changes <- f }

func (t *reporter) step(s Step) { t.change(func(p *Progress) { p.Step = s }) }

// stop returns when the last change has been reported.
func (t *reporter) stop() {
	close(t.changes)
	<-t.over
}

func (t *reporter) run() {
	defer close(t.over)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case change, ok := <-t.changes:
			if !ok {
				return
			}
			t.apply(change)
		case <-ticker.C:
			if t.now.Step != "" && t.now.Step != Ended {
				t.say()
			}
		}
	}
}

func (t *reporter) apply(change func(*Progress)) {
	t.now.Left = 0
	change(&t.now)
	if t.now.Left > 0 {
		t.until = time.Now().Add(t.now.Left)
	}
	t.say()
	t.now.Last, t.now.Line = nil, ""
}

func (t *reporter) say() {
	t.now.Elapsed = time.Since(t.began)
	t.now.Left = 0
	if !t.until.IsZero() {
		t.now.Left = max(0, time.Until(t.until))
	}
	if t.tell != nil {
		t.tell(t.now)
	}
}
