// Package process tells what processes use: CPU, memory, threads and open
// files. It finds the one that listens on an address, too, and the addresses on
// which one listens.
//
// A [Process] is opened once and sampled often: a sample takes a few
// microseconds and allocates nothing. All of it is read from Linux's /proc;
// elsewhere everything returns [errors.ErrUnsupported].
package process

import "time"

// A Sample is what a process, or several together, used up to a moment and had
// at it.
type Sample struct {
	// CPU is the time that all threads have had a CPU, the ended ones too. User
	// and System are its parts, exact to a hundredth of a second.
	CPU, User, System time.Duration

	// Late is the part of CPU that has come to light with this sample though it
	// was used before, of several processes together: that of those who were not
	// in the sample before, or have ended without having been in any.
	Late time.Duration

	// RSS is the memory that is in RAM, in bytes, and PeakRSS the most that it
	// has been. Processes together count twice what they share, and their peaks
	// may have been at different times.
	RSS, PeakRSS int64

	Threads   int
	Files     int // open; -1 when this process may not know
	Processes int // how many these are
}

// Switches are how often threads have lost their CPU: because they waited for
// something, or because another thread was let on it.
type Switches struct {
	Voluntary, Forced int64
}

// A Thread is what a thread has used.
type Thread struct {
	CPU    time.Duration
	Waited time.Duration // ready to run, with no CPU to run on
}

// A Stat holds fields of /proc/PID/stat, see proc_pid_stat(5).
type Stat struct {
	PID                          int
	Name                         string // of the program, at most 15 bytes
	State                        byte
	Parent, Group, Session       int
	User, System                 time.Duration // exact to a hundredth of a second
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
