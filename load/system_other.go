//go:build !linux

package load

import (
	"runtime"
	"time"
)

// newLoops returns none, since only Linux has epoll.
func (r *run) newLoops() ([]thread, error) { return nil, nil }

// lockThread locks the goroutine to a system thread until unlock is called.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// sleep is as exact as time.Sleep.
func sleep(d time.Duration) { time.Sleep(d) }
