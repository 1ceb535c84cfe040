package lab

import (
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

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
func (r *switchRate) ask(p *process.Process, now bool) {
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
