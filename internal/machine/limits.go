package machine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits are the limits that the machine sets for this process. A field is 0 if
// the limit is unknown or does not exist.
type Limits struct {
	OpenFiles     uint64  // soft limit of open files; Unlimited if there is none
	OpenFilesHard uint64  // hard limit, up to which OpenFiles may be raised
	MachineFiles  uint64  // limit of open files of all processes together
	PortLow       int     // first port for outgoing connections
	PortHigh      int     // last port for outgoing connections
	Backlog       int     // somaxconn: connections per listener that wait to be accepted
	CPUs          float64 // of the cgroup: seconds of CPU time per second
	Memory        int64   // of the cgroup, in bytes
}

// Unlimited is the number of open files if there is no limit.
const Unlimited = math.MaxUint64

// Read reads the limits below root, which is "/" except in tests. Missing files
// leave a field 0. An error means that a file exists but could not be parsed.
func Read(root string) (Limits, error) {
	var l Limits
	var errs []error
	l.OpenFiles, l.OpenFilesHard = openFiles(root, &errs)
	l.MachineFiles, _ = strconv.ParseUint(word(root, "proc/sys/fs/file-max", 0, &errs), 10, 64)
	l.PortLow, _ = strconv.Atoi(word(root, "proc/sys/net/ipv4/ip_local_port_range", 0, &errs))
	l.PortHigh, _ = strconv.Atoi(word(root, "proc/sys/net/ipv4/ip_local_port_range", 1, &errs))
	l.Backlog, _ = strconv.Atoi(word(root, "proc/sys/net/core/somaxconn", 0, &errs))
	for _, g := range cgroups(root, &errs) {
		l.CPUs = smaller(l.CPUs, g.cpus(root, &errs))
		l.Memory = smaller(l.Memory, g.memory(root, &errs))
	}
	return l, errors.Join(errs...)
}

// MemoryBelow returns the memory in bytes that a process with a GOMEMLIMIT may use, or 0 if neither limits it.
// math.MaxInt64 is no GOMEMLIMIT.
func (l Limits) MemoryBelow(goMemLimit int64) int64 {
	if goMemLimit == math.MaxInt64 {
		return l.Memory
	}
	return smaller(l.Memory, goMemLimit)
}

// smaller returns the smaller of two limits; 0 means no limit.
func smaller[T int64 | float64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// read returns the text of a file, or nil if it does not exist or may not be
// read.
func read(root, name string, errs *[]error) []byte {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		*errs = append(*errs, err)
	}
	return text
}

// word returns the n-th word of a file, or "".
func word(root, name string, n int, errs *[]error) string {
	words := strings.Fields(string(read(root, name, errs)))
	if n >= len(words) {
		return ""
	}
	return words[n]
}

// openFiles reads the line "Max open files   1024   4096   files".
func openFiles(root string, errs *[]error) (soft, hard uint64) {
	const name = "Max open files"
	for lines := bufio.NewScanner(bytes.NewReader(read(root, "proc/self/limits", errs))); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		if len(words) < 2 {
			*errs = append(*errs, fmt.Errorf("proc/self/limits: %q does not have two limits", lines.Text()))
			return 0, 0
		}
		return count(words[0]), count(words[1])
	}
	return 0, 0
}

func count(s string) uint64 {
	if s == "unlimited" {
		return Unlimited
	}
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// RaiseOpenFiles raises the soft limit of open files to the hard one, and
// returns it, or Unlimited if there is none.
func RaiseOpenFiles() (uint64, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	if l.Cur != l.Max {
		raised := unix.Rlimit{Cur: l.Max, Max: l.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil { // some systems reject their own hard limit
			l.Cur = l.Max
		}
	}
	if uint64(l.Cur) >= unix.RLIM_INFINITY {
		return Unlimited, nil
	}
	return uint64(l.Cur), nil
}

// OpenFilesNow returns the number of open files of this process, or 0 if the
// system does not report it.
func OpenFilesNow() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names) - 1 // without the folder itself
}
