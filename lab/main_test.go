package lab_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asProgram in the environment makes this test's program one that a test runs:
// a name of programs.
const asProgram = "WEIR_TEST_LAB"

// programs are what the test's program can be instead of testing. A file of
// tests that needs one adds it.
var programs = map[string]func(){}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(asProgram)]; program != nil {
		program()
		return
	}
	// The tests wait for other processes most of the time; the flag overrides it.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(leftovers{m, descriptors()})
}

// leftovers tells whether the tests have left a descriptor or a child.
type leftovers struct {
	m      *testing.M
	before int
}

func (l leftovers) Run() int {
	code := l.m.Run()
	const poller = 3 // its own, from the first socket on
	for end := time.Now().Add(patience); descriptors() > l.before+poller; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			fmt.Fprintf(os.Stderr, "%d descriptors are open, %d were before the tests\n", descriptors(), l.before)
			return 1
		}
	}
	if left := children(os.Getpid()); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "children are left: %v\n", left)
		return 1
	}
	return code
}

// descriptors counts the files that are open, 0 where the system does not say.
func descriptors() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// children are the numbers of a process's children, zombies too.
func children(pid int) (all []string) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

const patience = 30 * time.Second

// until waits for something to be so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
