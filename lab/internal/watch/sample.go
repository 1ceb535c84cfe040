package watch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/lab/internal/perf"
	"github.com/weirhq/weir/lab/results"
)

const (
	// maxSamples is the number of samples that are kept of a run: 20
	// minutes at 50 ms. If there are more, every two are merged, and from
	// then on half as many are taken.
	maxSamples = 24_000

	// Finding new members of the process tree lists all processes of the
	// machine, and counting context switches reads a file per thread. So
	// both are done less often than samples are taken, and less often still
	// if one of them would use more than seldomShare of one CPU.
	lookEvery   = 100 * time.Millisecond
	switchEvery = 500 * time.Millisecond
	seldomShare = 0.002
)

// A sampler turns counters of processes into samples and their usage. It is not
// safe for concurrent use. Its goroutine must keep its thread
// (runtime.LockOSThread) while it takes a sample.
type sampler struct {
	source source
	every  time.Duration
	output func() (bytes, behind int64) // nil if there is none
	golang func() *goState              // returns the last state, or nil; is nil if the service is not polled

	started  time.Time // origin of the samples' times until relative
	samples  []results.Sample
	last     reading
	kept     reading // the end of the last sample
	before   goState // when the load began
	split    cpuSplit
	switches switchRate
	looked   time.Time // when new processes of the tree were last looked for
	search   time.Time // when to look for them again
	late     lateTime
	thinned  bool
	gone     error // the reason why there are no more samples

	counts    bool          // of instructions, during the load
	counter   *perf.Counter // nil before the load
	counted   float64
	uncounted error // why the instructions were not counted

	load     loadUsage
	limit    int64 // of open files
	unlisted bool  // the open files of a process could not be counted
}

// A reading is the values of all counters at a moment.
type reading struct {
	at time.Time
	process.Sample
	output, behind int64
}

// newSampler does not take ownership of the source: the caller closes it.
func newSampler(of source, every time.Duration, output func() (bytes, behind int64)) *sampler {
	s := &sampler{source: of, every: every, output: output, started: time.Now()}
	s.limit, _ = of.FileLimit() // 0 if it is not known
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

// cpu returns the CPU time that the service has used so far, and takes no sample.
func (s *sampler) cpu(now time.Time) time.Duration {
	if r, ok := s.read(now, false); ok {
		s.last = r
	}
	return s.last.CPU
}

// mark takes the sample with which the load's usage begins or ends. It reads
// all counters, also those that are otherwise read seldom.
func (s *sampler) mark(begins bool) {
	now := time.Now()
	r, ok := s.read(now, true)
	s.count(begins)
	if !ok {
		r = s.last // the process has ended: its last known values
	} else {
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

// count begins or ends to count instructions, if they are to be counted.
func (s *sampler) count(begins bool) {
	switch {
	case !s.counts:
	case begins:
		s.counter, s.uncounted = perf.Instructions.Count(s.source.PIDs())
	case s.counter != nil:
		s.counted, s.uncounted = s.counter.Value()
	}
}

// close closes the source and the counter.
func (s *sampler) close() {
	s.source.Close()
	if s.counter != nil {
		s.counter.Close()
	}
}

// read reads all counters. Those that are read seldom are only read when they
// are due, or with all.
func (s *sampler) read(now time.Time, all bool) (r reading, ok bool) {
	r.at = now
	if s.output != nil {
		r.output, r.behind = s.output()
	}
	if s.gone == nil {
		r.Sample, s.gone = s.tree(all)
	}
	if s.gone != nil {
		return r, false
	}
	s.unlisted = s.unlisted || r.Files < 0
	s.switches.update(s.source, all)
	return r, true
}

// tree samples all processes.
func (s *sampler) tree(search bool) (process.Sample, error) {
	now := time.Now()
	if !search && now.Before(s.search) {
		sample, err := s.source.SampleKnown()
		s.late.add(sample.Late, s.looked)
		return sample, err
	}
	before := machine.ThreadCPU()
	sample, err := s.source.SampleTree()
	s.late.add(sample.Late, s.looked)
	s.looked, s.search = now, notBefore(now, machine.ThreadCPU()-before, lookEvery)
	return sample, err
}

// notBefore returns the earliest time to repeat a task that began at a time and
// had that cost. It is at least a period later.
func notBefore(began time.Time, cost, period time.Duration) time.Time {
	return began.Add(max(period, time.Duration(float64(cost)/seldomShare)))
}

// keep appends a sample of the changes since the last sample. If that is too recent, because a mark is close to a tick,
// rates would be too inexact, and the changes become part of the next sample.
func (s *sampler) keep(r reading) {
	if s.kept.at.IsZero() {
		s.split.add(r.User, r.System)
		s.late, s.kept = lateTime{}, r
		return // the first reading
	}
	took := r.at.Sub(s.kept.at)
	if took < s.every/2 {
		return
	}
	seconds := took.Seconds()
	s.split.add(r.User, r.System)
	cpu := max(0, (r.CPU-s.kept.CPU-s.late.cpu).Seconds()/seconds)
	sample := results.Sample{
		At:       r.at.Sub(s.started).Seconds(),
		User:     cpu * s.split.user,
		System:   cpu * (1 - s.split.user),
		RSS:      r.RSS,
		Threads:  r.Threads,
		Files:    max(0, r.Files),
		Switches: s.switches.perSecond,
		Output:   max(0, int64(float64(r.output-s.kept.output)/seconds)),
		Behind:   r.behind,
	}
	if g := s.goNow(); g != nil {
		sample.Heap, sample.Goroutines = g.heap, g.goroutines
		if s.load.begun() {
			sample.GCs, sample.Pause = max(0, g.gcs-s.before.gcs), max(0, g.pause-s.before.pause).Seconds()
		}
	}
	s.kept = r
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

// thin merges every two samples, and halves the rate of sampling. Rates become
// the mean, because both periods have the same length, except beside the marks.
// Levels become the maximum.
func (s *sampler) thin() {
	half := s.samples[:0]
	for i := 1; i < len(s.samples); i += 2 {
		a, b := s.samples[i-1], s.samples[i]
		b.User, b.System = (a.User+b.User)/2, (a.System+b.System)/2
		b.Switches, b.Output = (a.Switches+b.Switches)/2, (a.Output+b.Output)/2
		b.RSS, b.Behind, b.Heap = max(a.RSS, b.RSS), max(a.Behind, b.Behind), max(a.Heap, b.Heap)
		b.Threads, b.Files, b.Goroutines = max(a.Threads, b.Threads), max(a.Files, b.Files),
			max(a.Goroutines, b.Goroutines)
		half = append(half, b)
	}
	s.samples, s.thinned = half, true
	s.every *= 2
}

// relative returns the samples with times relative to the beginning of the load,
// or to now if there was no load. The sampler must not be used after it.
func (s *sampler) relative() []results.Sample {
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

// used returns the usage during the load, which is zero without a load.
func (s *sampler) used() results.Usage {
	u := s.load.usage()
	if u.Seconds > 0 {
		u.FileLimit, u.Instructions = s.limit, s.counted
	}
	return u
}

// missing returns the parts that were not measured.
func (s *sampler) missing() []results.Missing {
	all := s.source.missing()
	if s.unlisted && !slices.ContainsFunc(all, func(m results.Missing) bool { return m.Part == results.OpenFiles }) {
		all = append(all, results.Missing{Part: results.OpenFiles, Why: "weir may not list the files of its processes: " +
			"run it as their user, or as root"})
	}
	if s.uncounted != nil {
		all = append(all, results.Missing{Part: results.Instructions, Why: s.uncounted.Error()})
	}
	return all
}

// warnings reports missing samples.
func (s *sampler) warnings() (all []string) {
	if s.gone != nil && !errors.Is(s.gone, os.ErrProcessDone) {
		all = append(all, fmt.Sprintf("samples end early: %v", s.gone))
	}
	if s.thinned {
		all = append(all, fmt.Sprintf("there were more than %d samples: only one every %v is kept", maxSamples,
			s.every))
	}
	return all
}

// A loadUsage sums up the usage between the beginning and the end of the load.
type loadUsage struct {
	before, after            reading
	beforeSwitch, lastSwitch process.Switches
	sum                      results.Usage // only the peaks are used
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
	// The kernel's own peak is above every sample. But it counts from the
	// start of the process, and the peaks of several processes need not
	// coincide.
	if r.Processes == 1 && r.PeakRSS > l.before.PeakRSS {
		l.sum.PeakRSS = max(l.sum.PeakRSS, r.PeakRSS)
	}
}

// add counts a sample while the load runs.
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

// usage returns zero until the load has ended.
func (l *loadUsage) usage() results.Usage {
	if !l.begun() || l.loading() {
		return results.Usage{}
	}
	u := l.sum
	u.Seconds = l.after.at.Sub(l.before.at).Seconds()
	u.CPUSeconds = max(0, (l.after.CPU - l.before.CPU).Seconds())
	// The kernel knows the sum to the nanosecond, but its parts only to a
	// hundredth of a second.
	u.UserSeconds = u.CPUSeconds * userShare(l.after.User-l.before.User, l.after.System-l.before.System)
	u.SystemSeconds = u.CPUSeconds - u.UserSeconds
	u.MeanRSS = int64(l.rss / float64(l.samples))
	u.VoluntarySwitches = l.lastSwitch.Voluntary - l.beforeSwitch.Voluntary
	u.ForcedSwitches = l.lastSwitch.Forced - l.beforeSwitch.Forced
	return u
}

// userShare returns half if the share is not known.
func userShare(user, system time.Duration) float64 {
	if user < 0 || system < 0 || user+system == 0 {
		return 0.5
	}
	return float64(user) / float64(user+system)
}

// A cpuSplit estimates the share of recent CPU time that was in user mode. The
// share within one sample would jump, because the kernel counts it in
// hundredths of a second.
type cpuSplit struct {
	user        float64
	known       bool
	sinceUser   time.Duration
	sinceSystem time.Duration
}

// enough is the CPU time after which the share is computed anew.
const enough = 100 * time.Millisecond

func (c *cpuSplit) add(user, system time.Duration) {
	u, s := user-c.sinceUser, system-c.sinceSystem
	if u < 0 || s < 0 || u+s >= enough || !c.known {
		c.user, c.known = userShare(u, s), true
		c.sinceUser, c.sinceSystem = user, system
	}
}

// A lateTime is CPU time that was noticed late: that of processes that had
// begun before they were found.
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

// spread distributes the time evenly over the samples since it was used. In the
// last sample alone it could exceed the CPUs of the machine.
func (l lateTime) spread(samples []results.Sample, started time.Time, user float64) {
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

// A switchRate measures the context switches of the service's threads.
type switchRate struct {
	total     process.Switches // so far
	perSecond int64            // recent

	at  time.Time // of total
	due time.Time
}

// update reads the counters if they are due, or if now is set.
func (r *switchRate) update(of source, now bool) {
	began := time.Now()
	if !now && began.Before(r.due) {
		return
	}
	before := machine.ThreadCPU()
	s, err := of.Switches()
	r.due = notBefore(began, machine.ThreadCPU()-before, switchEvery)
	if err != nil {
		return // the next sample reports that the process has ended
	}
	if seconds := began.Sub(r.at).Seconds(); !r.at.IsZero() && seconds > 0.1 {
		r.perSecond = int64(float64(s.Voluntary+s.Forced-r.total.Voluntary-r.total.Forced) / seconds)
	}
	r.total, r.at = s, began
}
