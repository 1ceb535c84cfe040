// Package leaktest checks that the tests of a package leave nothing. It is for tests.
package leaktest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Options say what is checked apart from goroutines and descriptors.
type Options struct {
	Patience time.Duration // for which descriptors may be left; 0 for none
	Children bool          // processes
}

// Verify runs the tests, and ends the process with an error if they leave goroutines, descriptors or,
// if o says so, children.
func Verify(m *testing.M, o Options) { goleak.VerifyTestMain(check{m, o, descriptors()}) }

type check struct {
	m      *testing.M
	o      Options
	before int
}

// Run implements goleak.TestingM.
func (c check) Run() int {
	code := c.m.Run()
	const poller = 3 // the runtime's own, from the first socket on
	for end := time.Now().Add(c.o.Patience); descriptors() > c.before+poller; time.Sleep(10 * time.Millisecond) {
		if !time.Now().Before(end) {
			fmt.Fprintf(os.Stderr, "%d descriptors are open, %d were before the tests\n", descriptors(), c.before)
			return 1
		}
	}
	if left := Children(os.Getpid()); c.o.Children && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "children are left: %v\n", left)
		return 1
	}
	return code
}

// descriptors returns the number of open files, or 0 if the system does not report it.
func descriptors() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// Children returns the numbers of a process's children, including zombies. It needs Linux.
func Children(pid int) (all []string) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}
