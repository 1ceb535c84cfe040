// Package service starts a program, takes what it writes, and ends it with
// everything that it has started.
//
// A program that is measured again and again may not leave anything behind: a
// child that lives on would take CPU from the next run, and its port. So each
// one has a session of its own, whoever loses his parent becomes a child of
// this process, and [Service.Stop] ends them all, those too that have made
// themselves daemons.
package service

// A Spec says what to start, and how.
type Spec struct {
	Command []string // the program and its arguments; the program is looked up as exec.Command does, or below Dir
	Dir     string
	Env     []string // all of it, as os.Environ has it

	// Stdout and Stderr take what the program writes; a nil Stdout is Null, and
	// a nil Stderr is Stdout. A Sink serves one Service.
	Stdout, Stderr *Sink

	// Mark is a variable of the environment, "NAME=value", that tells this
	// program's processes from all others, even when this process has ended
	// before them: see EndMarked. The program gets it with Env.
	Mark string

	Limits
}

// Limits bound the program and all that descends from it. A zero is no limit.
type Limits struct {
	Files  int   // open files of each process, for good: none can raise it
	Memory int64 // bytes, of all together
	CPUs   int   // how many of those that this process may use, the last ones
}

// An Ending is how everything ended.
type Ending struct {
	// Exit is how the program itself ended: "exit status 0", "signal: killed".
	Exit string

	// Failed tells that the program ended neither with success nor by SIGTERM,
	// nor with the status 143 that stands for it.
	Failed bool

	// Left names who had to be killed, "4711 (sleep)": the program or children
	// of it that did not end in time, and those that it had left behind.
	Left []string

	// Outlived names who lived though the program itself had ended already, before
	// it was told to.
	Outlived []string

	// Alive names who could not even be killed.
	Alive []string

	// What the program has written in all, how many lines that is, and its last
	// 64 KiB; of stdout and stderr, when they went to two sinks, one after the
	// other.
	Written Count
	Lines   int64
	Tail    []byte

	// Full tells that there is no room left where the output has a file.
	Full bool

	// OutOfMemory counts the processes that the kernel killed for the limit of
	// memory.
	OutOfMemory int
}
