package load

import (
	"context"
	"os"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

// A thread sends and receives until the run ends. It takes part in the run's
// barrier.
type thread interface {
	// serve locks itself to a system thread, and returns what it used. The first
	// connections are waited for until opening is done.
	serve(opening context.Context) threadUsage
}

// A threadUsage is what a thread has used of the CPUs.
type threadUsage struct {
	cpu, waited, wall time.Duration
}

// A usageClock measures from when it was begun.
type usageClock struct {
	began       time.Time
	cpu, waited time.Duration
	read        func() (cpu, waited time.Duration)
}

func newUsageClock(read func() (cpu, waited time.Duration)) *usageClock {
	u := &usageClock{began: time.Now(), read: read}
	u.cpu, u.waited = read()
	return u
}

func (u *usageClock) end() threadUsage {
	cpu, waited := u.read()
	return threadUsage{cpu: cpu - u.cpu, waited: waited - u.waited, wall: time.Since(u.began)}
}

// beginUsage measures the thread that the calling goroutine is locked to.
func beginUsage() *usageClock { return newUsageClock(threadTimes) }

// beginProcessUsage measures one of so many parts of the process.
func beginProcessUsage(parts int) *usageClock {
	return newUsageClock(func() (cpu, waited time.Duration) {
		return machine.ProcessCPU() / time.Duration(parts), 0
	})
}

// threadTimes is 0 where the system does not say.
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
