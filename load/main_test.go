package load_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain checks that runs leak neither goroutines nor descriptors.
func TestMain(m *testing.M) {
	// Most of the time of most tests is a wait.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // before the flags of the command line
	goleak.VerifyTestMain(descriptorCheck{m, descriptors()})
}

type descriptorCheck struct {
	m      *testing.M
	before int
}

func (d descriptorCheck) Run() int {
	code := d.m.Run()
	const poller = 3 // descriptors of the runtime, after the first socket
	for deadline := time.Now().Add(waitLimit); descriptors() > d.before+poller; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "%d descriptors are open, %d were before the tests\n", descriptors(), d.before)
			return 1
		}
	}
	return code
}

// descriptors returns the number of open files; 0 if the system does not have it.
func descriptors() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names)
}
