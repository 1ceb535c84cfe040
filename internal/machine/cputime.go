package machine

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU returns how much of the CPU's time the calling thread has used.
// Two readings are of the same thread in between runtime.LockOSThread and
// UnlockOSThread alone. Where there is no such clock, it stands at zero.
func ThreadCPU() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessCPU returns how much of the CPUs' time this process has used, in its
// own code and in the kernel.
func ProcessCPU() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(id, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// A Meter adds up what pieces of work cost in CPU time. The zero Meter stands at
// zero, and goroutines may share one.
type Meter struct{ used atomic.Int64 }

// Measure does a piece of work on the calling goroutine and adds what it took of
// its thread. Work that waits costs more than it would otherwise, for the thread
// waits with it.
func (m *Meter) Measure(work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := ThreadCPU()
	work()
	m.used.Add(int64(ThreadCPU() - began))
}

// Used returns the sum so far.
func (m *Meter) Used() time.Duration { return time.Duration(m.used.Load()) }
