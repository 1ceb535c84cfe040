package guard_test

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/leaktest"
)

// asService is an environment variable that makes the test binary the service of
// run_linux_test.go.
const asService = "WEIR_TEST_GUARD"

func TestMain(m *testing.M) {
	if os.Getenv(asService) != "" {
		serve()
		return
	}
	leaktest.Verify(m, leaktest.Options{Patience: patience, Children: true})
}
