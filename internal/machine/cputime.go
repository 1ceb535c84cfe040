package machine

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU returns the CPU time of the calling thread. Two calls refer to the
// same thread only between runtime.LockOSThread and UnlockOSThread. It returns
// 0 if there is no such clock.
func ThreadCPU() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessCPU returns the CPU time of this process, in user and kernel mode.
func ProcessCPU() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// CPUOfThread returns the CPU time of a thread of this process, by its id in Linux. It returns 0 if there is no such
// thread, and on other systems.
func CPUOfThread(id int) time.Duration {
	const ofThread = 6 // CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED of linux/posix-timers.h
	return clock(int32(^id<<3 | ofThread))
}

func clock(id int32) time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(id, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// A Meter adds up the CPU time of pieces of work. The zero Meter is ready for
// use, and goroutines may share it.
type Meter struct{ used atomic.Int64 }

// Measure runs work on the calling goroutine and adds the CPU time of its
// thread. Blocking in work costs more than usual, because it blocks the thread.
func (m *Meter) Measure(work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := ThreadCPU()
	work()
	m.used.Add(int64(ThreadCPU() - began))
}

// Used returns the total so far.
func (m *Meter) Used() time.Duration { return time.Duration(m.used.Load()) }
