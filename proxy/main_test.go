package proxy_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain holds the whole package to what each exchange promises: when all is
// over, no goroutine and no descriptor is left.
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
	// The poller's own descriptors are there from the first socket on.
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
		return 0 // not Linux: goleak alone must do
	}
	return len(entries)
}
