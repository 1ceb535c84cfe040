package machine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// RaiseOpenFiles raises the soft limit of open files to the hard one, and
// returns what it is then; Unlimited without one.
func RaiseOpenFiles() (uint64, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("reading the limit of open files: %w", err)
	}
	if l.Cur != l.Max {
		raised := unix.Rlimit{Cur: l.Max, Max: l.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil { // some systems do not allow as much as they say
			l.Cur = l.Max
		}
	}
	if uint64(l.Cur) >= unix.RLIM_INFINITY {
		return Unlimited, nil
	}
	return uint64(l.Cur), nil
}

// OpenFilesNow counts the files that this process has open; 0 where the
// system does not say.
func OpenFilesNow() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names) - 1 // reading the folder has it open
}
