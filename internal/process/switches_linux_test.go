package process_test

import (
	"errors"
	"os"
	"testing"

	"github.com/weirhq/weir/internal/process"
)

func switches(t *testing.T, p *process.Process) process.Switches {
	t.Helper()
	s, err := p.Switches()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSwitchesAreCounted(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	c.command(t, "threads", 3)
	before := switches(t, p)
	const naps = 200
	c.command(t, "yield", naps)
	after := switches(t, p)
	if got := after.Voluntary - before.Voluntary; got < naps/2 { // some pauses end before the thread sleeps
		t.Errorf("%d switches of a thread that has slept %d times", got, naps)
	}
	if after.Forced < before.Forced {
		t.Errorf("forced switches fell from %d to %d", before.Forced, after.Forced)
	}
}

// TestSwitchesIncludeChildren counts the switches of children, including ended ones.
func TestSwitchesIncludeChildren(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	tree := func() {
		t.Helper()
		if _, err := p.SampleTree(); err != nil {
			t.Fatal(err)
		}
	}
	alone := switches(t, p)
	c.command(t, "fork")
	tree()
	both := switches(t, p)
	if both.Voluntary <= alone.Voluntary {
		t.Errorf("%d voluntary switches with a child, %d without", both.Voluntary, alone.Voluntary)
	}
	c.command(t, "kill")
	tree()
	if after := switches(t, p); after.Voluntary < both.Voluntary || after.Forced < both.Forced {
		t.Errorf("after a child's end %+v, before %+v", after, both)
	}
}

func TestSwitchesReportEndedProcess(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	switches(t, p)
	c.Process.Kill()
	c.Wait()
	if got, err := p.Switches(); got != (process.Switches{}) || !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Switches() = %+v, %v; want %v", got, err, os.ErrProcessDone)
	}
}

func TestFileLimitIsRead(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	c.command(t, "limit", 123)
	if got, err := p.FileLimit(); got != 123 || err != nil {
		t.Errorf("FileLimit() = %d, %v; want 123", got, err)
	}
	c.Process.Kill()
	c.Wait()
	if _, err := p.FileLimit(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("FileLimit() of an ended process: %v, want %v", err, os.ErrProcessDone)
	}
}

func TestSampleKnownFindsNoNewChildren(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	known := func() process.Sample {
		t.Helper()
		s, err := p.SampleKnown()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	c.command(t, "fork")
	if got := known().Processes; got != 1 {
		t.Errorf("%d processes before anyone was looked for, want 1", got)
	}
	if tree, err := p.SampleTree(); err != nil || tree.Processes != 2 {
		t.Errorf("SampleTree() has %d processes, %v; want 2", tree.Processes, err)
	}
	if got := known().Processes; got != 2 {
		t.Errorf("%d processes after, want 2", got)
	}
	c.command(t, "kill")
	if got := known().Processes; got != 1 {
		t.Errorf("%d processes after a child's end, want 1", got)
	}
}

func BenchmarkSwitches(b *testing.B) {
	p, err := process.Open(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		if _, err := p.Switches(); err != nil {
			b.Fatal(err)
		}
	}
}
