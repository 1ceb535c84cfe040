package record

import (
	"sync/atomic"
	"testing"
)

// TestRecordingAllocatesNothing checks that recording does not allocate.
func TestRecordingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	r := New(Options{Open: true, End: new(atomic.Int64)})
	r.Response(&Flight{}, 200, 1)
	f := Flight{Due: 1, Sent: 2, First: 3}
	allocs := testing.AllocsPerRun(1000, func() {
		r.Send(&f, false)
		r.Response(&f, 200, 5)
		r.Bytes(100, 5)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}
