package machine

import (
	"runtime"
	"testing"
	"time"
)

// TestWaitingUsesNoCPUTime checks that working uses CPU time and waiting does not.
func TestWaitingUsesNoCPUTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, process := ThreadCPU(), ProcessCPU()
	if thread <= 0 || process < thread {
		t.Fatalf("the thread has used %v, the process %v", thread, process)
	}
	const work = 20 * time.Millisecond
	for ThreadCPU()-thread < work { // burns it
	}
	if got := ProcessCPU() - process; got < work {
		t.Errorf("the process has used %v, its thread %v", got, work)
	}
	before := ThreadCPU()
	<-time.After(work)
	if got := ThreadCPU() - before; got >= work/2 {
		t.Errorf("waiting for %v has used %v", work, got)
	}
}

// TestMeterCountsOnlyWork checks that only work counts, not waiting.
func TestMeterCountsOnlyWork(t *testing.T) {
	var m Meter
	if m.Used() != 0 {
		t.Fatalf("a new meter shows %v", m.Used())
	}
	const enough = 10 * time.Millisecond
	m.Measure(func() {
		for began := ThreadCPU(); ThreadCPU() < began+enough; {
		}
	})
	worked := m.Used()
	if worked < enough {
		t.Errorf("the meter shows %v after work of %v", worked, enough)
	}
	m.Measure(func() { time.Sleep(20 * time.Millisecond) })
	if waited := m.Used() - worked; waited > enough {
		t.Errorf("waiting for 20 ms took %v of the CPU", waited)
	}
}
