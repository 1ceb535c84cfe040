package backend

import (
	"context"
	"runtime"
	"time"

	"github.com/weirhq/weir/internal/machine"
)

// burn keeps a CPU busy for so much of its time, and tells whether nobody ended
// the context meanwhile. It counts the time of the thread, which stands still
// while another one has the CPU, so that an answer costs the same on a machine
// that is busy. Where there is no such clock it counts all time.
//
// It takes longer by a reading of that clock and a round of spin, well below a
// microsecond, and always by about as much.
func burn(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := machine.ThreadCPU
	if clock() == 0 {
		began := time.Now()
		clock = func() time.Duration { return time.Since(began) }
	}
	x := uint64(0)
	for end := clock() + d; clock() < end; {
		if ctx.Err() != nil {
			return false
		}
		x = spin(x, 100)
	}
	runtime.KeepAlive(x)
	return true
}

// spin computes something that takes about a nanosecond a round.
//
//go:noinline
func spin(x uint64, rounds int) uint64 {
	for range rounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
