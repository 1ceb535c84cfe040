package load

import (
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newLoops returns a loop for each thread.
func (r *run) newLoops() ([]thread, error) {
	threads := make([]thread, r.plan.Threads)
	for i := range threads {
		l, err := newLoop(r, i)
		if err != nil {
			for _, t := range threads[:i] {
				unix.Close(t.(*loop).epoll)
			}
			return nil, err
		}
		threads[i] = l
	}
	return threads, nil
}

// lockThread gives the goroutine a system thread of its own, that wakes at the
// time and not 50 us after it, until the function that it returns is called.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return func() {
		unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // as it was
		runtime.UnlockOSThread()
	}
}

// hungUp tells that the other side sends nothing more on a connection, whether
// all that it has sent was read or not: with TLS, a farewell may wait there.
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

// sleep is more exact than time.Sleep, which the runtime rounds to a
// millisecond. The thread is locked.
func sleep(d time.Duration) {
	if d <= 0 {
		runtime.Gosched()
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
