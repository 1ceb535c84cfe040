//go:build !linux

package load

import (
	"net"
	"runtime"
	"time"
)

// newLoops has none to offer: an epoll is Linux's.
func (r *run) newLoops() ([]thread, error) { return nil, nil }

// lockThread gives the goroutine a system thread of its own, until the function
// that it returns is called.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// hungUp does not know: a connection that the server has closed is noticed when
// it is used.
func hungUp(net.Conn) bool { return false }

// sleep waits as exactly as time.Sleep does.
func sleep(d time.Duration) { time.Sleep(d) }
