//go:build !linux

package load

import (
	"net"
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

// hungUp is always false. The next use of a connection shows that the server has
// closed it.
func hungUp(net.Conn) bool { return false }

// sleep is as exact as time.Sleep.
func sleep(d time.Duration) { time.Sleep(d) }
