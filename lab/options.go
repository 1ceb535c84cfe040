package lab

import (
	"time"
)

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

// A reporter tells how far the experiment has come, by one goroutine: whenever
// something has changed, and every second while something is built or a run is
// made.
type reporter struct {
	tell    func(Progress)
	changes chan func(*Progress)
	over    chan struct{}

	// Of the goroutine.
	began time.Time
	now   Progress
	until time.Time // when the experiment will have ended; zero while that is not known
}

// startReporter tells nothing when tell is nil.
func startReporter(tell func(Progress)) *reporter {
	t := &reporter{tell: tell, changes: make(chan func(*Progress), 64), over: make(chan struct{}), began: time.Now()}
	go t.run()
	return t
}

// change has the others told what f changes. A Left of its own sets the time
// that counts down.
func (t *reporter) change(f func(*Progress)) { t.changes <- f }

func (t *reporter) step(s Step) { t.change(func(p *Progress) { p.Step = s }) }

// stop returns when all was told.
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
