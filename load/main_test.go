package load_test

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/weirhq/weir/internal/leaktest"
)

// TestMain checks that runs leak neither goroutines nor descriptors.
func TestMain(m *testing.M) {
	// Most of the time of most tests is a wait.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // before the flags of the command line
	leaktest.Verify(m, leaktest.Options{Patience: waitLimit})
}
