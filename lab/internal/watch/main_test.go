package watch

import (
	"testing"

	"github.com/weirhq/weir/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Verify(m, leaktest.Options{}) }
