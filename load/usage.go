package load

import (
	"context"
	"os"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

// A thread sends and receives until the run ends. It is done with the run's
// opening once, and then waits for the start.
type thread interface {
	// serve locks itself to a system thread, and returns what it used. The first
	// connections are waited for until opening is done.
	serve(opening context.Context) threadUsage
}

// A threadUsage is what a thread has used of the CPUs.
type threadUsage struct {
	all               time.Duration // of a CPU, from the first connection to the end
	cpu, waited, wall time.Duration // while requests were sent
}

// A usageClock measures what is used while requests are sent. Waiting for the
// first connections, and for the last answers, would make a busy thread look idle.
type usageClock struct {
	read  func() (cpu, waited time.Duration)
	all   time.Duration // of the CPU, when the thread began
	began time.Time     // zero before that
	first threadUsage   // what read said then
	used  threadUsage
	ended bool
}

func newUsageClock(read func() (cpu, waited time.Duration)) usageClock {
	cpu, _ := read()
	return usageClock{read: read, all: cpu}
}

// begin tells that requests are sent from now on.
func (u *usageClock) begin() {
	u.began = time.Now()
	u.first.cpu, u.first.waited = u.read()
}

// stop tells that no more are sent; only the first time counts.
func (u *usageClock) stop() {
	if u.ended || u.began.IsZero() {
		return
	}
	u.ended = true
	cpu, waited := u.read()
	u.used = threadUsage{cpu: cpu - u.first.cpu, waited: waited - u.first.waited, wall: time.Since(u.began)}
}

// end returns what was used.
func (u *usageClock) end() threadUsage {
	u.stop()
	cpu, _ := u.read()
	u.used.all = cpu - u.all
	return u.used
}

// processTimes are those of one of so many parts of the process.
func processTimes(parts int) func() (cpu, waited time.Duration) {
	return func() (cpu, waited time.Duration) {
		return machine.ProcessCPU() / time.Duration(parts), 0
	}
}

// threadTimes are those of the thread that the calling goroutine is locked to, 0
// where the system does not say.
func threadTimes() (cpu, waited time.Duration) {
	t, _ := process.SelfThread()
	return t.CPU, t.Waited
}

// peakRSS is the most memory that this process had, 0 where the system does not
// say.
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
