package proxying_test

import (
	"testing"

	"github.com/weirhq/weir/internal/leaktest"
)

// TestMain checks that after all tests no goroutine and no file descriptor is
// left. Numbers such as D1 in the tests refer to the list of requirements of
// the data plane.
func TestMain(m *testing.M) {
	leaktest.Verify(m, leaktest.Options{Patience: patience})
}
