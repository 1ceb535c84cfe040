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

// A Process is one that is sampled. It is for one goroutine at a time, and has
// to be closed.
//
// It stands for the process that it was opened for even when the number has
// been given to another one: its files are below a directory that was opened
// once, and the kernel refuses to read them when their process is gone.
type Process struct {
	pid                    int
	dir, stat, status, fds int // descriptors

	text    []byte           // of the file that was read last
	family  map[int]*Process // who descends from it, by number; for SampleTree
	members []*Process       // the family, parents before their children
	settled settled          // who need not be asked for that
	ledger  ledger           // of all together
	entry   entry            // in the ledger of who has it in his family
	threads threads          // for Switches
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
		// Its size may be known to who may not list it.
		p.fds, err = unix.Openat(p.dir, "fd", unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	}
	return err
}

// failed says what could not be done with the process, and that it is gone when
// that is why.
func (p *Process) failed(what string, err error) error {
	if isGone(err) {
		err = os.ErrProcessDone
	}
	return fmt.Errorf("%s process %d: %w", what, p.pid, err)
}

// Close closes the process's files, and those of the others that
// SampleTree has opened.
func (p *Process) Close() {
	for _, fd := range []int{p.dir, p.stat, p.status, p.fds} {
		if fd >= 0 {
			unix.Close(fd) // only read from: nothing can be lost
		}
	}
	p.dir, p.stat, p.status, p.fds = -1, -1, -1, -1
	for _, member := range p.family {
		member.Close()
	}
	p.family, p.members = nil, nil
}

// Sample returns what the process uses, without its children. The error wraps
// [os.ErrProcessDone] when it has ended, even if nobody has waited for it yet.
func (p *Process) Sample() (Sample, error) {
	s, err := p.sample()
	if err != nil {
		return Sample{}, err
	}
	return s.Sample, nil
}

// A sample has besides what processes together need.
type sample struct {
	Sample
	children times // of children whom someone has waited for
	zombie   bool  // it has ended, and nobody has waited for it
}

// sample returns what a zombie has used together with os.ErrProcessDone.
func (p *Process) sample() (s sample, err error) {
	// The clock goes by the number. If the process is there after it was read,
	// it was the process's.
	cpu, clocked := cpuClock(p.pid)
	text, err := p.read(p.stat)
	if err != nil {
		return s, p.failed("sample", err)
	}
	stat, _, ok := parseStat(text)
	if !ok {
		return s, fmt.Errorf("sample process %d: /proc/%d/stat has %.60q: not the fields that are known", p.pid, p.pid, text)
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

// read reads a file that /proc makes anew at each reading from its beginning.
// The text is valid until the next call.
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

// cpuClock reads a process's CPU clock, which counts nanoseconds where
// /proc/PID/stat counts hundredths of a second.
func cpuClock(pid int) (time.Duration, bool) {
	const process = 2 // CPUCLOCK_SCHED, of all threads: include/linux/posix-timers_types.h
	var now unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|process), &now); err != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}

// files counts the open files: since Linux 6.2 they are the size of the
// directory that lists them, before that the list has to be read.
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

// listed counts the open files by reading their list.
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

// entries counts those of what getdents64(2) has returned.
func entries(b []byte) (n int) {
	const length = 16 // where an entry's length is: after inode and offset
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

// Command returns the command line, its arguments with spaces between them, or
// the bare name of a process that has none.
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

// readFile reads a file below a directory once. The text is valid as that of
// read.
func (p *Process) readFile(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return p.read(fd)
}

// FileLimit returns how many files the process may have open, 0 when there is
// no limit: the soft one, which it may raise itself.
func (p *Process) FileLimit() (int64, error) {
	text, err := p.readFile(p.dir, "limits")
	if err != nil {
		return 0, p.failed("read the limits of", err)
	}
	_, line, ok := bytes.Cut(text, []byte("\nMax open files"))
	if !ok {
		return 0, fmt.Errorf("read the limits of process %d: no line about open files", p.pid)
	}
	limit, _, _ := number(line) // "unlimited" is no number
	return limit, nil
}
