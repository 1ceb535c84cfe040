package load

import (
	"sync/atomic"
	"testing"
)

// TestRecordAlloc checks that recording does not allocate.
func TestRecordAlloc(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	r := newRecorder(true, new(atomic.Int64))
	r.answer(&flight{}, 200, 1)
	f := flight{due: 1, sent: 2, first: 3}
	allocs := testing.AllocsPerRun(1000, func() {
		r.send(&f, false)
		r.answer(&f, 200, 5)
		r.bytes(100, 5)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}
