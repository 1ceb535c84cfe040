// Package watch observes a service while it is loaded: a [Watcher] samples its processes and polls the Go runtime, and
// [StartProfiles] takes profiles of a Go service. It neither starts nor loads the service.
package watch

import (
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/lab/results"
)

// A Watcher samples the service of one run, from when it is ready until Stop.
// Its methods must not be called concurrently. Their order is Begin when the load
// begins, End when it has ended, Stop.
type Watcher struct {
	golang *goService    // nil if the service is not polled
	meter  machine.Meter // cost of watching

	marks   chan mark
	asked   chan chan time.Duration // for the CPU time of the service
	over    chan struct{}
	stopped chan struct{}
	sampler *sampler // owned by the goroutine that watches, until it has stopped
}

// Seen is the result of a Watcher.
type Seen struct {
	Usage    results.Usage // zero if there was no load
	Missing  []results.Missing
	Go       *results.GoUsage // nil if the runtime is not known
	Samples  []results.Sample
	Warnings []string
}

// Options configure a Watcher.
type Options struct {
	Every time.Duration // the interval of samples; required

	// Output returns the bytes that the service has written so far and the bytes of them that wait for their reader. It is
	// called by a goroutine of the Watcher until Stop returns, and may be nil.
	Output func() (bytes, behind int64)

	GoURL        string // of a Go service's runtime, as in Service.Go of an experiment, or ""
	Instructions bool   // count them
}

// Start watches the processes of a service. The error wraps [os.ErrProcessDone] if there is no such process.
func Start(of Processes, o Options) (*Watcher, error) {
	p, err := of.open()
	if err != nil {
		return nil, err
	}
	w := &Watcher{
		marks:   make(chan mark),
		asked:   make(chan chan time.Duration),
		over:    make(chan struct{}),
		stopped: make(chan struct{}),
		sampler: newSampler(p, o.Every, o.Output),
	}
	w.sampler.counts = o.Instructions
	if o.GoURL != "" {
		w.golang = startGoService(o.GoURL, &w.meter)
		w.sampler.golang = w.golang.last.Load
	}
	go w.watch()
	return w, nil
}

// Begin marks the beginning of the load. It polls a Go service first, so that
// this is not part of the load. The service has twice pollTimeout for its
// response.
func (w *Watcher) Begin() {
	if w.golang != nil {
		send(w.golang.marks, true)
	}
	send(w.marks, true)
}

// End marks the end of the load, and then polls a Go service.
func (w *Watcher) End() {
	send(w.marks, false)
	if w.golang != nil {
		send(w.golang.marks, false)
	}
}

// Used returns the CPU time that the service has used so far.
func (w *Watcher) Used() time.Duration {
	used := make(chan time.Duration)
	w.asked <- used
	return <-used
}

// CPU returns the CPU time that watching has used so far.
func (w *Watcher) CPU() time.Duration { return w.meter.Used() }

// Stop ends the watch and returns its result. Without Begin there is no usage.
func (w *Watcher) Stop() Seen {
	close(w.over)
	<-w.stopped
	if w.golang != nil {
		w.golang.stop()
	}
	w.sampler.close()
	s := Seen{Usage: w.sampler.used(), Missing: w.sampler.missing(), Samples: w.sampler.relative(), Warnings: w.sampler.warnings()}
	if w.golang != nil {
		s.Go = w.golang.used()
		s.Warnings = append(s.Warnings, w.golang.warnings()...)
	}
	return s
}

// watch takes samples until the watch ends.
func (w *Watcher) watch() {
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
		case used := <-w.asked:
			var soFar time.Duration
			w.meter.Measure(func() { soFar = s.cpu(time.Now()) })
			used <- soFar
		case <-ticker.C:
			every := s.every
			w.meter.Measure(func() { s.take(time.Now()) })
			if s.every != every { // the samples were thinned
				ticker.Reset(s.every)
			}
		}
	}
}
