// Package service starts a program, reads its output, and ends it together with
// all its descendants.
//
// A program that is measured repeatedly must not leave anything running: a
// remaining child would use CPU time and the port in the next run. Each program
// therefore has its own session, this process adopts orphans, and
// [Service.Stop] ends all descendants, including daemons.
package service

// A Spec describes the program to start.
type Spec struct {
	Command []string // program and arguments; the program is looked up like in exec.Command, or relative to Dir
	Dir     string
	Env     []string // complete, as in os.Environ

	// Stdout and Stderr receive the program's output. A nil Stdout means Null,
	// and a nil Stderr means Stdout. A Sink serves one Service.
	Stdout, Stderr *Sink

	// Mark is an environment variable, "NAME=value", that identifies this
	// program's processes, even after this process has ended; see EndMarked. It
	// is added to Env.
	Mark string

	Limits
}

// Limits apply to the program and all its descendants. Zero means no limit.
type Limits struct {
	Files  int   // open files of each process; it cannot be raised
	Memory int64 // bytes, for all processes together
	CPUs   int   // number of CPUs; the last ones that this process may use
}

// An Ending is the result of Stop.
type Ending struct {
	// Exit is the state of the program itself: "exit status 0", "signal:
	// killed".
	Exit string

	// Failed reports whether the program ended otherwise than with success, by
	// SIGTERM, or with status 143, which shells use for SIGTERM.
	Failed bool

	// Left lists the processes that had to be killed, as "4711 (sleep)": processes that
	// did not end in time, and processes that had left the process group.
	Left []string

	// Outlived lists the processes that were still running when the program had
	// ended by itself.
	Outlived []string

	// Alive lists the processes that could not be killed.
	Alive []string

	// The program's total output, its number of lines, and its last 64 KiB. If stdout and
	// stderr have two sinks, the tail is the tail of one followed by the tail of the
	// other.
	Written Count
	Lines   int64
	Tail    []byte

	// Full reports whether the file system of the output is full.
	Full bool

	// OutOfMemory is the number of processes that the kernel killed at the
	// memory limit.
	OutOfMemory int
}
