package machine

import (
	"testing"
	"time"
)

// TestMeter works and waits: the work counts.
func TestMeter(t *testing.T) {
	var m Meter
	if m.Used() != 0 {
		t.Fatalf("a new meter stands at %v", m.Used())
	}
	const enough = 10 * time.Millisecond
	m.Measure(func() {
		for began := ThreadCPU(); ThreadCPU() < began+enough; {
		}
	})
	worked := m.Used()
	if worked < enough {
		t.Errorf("the meter stands at %v after work of %v", worked, enough)
	}
	m.Measure(func() { time.Sleep(20 * time.Millisecond) })
	if waited := m.Used() - worked; waited > enough {
		t.Errorf("waiting for 20 ms took %v of the CPU", waited)
	}
}
