package lab

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

const (
	// mostSamples are kept of a run: 20 minutes at 50 ms. When there are more,
	// every two become one and half as many are taken from then on.
	mostSamples = 24_000

	// Who has joined the family and how often threads were switched is asked
	// this seldom, since the one lists all processes of the machine and the other
	// asks each thread; and as much more seldom as keeps each below a share of one
	// CPU.
	lookEvery   = 100 * time.Millisecond
	switchEvery = 500 * time.Millisecond
	seldomShare = 0.002
)

// A sampler turns what processes have used into samples and their usage. It is
// for one goroutine, which keeps its thread (runtime.LockOSThread) while it takes
// a sample.
type sampler struct {
	process *process.Process
	every   time.Duration
	output  func() (bytes, behind int64) // nil when there is none
	golang  func() *goState              // the last one, or nil; nil when nobody is asked

	started  time.Time // the times of samples count from here until relative
	samples  []Sample
	last     reading
	before   goState // when the load began
	split    cpuSplit
	switches switchRate
	looked   time.Time // when new members of the family were looked for last
	search   time.Time // when to look for them again
	late     lateTime
	thinned  bool
	gone     error // why there are no more samples, once that is so

	load  loadUsage
	limit int64 // of open files
}

// A reading is what counters said at a moment.
type reading struct {
	at time.Time
	process.Sample
	output, behind int64
}

// newSampler owns nothing: who has opened the process closes it.
func newSampler(p *process.Process, every time.Duration, output func() (bytes, behind int64)) *sampler {
	s := &sampler{process: p, every: every, output: output, started: time.Now()}
	s.limit, _ = p.FileLimit() // 0 is not known
	return s
}

// take takes a sample.
func (s *sampler) take(now time.Time) {
	r, ok := s.read(now, false)
	if !ok {
		return
	}
	s.keep(r)
	s.load.add(r.Sample)
	s.last = r
}

// mark takes the sample that the load's usage begins or ends with, exact in
// all that is asked seldom, too.
func (s *sampler) mark(begins bool) {
	now := time.Now()
	r, ok := s.read(now, true)
	if !ok {
		r = s.last // of one that has ended, the last that is known
	} else if now.Sub(s.last.at) >= s.every/2 { // rates over less say little
		s.keep(r)
	}
	s.last = r
	if !begins {
		s.load.end(r, s.switches.total)
		return
	}
	s.load.begin(r, s.switches.total)
	if g := s.goNow(); g != nil {
		s.before = *g
	}
}

// read reads all counters. What is asked for seldom is asked when it is due,
// or when all is wanted.
func (s *sampler) read(now time.Time, all bool) (r reading, ok bool) {
	r.at = now
	if s.output != nil {
		r.output, r.behind = s.output()
	}
	if s.gone == nil {
		r.Sample, s.gone = s.family(all)
	}
	if s.gone != nil {
		return r, false
	}
	s.switches.ask(s.process, all)
	return r, true
}

// family samples the process with all that descend from it.
func (s *sampler) family(search bool) (process.Sample, error) {
	now := time.Now()
	if !search && now.Before(s.search) {
		sample, err := s.process.SampleFamily()
		s.late.add(sample.Late, s.looked)
		return sample, err
	}
	before := machine.ThreadCPU()
	sample, err := s.process.SampleTree()
	s.late.add(sample.Late, s.looked)
	s.looked, s.search = now, notBefore(now, machine.ThreadCPU()-before, lookEvery)
	return sample, err
}

// notBefore returns when to do again what was begun at a time and has cost so
// much, which need not be sooner than a period later.
func notBefore(began time.Time, cost, period time.Duration) time.Time {
	return began.Add(max(period, time.Duration(float64(cost)/seldomShare)))
}

// keep makes a sample of what changed since the last reading.
func (s *sampler) keep(r reading) {
	if s.last.at.IsZero() {
		s.split.add(r.User, r.System)
		s.late = lateTime{}
		return // there is nothing that it changed from
	}
	seconds := r.at.Sub(s.last.at).Seconds()
	if seconds <= 0 {
		return
	}
	s.split.add(r.User, r.System)
	cpu := max(0, (r.CPU-s.last.CPU-r.Late).Seconds()/seconds)
	sample := Sample{
		At:       r.at.Sub(s.started).Seconds(),
		User:     cpu * s.split.user,
		System:   cpu * (1 - s.split.user),
		RSS:      r.RSS,
		Threads:  r.Threads,
		Files:    max(0, r.Files),
		Switches: s.switches.perSecond,
		Output:   max(0, int64(float64(r.output-s.last.output)/seconds)),
		Behind:   r.behind,
	}
	if g := s.goNow(); g != nil {
		sample.Heap, sample.Goroutines = g.heap, g.goroutines
		if s.load.begun() {
			sample.GCs, sample.Pause = max(0, g.gcs-s.before.gcs), max(0, g.pause-s.before.pause).Seconds()
		}
	}
	s.samples = append(s.samples, sample)
	s.late.spread(s.samples, s.started, s.split.user)
	s.late = lateTime{}
	if len(s.samples) >= mostSamples {
		s.thin()
	}
}

func (s *sampler) goNow() *goState {
	if s.golang == nil {
		return nil
	}
	return s.golang()
}

// thin makes one sample of two, and has half as many taken from now on. A rate
// becomes the mean, for two periods were as long as each other, and what was
// there the most.
func (s *sampler) thin() {
	half := s.samples[:0]
	for i := 1; i < len(s.samples); i += 2 {
		a, b := s.samples[i-1], s.samples[i]
		b.User, b.System = (a.User+b.User)/2, (a.System+b.System)/2
		b.Switches, b.Output = (a.Switches+b.Switches)/2, (a.Output+b.Output)/2
		b.RSS, b.Behind, b.Heap = max(a.RSS, b.RSS), max(a.Behind, b.Behind), max(a.Heap, b.Heap)
		b.Threads, b.Files, b.Goroutines = max(a.Threads, b.Threads), max(a.Files, b.Files), max(a.Goroutines, b.Goroutines)
		half = append(half, b)
	}
	s.samples, s.thinned = half, true
	s.every *= 2
}

// relative returns the samples with times since the load began, or before the
// end when it never did. There is no use of the sampler after it.
func (s *sampler) relative() []Sample {
	zero := s.load.before.at
	if !s.load.begun() {
		zero = time.Now()
	}
	shift := zero.Sub(s.started).Seconds()
	for i := range s.samples {
		s.samples[i].At -= shift
	}
	return s.samples
}

// used returns what the load's usage was, which is nothing without a load.
func (s *sampler) used() Usage {
	u := s.load.usage()
	if u.Seconds > 0 {
		u.FileLimit = s.limit
	}
	return u
}

// warnings says what is less than was asked for.
func (s *sampler) warnings() (all []string) {
	if s.gone != nil && !errors.Is(s.gone, os.ErrProcessDone) {
		all = append(all, fmt.Sprintf("samples end early: %v", s.gone))
	}
	if s.thinned {
		all = append(all, fmt.Sprintf("there were more than %d samples: only one every %v is kept", mostSamples, s.every))
	}
	return all
}
