package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is a process to sample. It must not be used by several goroutines
// at the same time, and must be closed.
//
// A Process never refers to another process, even if its PID is reused: its
// files are opened relative to a directory that was opened once, and the kernel
// refuses to read them after the process has ended.
type Process struct {
	pid                    int
	dir, stat, status, fds int // file descriptors

	text        []byte           // buffer for the file that was read last
	descendants map[int]*Process // descendants by PID; for SampleTree
	members     []*Process       // the tree, parents before their children
	settled     settled          // processes known to be in the tree or not
	ledger      ledger           // of the whole tree
	entry       entry            // in the ledger of the ancestor whose tree it belongs to
	threads     threads          // for Switches
}

// settled holds the PIDs of processes that the last search has classified as
// descendants or not. They need not be checked again: a process gets another
// parent when its own ends, but no new ancestors.
type settled struct {
	known map[int]bool
	at    time.Time
}

// threads holds the last known counts of a process's threads, because the
// kernel discards a thread's counts when it ends.
type threads struct {
	living map[int]Switches // by thread ID
	ended  Switches         // of ended threads, and of ended processes of the tree
}

// Open opens the files of a process. The error wraps [os.ErrProcessDone] when
// there is no such process.
func Open(pid int) (*Process, error) {
	p := &Process{pid: pid, dir: -1, stat: -1, status: -1, fds: -1, text: make([]byte, 4096)}
	if err := p.open(); err != nil {
		p.Close()
		return nil, p.failed("open", err)
	}
	return p, nil
}

func (p *Process) open() (err error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC
	if p.dir, err = unix.Open("/proc/"+strconv.Itoa(p.pid), flags|unix.O_DIRECTORY, 0); err != nil {
		return err
	}
	if p.stat, err = unix.Openat(p.dir, "stat", flags, 0); err != nil {
		return err
	}
	if p.status, err = unix.Openat(p.dir, "status", flags, 0); err != nil {
		return err
	}
	if p.fds, err = unix.Openat(p.dir, "fd", flags|unix.O_DIRECTORY, 0); errors.Is(err, unix.EACCES) {
		// Without permission to list the directory, its size may still be
		// readable.
		p.fds, err = unix.Openat(p.dir, "fd", unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	}
	return err
}

// failed adds the operation and the PID to an error. An error because the
// process has ended becomes os.ErrProcessDone.
func (p *Process) failed(operation string, err error) error {
	if isGone(err) {
		err = os.ErrProcessDone
	}
	return fmt.Errorf("%s process %d: %w", operation, p.pid, err)
}

// Close closes the files of the process, and those of the tree that
// SampleTree has opened.
func (p *Process) Close() {
	for _, fd := range []int{p.dir, p.stat, p.status, p.fds} {
		if fd >= 0 {
			unix.Close(fd) // opened only for reading, so no data can be lost
		}
	}
	p.dir, p.stat, p.status, p.fds = -1, -1, -1, -1
	for _, member := range p.descendants {
		member.Close()
	}
	p.descendants, p.members = nil, nil
}

// Sample returns the resources of the process without its children. The error
// wraps [os.ErrProcessDone] if it has ended, even if its parent has not waited
// for it yet.
func (p *Process) Sample() (Sample, error) {
	s, err := p.sample()
	if err != nil {
		return Sample{}, err
	}
	return s.Sample, nil
}

// sample measures the process. For a zombie it returns only the times, together
// with os.ErrProcessDone.
func (p *Process) sample() (s sample, err error) {
	// The clock is identified by the PID. If the process still exists after the
	// clock was read, the clock belonged to it.
	cpu, clocked := cpuClock(p.pid)
	text, err := p.read(p.stat)
	if err != nil {
		return s, p.failed("sample", err)
	}
	stat, _, ok := parseStat(text)
	if !ok {
		return s, fmt.Errorf("sample process %d: /proc/%d/stat has unknown fields: %.60q", p.pid, p.pid, text)
	}
	s.User, s.System = stat.User, stat.System
	s.children = times{stat.ChildrenUser + stat.ChildrenSystem, stat.ChildrenUser, stat.ChildrenSystem}
	if s.CPU = cpu; !clocked {
		s.CPU = stat.User + stat.System
	}
	if s.zombie = stat.Ended(); s.zombie {
		return s, p.failed("sample", os.ErrProcessDone)
	}
	s.RSS, s.Threads, s.Processes = stat.RSS, stat.Threads, 1
	if text, err = p.read(p.status); err != nil {
		return sample{}, p.failed("sample", err)
	}
	s.PeakRSS = max(s.RSS, statusNumber(text, "\nVmHWM:")<<10)
	s.Files = p.files()
	return s, nil
}

// read reads a /proc file, which is generated on each read from offset 0. The
// text is valid until the next call.
func (p *Process) read(fd int) ([]byte, error) {
	for {
		n, err := unix.Pread(fd, p.text, 0)
		if err != nil {
			return nil, err
		}
		if n < len(p.text) {
			return p.text[:n], nil
		}
		p.text = make([]byte, 2*len(p.text))
	}
}

// cpuClock reads the CPU clock of a process. It counts nanoseconds;
// /proc/PID/stat counts units of 10 ms.
func cpuClock(pid int) (time.Duration, bool) {
	const process = 2 // CPUCLOCK_SCHED, of all threads: include/linux/posix-timers_types.h
	var now unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|process), &now); err != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}

// files returns the number of open files. Since Linux 6.2 it is the size of the
// fd directory; before that the directory has to be read.
func (p *Process) files() int {
	var st unix.Stat_t
	if err := unix.Fstat(p.fds, &st); err != nil {
		return -1
	}
	if st.Size > 0 {
		return int(st.Size)
	}
	return p.listed()
}

// listed counts the open files by reading the directory.
func (p *Process) listed() int {
	if _, err := unix.Seek(p.fds, 0, unix.SEEK_SET); err != nil {
		return -1
	}
	count := 0
	for {
		n, err := unix.ReadDirent(p.fds, p.text)
		if err != nil {
			return -1
		}
		if n == 0 {
			return count - 2 // . and ..
		}
		count += entries(p.text[:n])
	}
}

// entries counts the entries in a result of getdents64(2).
func entries(b []byte) (n int) {
	const length = 16 // offset of an entry's length, after inode and offset
	for len(b) > length+2 {
		size := int(b[length]) | int(b[length+1])<<8
		if size == 0 || size > len(b) {
			break
		}
		b = b[size:]
		n++
	}
	return n
}

// Command returns the command line with its arguments separated by spaces, or
// the name of a process without one.
func (p *Process) Command() (string, error) {
	for _, name := range []string{"cmdline", "comm"} {
		text, err := p.readFile(p.dir, name)
		if err != nil {
			return "", p.failed("read the command of", err)
		}
		if command := strings.TrimRight(string(text), "\x00\n"); command != "" {
			return strings.ReplaceAll(command, "\x00", " "), nil
		}
	}
	return "", nil
}

// readFile opens and reads a file relative to a directory. The text is valid
// until the next read.
func (p *Process) readFile(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return p.read(fd)
}

// FileLimit returns the soft limit of open files, 0 if there is none. The
// process can raise it itself up to the hard limit.
func (p *Process) FileLimit() (int64, error) {
	text, err := p.readFile(p.dir, "limits")
	if err != nil {
		return 0, p.failed("read the limits of", err)
	}
	_, line, ok := bytes.Cut(text, []byte("\nMax open files"))
	if !ok {
		return 0, fmt.Errorf("read the limits of process %d: no line about open files", p.pid)
	}
	limit, _, _ := number(line) // "unlimited" is not a number
	return limit, nil
}
