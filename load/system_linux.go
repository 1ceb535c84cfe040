package load

import (
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lockThread locks the goroutine to a system thread until unlock is called. The
// kernel wakes the thread at the exact time and not up to 50 us later.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return func() {
		unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // the default
		runtime.UnlockOSThread()
	}
}

// hungUp reports whether the peer has closed its side of the connection. Bytes may
// be left to read: with TLS, the close notification.
func hungUp(c net.Conn) bool {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return true
	}
	var n int
	controlled := raw.Control(func(fd uintptr) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
	})
	return controlled != nil || err == nil && n > 0
}

// sleep is more exact than time.Sleep, which the runtime rounds to a millisecond.
// The thread is locked.
func sleep(d time.Duration) {
	if d <= 0 {
		runtime.Gosched()
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
