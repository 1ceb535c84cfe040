package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Event is a kind of event that a Counter counts.
type Event struct {
	name   string
	kind   uint32
	config uint64
}

// Instructions are those that a program executes in user mode. Their number hardly depends on other programs.
var Instructions = Event{"instructions", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}

// A Counter counts an event in all threads of processes, and in the threads and processes that they create. It is not
// safe for concurrent use.
type Counter struct {
	event   Event
	threads map[int]int // descriptors
}

// Count begins to count. The error has the reason why the event cannot be counted here. Processes that have ended
// are left out. The caller must call Close.
func (e Event) Count(pids []int) (*Counter, error) {
	c := &Counter{event: e, threads: make(map[int]int)}
	for _, pid := range pids {
		if err := c.add(pid); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// add adds the threads of a process. They may create others before they are counted themselves, so it looks again until
// all are counted.
func (c *Counter) add(pid int) error {
	for found := true; found; {
		found = false
		tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			return nil // it has ended
		}
		for _, task := range tasks {
			thread, err := strconv.Atoi(task.Name())
			if _, counted := c.threads[thread]; err != nil || counted {
				continue
			}
			fd, err := c.event.open(thread)
			if errors.Is(err, unix.ESRCH) {
				continue
			}
			if err != nil {
				return c.event.refused(err)
			}
			c.threads[thread], found = fd, true
		}
	}
	return nil
}

// open counts the event in a thread and in those that it creates from now on.
func (e Event) open(thread int) (int, error) {
	attr := unix.PerfEventAttr{Type: e.kind, Config: e.config,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
	attr.Size = uint32(unsafe.Sizeof(attr))
	return unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// refused explains an error of perf_event_open.
func (e Event) refused(err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		return fmt.Errorf("weir may not count %s: kernel.perf_event_paranoid is %s, and must be at most 2 for the processes "+
			"of the same user; a container may forbid perf_event_open (%w)", e.name, strings.TrimSpace(string(level)), err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("this machine has no counter of %s, as many virtual machines (%w)", e.name, err)
	}
	return fmt.Errorf("count %s: %w", e.name, err)
}

// Value returns the number of events so far. If the processor has fewer counters than are in use, it is estimated from
// the time for which the event was counted.
func (c *Counter) Value() (float64, error) {
	sum := 0.0
	for _, fd := range c.threads {
		var b [24]byte
		n, err := unix.Read(fd, b[:])
		if err != nil || n != len(b) {
			return 0, fmt.Errorf("read the counter of %s: %d bytes, %w", c.event.name, n, err)
		}
		value, enabled, running := number(b[:]), number(b[8:]), number(b[16:])
		if running > 0 {
			sum += value * (enabled / running)
		}
	}
	return sum, nil
}

func number(b []byte) float64 { return float64(binary.NativeEndian.Uint64(b)) }

// Close ends the count.
func (c *Counter) Close() {
	for _, fd := range c.threads {
		unix.Close(fd)
	}
	c.threads = nil
}
