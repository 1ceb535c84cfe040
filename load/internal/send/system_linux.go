package send

import (
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
