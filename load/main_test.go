package load_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain checks that a run leaves neither a goroutine nor a descriptor.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(descriptorCheck{m, descriptors()})
}

type descriptorCheck struct {
	m      *testing.M
	before int
}

func (d descriptorCheck) Run() int {
	code := d.m.Run()
	const poller = 3 // its own, from the first socket on
	for deadline := time.Now().Add(patience); descriptors() > d.before+poller; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "%d descriptors are open, %d were before the tests\n", descriptors(), d.before)
			return 1
		}
	}
	return code
}

// descriptors counts the files that are open, 0 where the system does not say.
func descriptors() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names)
}
