package machine_test

import (
	"runtime"
	"testing"

	"github.com/weirhq/weir/internal/machine"
)

// TestLeasedProcessorsAddUp checks that leases add up, that they do not count as processors, and that
// giving one back twice changes nothing.
func TestLeasedProcessorsAddUp(t *testing.T) {
	before, own := runtime.GOMAXPROCS(0), machine.Processors()
	check := func(leased int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != before+leased || machine.Processors() != own {
			t.Errorf("GOMAXPROCS %d, %d processors; want %d and %d", got, machine.Processors(), before+leased, own)
		}
	}
	two := machine.LeaseProcessors(2)
	check(2)
	three := machine.LeaseProcessors(3)
	check(5)
	two()
	two()
	check(3)
	three()
	check(0)
}
