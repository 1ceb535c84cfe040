package proxy_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/leaktest"
)

// patience limits every wait of these tests, so that a fault becomes a failure
// instead of a hang. No test waits for it to pass.
const patience = time.Minute

// TestMain checks that after all tests no goroutine and no file descriptor is left.
func TestMain(m *testing.M) {
	leaktest.Verify(m, leaktest.Options{Patience: patience})
}
