package lab

import (
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/lab/results"
)

// A watcher samples the service of one run, from when it is ready until stop.
// Its methods are for one goroutine, in this order: begin when the load begins,
// end when it has ended, stop.
type watcher struct {
	golang *goService    // nil if the service is not polled
	meter  machine.Meter // cost of watching

	marks   chan mark
	over    chan struct{}
	stopped chan struct{}
	sampler *sampler // owned by the goroutine that watches, until it has stopped
}

// A mark is a moment that the caller knows. It is answered when a sample has
// been taken at it.
type mark struct {
	begins   bool // the load begins; otherwise it ends
	answered chan struct{}
}

// seen is the result of a watcher.
type seen struct {
	usage    results.Usage
	golang   *results.GoUsage // nil if the runtime is not known
	samples  []results.Sample
	warnings []string
}

// newWatcher watches a process and all its descendants and takes a sample at
// that interval. output returns the bytes that the service has written so far
// and those of them that wait for their reader. It is called by a goroutine of
// the watcher until stop returns, and may be nil. goURL is Service.Go, or "".
// The error wraps [os.ErrProcessDone] if there is no such process.
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

// begin marks the beginning of the load. It polls a Go service first, so that
// this is not part of the load. The service has twice pollTimeout for its
// answer.
func (w *watcher) begin() {
	if w.golang != nil {
		send(w.golang.marks, true)
	}
	send(w.marks, true)
}

// end marks the end of the load, and then polls a Go service.
func (w *watcher) end() {
	send(w.marks, false)
	if w.golang != nil {
		send(w.golang.marks, false)
	}
}

// stop ends the watch and returns its result. Without begin there is no usage.
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

// watch takes samples until the watch ends.
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
			if s.every != every { // the samples were thinned
				ticker.Reset(s.every)
			}
		}
	}
}
