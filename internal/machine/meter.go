package machine

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Meter adds up what pieces of work cost in CPU time. The zero Meter stands at
// zero, and goroutines may share one.
type Meter struct{ used atomic.Int64 }

// Measure does a piece of work on the calling goroutine and adds what it took of
// its thread. Work that waits costs more than it would otherwise, for the thread
// waits with it.
func (m *Meter) Measure(work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := ThreadCPU()
	work()
	m.used.Add(int64(ThreadCPU() - began))
}

// Used returns the sum so far.
func (m *Meter) Used() time.Duration { return time.Duration(m.used.Load()) }
