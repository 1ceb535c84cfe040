package machine

import (
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
