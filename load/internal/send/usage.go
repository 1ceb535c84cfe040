package send

import (
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/process"
)

// A Usage is the CPU usage of a thread.
type Usage struct {
	All               time.Duration // CPU time, from the first connection to the end
	CPU, Waited, Wall time.Duration // while requests were sent
}

// A usageClock measures the CPU usage while requests are sent. The time before, with
// the first connections, and after, with the last responses, would make a busy thread
// look idle.
type usageClock struct {
	read  func() (cpu, waited time.Duration)
	all   time.Duration // CPU time when the thread began
	began time.Time     // when begin was called
	first Usage         // result of read at that time
	used  Usage
	ended bool
}

func newUsageClock(read func() (cpu, waited time.Duration)) usageClock {
	cpu, _ := read()
	return usageClock{read: read, all: cpu}
}

// begin starts the measurement.
func (u *usageClock) begin() {
	u.began = time.Now()
	u.first.CPU, u.first.Waited = u.read()
}

// stop ends the measurement. Only the first call counts.
func (u *usageClock) stop() {
	if u.ended || u.began.IsZero() {
		return
	}
	u.ended = true
	cpu, waited := u.read()
	u.used = Usage{CPU: cpu - u.first.CPU, Waited: waited - u.first.Waited, Wall: time.Since(u.began)}
}

// end returns the usage.
func (u *usageClock) end() Usage {
	u.stop()
	cpu, _ := u.read()
	u.used.All = cpu - u.all
	return u.used
}

// processTimes returns a function that reads the CPU time of the process, divided by
// parts.
func processTimes(parts int) func() (cpu, waited time.Duration) {
	return func() (cpu, waited time.Duration) {
		return machine.ProcessCPU() / time.Duration(parts), 0
	}
}

// threadTimes reads the times of the calling goroutine's locked thread; 0 if the system
// does not have them.
func threadTimes() (cpu, waited time.Duration) {
	t, _ := process.SelfThread()
	return t.CPU, t.Waited
}
