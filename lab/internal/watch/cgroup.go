package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/lab/results"
)

// A cgroup samples the processes of a control group of version 2 and of the groups below it. Its memory includes the page
// cache and kernel memory of the group, and its threads are pids.current, which has no file unless the group has that
// controller.
type cgroup struct {
	dir    string
	absent []results.Missing // found by the first sample
}

func openCgroup(dir string) (source, error) {
	c := &cgroup{dir: dir}
	if _, err := c.cpu(); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		part results.Part
		name string
	}{{results.Memory, "memory.current"}, {results.Threads, "pids.current"}} {
		if _, err := c.number(file.name); err != nil {
			c.lack(file.part, fmt.Sprintf("the control group has no %s (%v)", file.name, err))
		}
	}
	for _, part := range []results.Part{results.OpenFiles, results.Switches} {
		c.lack(part, "a control group does not count them")
	}
	return c, nil
}

func (c *cgroup) lack(p results.Part, why string) {
	c.absent = append(c.absent, results.Missing{Part: p, Why: why})
}

// SampleTree returns the sample of one process: the kernel adds up those of the group. Its peak is that of the group since
// it was made.
func (c *cgroup) SampleTree() (process.Sample, error) {
	s, err := c.cpu()
	if err != nil {
		return s, err
	}
	// Files that the group does not have are missing.
	s.RSS, _ = c.number("memory.current")
	peak, _ := c.number("memory.peak") // since Linux 5.19
	s.PeakRSS = max(s.RSS, peak)
	threads, _ := c.number("pids.current")
	s.Threads, s.Processes = int(threads), 1
	return s, nil
}

func (c *cgroup) SampleKnown() (process.Sample, error) { return c.SampleTree() }

func (c *cgroup) Switches() (process.Switches, error) { return process.Switches{}, nil }
func (c *cgroup) FileLimit() (int64, error)           { return 0, nil }
func (c *cgroup) Close()                              {}
func (c *cgroup) PIDs() []int                         { return process.InCgroup(c.dir) }
func (c *cgroup) missing() []results.Missing          { return c.absent }

// cpu reads the CPU time of the group. The error wraps [os.ErrProcessDone] if the group was removed.
func (c *cgroup) cpu() (s process.Sample, err error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "cpu.stat"))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("sample the control group %s: %w", c.dir, os.ErrProcessDone)
	}
	if err != nil {
		return s, err
	}
	found := false
	for line := range strings.Lines(string(text)) { // "usage_usec 1234"
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		us, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch time := time.Duration(us) * time.Microsecond; name {
		case "usage_usec":
			s.CPU, found = time, true
		case "user_usec":
			s.User = time
		case "system_usec":
			s.System = time
		}
	}
	if !found {
		return s, fmt.Errorf("%s has no usage_usec: this is not a control group of version 2", filepath.Join(c.dir, "cpu.stat"))
	}
	return s, nil
}

// number reads a file that has one number.
func (c *cgroup) number(name string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		return 0, errors.Unwrap(err) // without the path
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
