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

// asProgram is an environment variable. It makes the test binary run one of
// programs.
const asProgram = "WEIR_TEST_LAB"

// programs are the programs that the test binary can be instead of running
// tests. Test files add those that they need.
var programs = map[string]func(){}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(asProgram)]; program != nil {
		program()
		return
	}
	// The tests wait for other processes most of the time. The flag
	// overrides this.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(leftovers{m, descriptors()})
}

// leftovers checks that the tests leave no descriptor and no child.
type leftovers struct {
	m      *testing.M
	before int
}

func (l leftovers) Run() int {
	code := l.m.Run()
	const poller = 3 // the runtime's own, from the first socket on
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

// descriptors returns the number of open files, or 0 if the system does not
// report it.
func descriptors() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// children returns the numbers of a process's children, including zombies.
func children(pid int) (all []string) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

const patience = 2 * time.Minute

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
