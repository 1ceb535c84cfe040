package guard_test

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/leaktest"
)

// asService is an environment variable that makes the test binary the service of
// run_linux_test.go.
const asService = "WEIR_TEST_GUARD"

// asHalf is the argument that makes the test binary a half of a duet.
const asHalf = "half"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asService) != "":
		serve()
		return
	case len(os.Args) == 2 && os.Args[1] == asHalf:
		half()
		return
	}
	leaktest.Verify(m, leaktest.Options{Patience: patience, Children: true})
}
