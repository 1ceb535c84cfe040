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
	// maxSamples are kept of a run: 20 minutes at 50 ms. When there are more,
	// every two become one and half as many are taken from then on.
	maxSamples = 24_000

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
	s.switches.update(s.process, all)
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
	if len(s.samples) >= maxSamples {
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
		all = append(all, fmt.Sprintf("there were more than %d samples: only one every %v is kept", maxSamples, s.every))
	}
	return all
}

// A loadUsage adds up what was used between the load's beginning and its end.
type loadUsage struct {
	before, after            reading
	beforeSwitch, lastSwitch process.Switches
	sum                      Usage // its peaks
	rss                      float64
	samples                  int
}

func (l *loadUsage) begun() bool   { return !l.before.at.IsZero() }
func (l *loadUsage) loading() bool { return l.begun() && l.after.at.IsZero() }

func (l *loadUsage) begin(r reading, switched process.Switches) {
	l.before, l.beforeSwitch = r, switched
	l.add(r.Sample)
}

func (l *loadUsage) end(r reading, switched process.Switches) {
	l.add(r.Sample)
	l.after, l.lastSwitch = r, switched
	// The kernel's own peak is above every sample, but it counts from the
	// process's start, and of several processes their peaks were not at once.
	if r.Processes == 1 && r.PeakRSS > l.before.PeakRSS {
		l.sum.PeakRSS = max(l.sum.PeakRSS, r.PeakRSS)
	}
}

// add counts a sample, if the load is on.
func (l *loadUsage) add(s process.Sample) {
	if !l.loading() {
		return
	}
	l.rss += float64(s.RSS)
	l.samples++
	l.sum.PeakRSS = max(l.sum.PeakRSS, s.RSS)
	l.sum.PeakThreads = max(l.sum.PeakThreads, s.Threads)
	l.sum.PeakFiles = max(l.sum.PeakFiles, s.Files)
}

// usage is nothing as long as the load has not ended.
func (l *loadUsage) usage() Usage {
	if !l.begun() || l.loading() {
		return Usage{}
	}
	u := l.sum
	u.Seconds = l.after.at.Sub(l.before.at).Seconds()
	u.CPUSeconds = max(0, (l.after.CPU - l.before.CPU).Seconds())
	// The kernel knows the sum to the nanosecond and its parts to a hundredth of
	// a second.
	u.UserSeconds = u.CPUSeconds * userShare(l.after.User-l.before.User, l.after.System-l.before.System)
	u.SystemSeconds = u.CPUSeconds - u.UserSeconds
	u.MeanRSS = int64(l.rss / float64(l.samples))
	u.VoluntarySwitches = l.lastSwitch.Voluntary - l.beforeSwitch.Voluntary
	u.ForcedSwitches = l.lastSwitch.Forced - l.beforeSwitch.Forced
	return u
}

// userShare is half when it is not known.
func userShare(user, system time.Duration) float64 {
	if user < 0 || system < 0 || user+system == 0 {
		return 0.5
	}
	return float64(user) / float64(user+system)
}

// A cpuSplit knows which share of recent CPU time was in user mode. A sample's
// own share would jump, for the kernel counts it in hundredths of a second.
type cpuSplit struct {
	user        float64
	known       bool
	sinceUser   time.Duration
	sinceSystem time.Duration
}

// enough CPU time makes a new share.
const enough = 100 * time.Millisecond

func (c *cpuSplit) add(user, system time.Duration) {
	u, s := user-c.sinceUser, system-c.sinceSystem
	if u < 0 || s < 0 || u+s >= enough || !c.known {
		c.user, c.known = userShare(u, s), true
		c.sinceUser, c.sinceSystem = user, system
	}
}

// A lateTime is CPU time that was used since a moment and came to light later:
// that of processes which were found after they had begun.
type lateTime struct {
	cpu  time.Duration
	from time.Time
}

func (l *lateTime) add(cpu time.Duration, from time.Time) {
	if l.cpu == 0 {
		l.from = from
	}
	l.cpu += cpu
}

// spread adds the time to the samples since it was used, evenly. In the last one
// alone it could be more than the machine has CPUs.
func (l lateTime) spread(samples []Sample, started time.Time, user float64) {
	if l.cpu <= 0 {
		return
	}
	begin, first := l.from.Sub(started).Seconds(), len(samples)-1
	for first > 0 && samples[first-1].At > begin {
		first--
	}
	if first > 0 {
		begin = samples[first-1].At
	}
	seconds := samples[len(samples)-1].At - begin
	if seconds <= 0 {
		return
	}
	for i := range samples[first:] {
		s := &samples[first+i]
		s.User += l.cpu.Seconds() / seconds * user
		s.System += l.cpu.Seconds() / seconds * (1 - user)
	}
}

// A switchRate knows how often the service's threads were switched.
type switchRate struct {
	total     process.Switches // so far
	perSecond int64            // of late

	at  time.Time // of total
	due time.Time
}

// ask asks when it is due, or now.
func (r *switchRate) update(p *process.Process, now bool) {
	began := time.Now()
	if !now && began.Before(r.due) {
		return
	}
	before := machine.ThreadCPU()
	s, err := p.Switches()
	r.due = notBefore(began, machine.ThreadCPU()-before, switchEvery)
	if err != nil {
		return // the next sample says that the process is gone
	}
	if seconds := began.Sub(r.at).Seconds(); !r.at.IsZero() && seconds > 0.1 {
		r.perSecond = int64(float64(s.Voluntary+s.Forced-r.total.Voluntary-r.total.Forced) / seconds)
	}
	r.total, r.at = s, began
}
