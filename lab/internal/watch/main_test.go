package watch

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leftovers{m, descriptors()}) }

// leftovers checks that the tests leave no descriptor.
type leftovers struct {
	m      *testing.M
	before int
}

func (l leftovers) Run() int {
	code := l.m.Run()
	const poller = 3 // the runtime's own, from the first socket on
	if now := descriptors(); now > l.before+poller {
		fmt.Fprintf(os.Stderr, "%d descriptors are open, %d were before the tests\n", now, l.before)
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
