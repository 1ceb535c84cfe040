//go:build !linux

package send

import (
	"errors"
	"runtime"
	"time"
)

// HasLoops is false, since only Linux has epoll.
const HasLoops = false

func loopDrivers(int) ([]driver, error) { return nil, errors.ErrUnsupported }

// lockThread locks the goroutine to a system thread until unlock is called.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// sleep is as exact as time.Sleep.
func sleep(d time.Duration) { time.Sleep(d) }
