// Package process measures the resources of processes: CPU, memory, threads and
// open files. It also finds the process that listens on an address, and the
// addresses on which a process listens.
//
// A [Process] is opened once and sampled often. A sample takes a few
// microseconds and allocates nothing. All data is from Linux's /proc; on other
// systems everything returns [errors.ErrUnsupported].
package process

import "time"

// A Sample holds the resources of one or several processes: times since their
// start, and the other values at the moment of the sample.
type Sample struct {
	// CPU is the CPU time of all threads, including ended ones, to the nanosecond: that of the process's CPU clock
	// (clock_getcpuclockid(3)). User and System are its parts, with a resolution of 10 ms, as is the time of children
	// that the process has waited for. /proc/PID/schedstat would have only the main thread.
	CPU, User, System time.Duration

	// Late is the part of CPU that was used before the previous sample but is
	// known only now. It belongs to processes that were not in the previous
	// sample, or that ended without ever being sampled. It is used only for
	// several processes.
	Late time.Duration

	// RSS is the memory in RAM in bytes, and PeakRSS its maximum so far. For
	// several processes, shared memory counts more than once, and the peaks may
	// have been at different times.
	RSS, PeakRSS int64

	Threads   int
	Files     int // open; -1 if this process may not read it
	Processes int // number of processes in the sample
}

// Switches counts context switches of threads: voluntary ones, because a thread
// waited, and forced ones, because another thread got the CPU.
type Switches struct {
	Voluntary, Forced int64
}

// A Thread holds the times of a thread.
type Thread struct {
	CPU    time.Duration
	Waited time.Duration // for a CPU, while ready to run
}

// A Stat holds fields of /proc/PID/stat, see proc_pid_stat(5).
type Stat struct {
	PID                          int
	Name                         string // of the program, at most 15 bytes
	State                        byte
	Parent, Group, Session       int
	User, System                 time.Duration // with a resolution of 10 ms
	ChildrenUser, ChildrenSystem time.Duration // of the children that the process has waited for
	Threads                      int
	Started                      int64 // ticks from the boot of the machine; with PID it identifies a process
	RSS                          int64 // bytes
}

// Ended reports whether the process has ended, even if its parent has not
// waited for it yet. A process whose first thread has ended before the others
// is a zombie too, but has not ended.
func (s Stat) Ended() bool {
	return s.State == 'X' || s.State == 'x' || s.State == 'Z' && s.Threads <= 1
}
