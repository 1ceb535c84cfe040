package lab

import (
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

// A watcher samples the service of one run, from when it is ready until stop.
// Its methods are for one goroutine, and in this order: begin when the load
// begins, end when it has ended, stop.
type watcher struct {
	golang *goService    // nil when the service is not asked
	meter  machine.Meter // what watching costs

	marks   chan mark
	over    chan struct{}
	stopped chan struct{}
	sampler *sampler // of the goroutine that watches, until stopped
}

// A mark is a moment that the caller knows of. It is answered when a sample of
// it has been taken.
type mark struct {
	begins   bool // the load does; else it ends
	answered chan struct{}
}

// seen is what a watcher has seen.
type seen struct {
	usage    Usage
	golang   *GoUsage // nil when the service could not be asked
	samples  []Sample
	warnings []string
}

// newWatcher begins to watch a process and all that descend from it, every so
// often. output tells how many bytes the service has written so far and how
// many of them wait for their reader; it is called by a goroutine of the
// watcher's, until stop returns, and may be nil. goURL is where a Go service
// is asked for its runtime, as Service.Go says, or "". The error wraps
// [os.ErrProcessDone] when there is no such process.
func newWatcher(pid int, every time.Duration, output func() (bytes, behind int64), goURL string) (*watcher, error) {
	p, err := process.Open(pid)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		marks:   make(chan mark),
		over:    make(chan struct{}),
		stopped: make(chan struct{}),
		sampler: newSampler(p, every, output),
	}
	if goURL != "" {
		w.golang = startGoService(goURL, &w.meter)
		w.sampler.golang = w.golang.last.Load
	}
	go w.watch()
	return w, nil
}

// begin says that the load begins now. A Go service is asked before, so that
// this is no part of the load: it has twice pollTimeout for its answer.
func (w *watcher) begin() {
	if w.golang != nil {
		send(w.golang.marks, true)
	}
	send(w.marks, true)
}

// end says that the load has ended now. A Go service is asked after.
func (w *watcher) end() {
	send(w.marks, false)
	if w.golang != nil {
		send(w.golang.marks, false)
	}
}

// stop ends the watch, and returns what was seen. Without begin there is no
// usage.
func (w *watcher) stop() seen {
	close(w.over)
	<-w.stopped
	if w.golang != nil {
		w.golang.stop()
	}
	w.sampler.process.Close()
	s := seen{usage: w.sampler.used(), samples: w.sampler.relative(), warnings: w.sampler.warnings()}
	if w.golang != nil {
		s.golang = w.golang.used()
		s.warnings = append(s.warnings, w.golang.warnings()...)
	}
	return s
}

// send returns when the mark has been answered.
func send(marks chan<- mark, begins bool) {
	m := mark{begins: begins, answered: make(chan struct{})}
	marks <- m
	<-m.answered
}

// watch takes samples until it is over.
func (w *watcher) watch() {
	defer close(w.stopped)
	s := w.sampler
	w.meter.Measure(func() { s.take(time.Now()) })
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for {
		select {
		case <-w.over:
			return
		case m := <-w.marks:
			w.meter.Measure(func() { s.mark(m.begins) })
			close(m.answered)
			ticker.Reset(s.every)
		case <-ticker.C:
			every := s.every
			w.meter.Measure(func() { s.take(time.Now()) })
			if s.every != every { // there were too many
				ticker.Reset(s.every)
			}
		}
	}
}
