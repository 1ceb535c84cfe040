package process

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// SelfThread returns the times of the calling thread. The caller must have
// called [runtime.LockOSThread]. If the kernel does not count how long threads
// wait, SelfThread returns an error together with a valid CPU.
func SelfThread() (Thread, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return Thread{}, fmt.Errorf("read the thread's CPU clock: %w", err)
	}
	t := Thread{CPU: time.Duration(now.Nano())}
	const name = "/proc/thread-self/schedstat" // "cpu waited slices", in nanoseconds
	text, err := os.ReadFile(name)
	if err != nil {
		return t, err
	}
	_, rest, _ := number(text)
	waited, _, ok := number(rest)
	if !ok {
		return t, fmt.Errorf("%s has %.60q: not two numbers", name, text)
	}
	t.Waited = time.Duration(waited)
	return t, nil
}
