package proxy_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain checks that after all tests no goroutine and no file descriptor is
// left. Numbers such as D1 in the tests refer to the list of requirements of
// the data plane.
func TestMain(m *testing.M) {
	before := descriptors()
	goleak.VerifyTestMain(descriptorCheck{m, before})
}

type descriptorCheck struct {
	m      *testing.M
	before int
}

func (d descriptorCheck) Run() int {
	code := d.m.Run()
	// The poller's own descriptors exist from the first socket on.
	const poller = 3
	for deadline := time.Now().Add(patience); descriptors() > d.before+poller; {
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "%d descriptors are open, %d were before the tests\n", descriptors(), d.before)
			return max(code, 1)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return code
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not Linux: only goleak checks
	}
	return len(entries)
}
