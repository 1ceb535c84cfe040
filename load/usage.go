package load

import (
	"context"
	"os"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

// A thread sends and receives until the run ends. It opens its first connections,
// calls the run's opening.Done, and waits for the start.
type thread interface {
	// serve locks itself to a system thread, and returns its CPU usage. It waits for
	// the first connections until opening is done.
	serve(opening context.Context) threadUsage
}

// A threadUsage is the CPU usage of a thread.
type threadUsage struct {
	all               time.Duration // CPU time, from the first connection to the end
	cpu, waited, wall time.Duration // while requests were sent
}

// A usageClock measures the CPU usage while requests are sent. The time before, with
// the first connections, and after, with the last answers, would make a busy thread
// look idle.
type usageClock struct {
	read  func() (cpu, waited time.Duration)
	all   time.Duration // CPU time when the thread began
	began time.Time     // when begin was called
	first threadUsage   // result of read at that time
	used  threadUsage
	ended bool
}

func newUsageClock(read func() (cpu, waited time.Duration)) usageClock {
	cpu, _ := read()
	return usageClock{read: read, all: cpu}
}

// begin starts the measurement.
func (u *usageClock) begin() {
	u.began = time.Now()
	u.first.cpu, u.first.waited = u.read()
}

// stop ends the measurement. Only the first call counts.
func (u *usageClock) stop() {
	if u.ended || u.began.IsZero() {
		return
	}
	u.ended = true
	cpu, waited := u.read()
	u.used = threadUsage{cpu: cpu - u.first.cpu, waited: waited - u.first.waited, wall: time.Since(u.began)}
}

// end returns the usage.
func (u *usageClock) end() threadUsage {
	u.stop()
	cpu, _ := u.read()
	u.used.all = cpu - u.all
	return u.used
}

// processTimes returns a function that reads the CPU time of the process, divided by
// parts.
func processTimes(parts int) func() (cpu, waited time.Duration) {
	return func() (cpu, waited time.Duration) {
		return machine.ProcessCPU() / time.Duration(parts), 0
	}
}

// threadTimes reads the times of the calling goroutine's locked thread; 0 if the system
// does not have them.
func threadTimes() (cpu, waited time.Duration) {
	t, _ := process.SelfThread()
	return t.CPU, t.Waited
}

// peakRSS returns the largest resident memory of this process; 0 if the system does
// not have it.
func peakRSS() int64 {
	p, err := process.Open(os.Getpid())
	if err != nil {
		return 0
	}
	defer p.Close()
	s, err := p.Sample()
	if err != nil {
		return 0
	}
	return s.PeakRSS
}
