package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
)

func open(t *testing.T, pid int) *process.Process {
	t.Helper()
	p, err := process.Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func sample(t *testing.T, p *process.Process) process.Sample {
	t.Helper()
	s, err := p.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSampleMeasuresCPU(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	before := sample(t, p)
	const work = 50 * time.Millisecond
	c.command(t, "burn", int(work))
	after := sample(t, p)
	if got := after.CPU - before.CPU; got < work {
		t.Errorf("the child has used %v of CPU time, the sample says %v", work, got)
	}
	const inexact = 50 * time.Millisecond // two ticks, and the work of the child's runtime between two samples
	if diff := after.CPU - after.User - after.System; diff < -inexact || diff > inexact {
		t.Errorf("CPU is %v, and User %v with System %v", after.CPU, after.User, after.System)
	}
	if after.User == 0 {
		t.Errorf("User is 0 after %v", work)
	}
}

// TestSampleMeasuresLessThanATick measures work that is shorter than the unit of /proc/PID/stat, in threads that live on
// and in threads that end.
func TestSampleMeasuresLessThanATick(t *testing.T) {
	const work = time.Millisecond
	for _, command := range []string{"burn", "burn-and-end"} {
		t.Run(command, func(t *testing.T) {
			c := start(t, "")
			p := open(t, c.Process.Pid)
			for range 20 {
				before := sample(t, p)
				c.command(t, command, int(work))
				if got := sample(t, p).CPU - before.CPU; got < work {
					t.Fatalf("the child has used %v of CPU time, the sample says %v", work, got)
				}
			}
		})
	}
}

func TestSampleMeasuresMemory(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	const size, most = 64 << 20, 60 << 20
	before := sample(t, p)
	c.command(t, "allocate", size)
	full := sample(t, p)
	if got := full.RSS - before.RSS; got < most {
		t.Errorf("the child has %d bytes more, RSS %d", size, got)
	}
	c.command(t, "free")
	after := sample(t, p)
	if got := full.RSS - after.RSS; got < most {
		t.Errorf("the child has returned %d bytes, RSS is less by %d", size, got)
	}
	if after.PeakRSS < full.RSS-1<<20 { // the kernel counts per CPU
		t.Errorf("PeakRSS is %d, RSS was %d", after.PeakRSS, full.RSS)
	}
	if before.PeakRSS < before.RSS {
		t.Errorf("PeakRSS is %d, RSS %d", before.PeakRSS, before.RSS)
	}
}

func TestSampleCountsFilesAndThreads(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	c.command(t, "open", 1) // including files that the runtime opens
	before := sample(t, p)
	const n = 300 // more than one read of a directory returns
	c.command(t, "open", n)
	if got := sample(t, p).Files - before.Files; got != n {
		t.Errorf("the child has opened %d files, the sample says %d", n, got)
	}
	c.command(t, "close")
	if got := sample(t, p).Files; got != before.Files-1 {
		t.Errorf("%d files are open after all were closed, want %d", got, before.Files-1)
	}
	c.command(t, "threads", 10)
	if got := sample(t, p).Threads; got < 11 {
		t.Errorf("%d threads, want 11 at least", got)
	}
}

func TestSampleReportsEndedProcess(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	sample(t, p)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var s process.Sample
	var err error
	testkit.Await(t, "the end of the process", func() bool {
		s, err = p.Sample()
		return err != nil
	})
	if !errors.Is(err, os.ErrProcessDone) || s != (process.Sample{}) {
		t.Errorf("of a zombie: %+v, %v; want nothing and %v", s, err, os.ErrProcessDone)
	}
	c.Wait()
	if _, err := p.Sample(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after it has ended: %v, want %v", err, os.ErrProcessDone)
	}
	if _, err := p.SampleTree(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a tree without its root: %v, want %v", err, os.ErrProcessDone)
	}
	if _, err := p.Command(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("its command: %v, want %v", err, os.ErrProcessDone)
	}
	if _, err := process.Open(c.Process.Pid); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Open: %v, want %v", err, os.ErrProcessDone)
	}
}

// TestOddNamesAreParsed runs a program with a name that looks like the rest of
// /proc/PID/stat.
func TestOddNamesAreParsed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a) Z 1 (b c")
	if err := os.Symlink(os.Args[0], name); err != nil {
		t.Fatal(err)
	}
	p := open(t, start(t, name).Process.Pid)
	if s := sample(t, p); s.RSS <= 0 || s.Threads <= 0 || s.Files <= 0 {
		t.Errorf("Sample() = %+v", s)
	}
	if got, err := p.Command(); got != name || err != nil {
		t.Errorf("Command() = %q, %v; want %q", got, err, name)
	}
}

func sampleTree(t *testing.T, p *process.Process) process.Sample {
	t.Helper()
	s, err := p.SampleTree()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSampleTreeIncludesChildren(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	tree := func() process.Sample { t.Helper(); return sampleTree(t, p) }
	alone := tree()
	first, err := strconv.Atoi(c.command(t, "fork"))
	if err != nil {
		t.Fatal(err)
	}
	c.command(t, "fork")
	const work = 2 * 50 * time.Millisecond
	three := tree()
	if got := three.CPU - alone.CPU; got < work {
		t.Errorf("the children have used %v of CPU time, the sample says %v", work, got)
	}
	if child := sample(t, open(t, first)); three.RSS < alone.RSS+child.RSS || three.Files < alone.Files+child.Files ||
		three.Threads < alone.Threads+child.Threads {
		t.Errorf("three together: %+v; the first: %+v, a child: %+v", three, alone, child)
	}
	c.command(t, "kill")
	two := tree()
	if two.RSS >= three.RSS || two.Threads >= three.Threads {
		t.Errorf("without a child: %+v, with it: %+v", two, three)
	}
	const inexact = 20 * time.Millisecond // ended processes are counted in ticks
	if two.CPU < three.CPU-inexact {
		t.Errorf("CPU is %v when a child has ended, and was %v", two.CPU, three.CPU)
	}
	c.command(t, "kill")
	if got, own := tree(), sample(t, p); got.Files != own.Files {
		t.Errorf("%d files without children, %d in the tree", own.Files, got.Files)
	}
}

// TestSampleIncludesEndedChildren checks the times of ended children, whether a process has
// waited for them or not and whether they were sampled before or not, and that
// Late reports times that became known later.
func TestSampleIncludesEndedChildren(t *testing.T) {
	const work, inexact = 50 * time.Millisecond, 20 * time.Millisecond // ended processes are counted in ticks
	for _, c := range []struct {
		name      string
		forgotten bool // no process waits for it
		seen      bool // sampled while it was running
		late      bool // Late at its end
	}{
		{"waited for", false, true, false},
		{"waited for and not seen", false, false, true},
		{"not waited for", true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := start(t, "")
			if c.forgotten {
				child.command(t, "forget")
			}
			p := open(t, child.Process.Pid)
			tree := func() process.Sample { t.Helper(); return sampleTree(t, p) }
			before := tree()
			if before.Late != before.CPU {
				t.Errorf("Late of the first sample is %v, want all of %v", before.Late, before.CPU)
			}
			child.command(t, "fork")
			if c.seen {
				if living := tree(); living.Late < work || living.Late > living.CPU {
					t.Errorf("Late is %v of %v when a child of %v was found", living.Late, living.CPU, work)
				}
				if again := tree(); again.Late != 0 {
					t.Errorf("Late is %v when it was known", again.Late)
				}
			}
			child.command(t, "kill")
			for range 2 {
				after := tree()
				if got := after.CPU - before.CPU; got < work-inexact {
					t.Errorf("%v more CPU time when the child has ended, want %v", got, work)
				}
				if parts := after.User + after.System; after.CPU-parts > 3*inexact || parts-after.CPU > 3*inexact {
					t.Errorf("CPU is %v, and User with System %v", after.CPU, parts)
				}
				if got := after.Late > inexact; got != c.late {
					t.Errorf("Late is %v when the child has ended, want some: %t", after.Late, c.late)
				}
				c.late = false // the next sample knows all
			}
		})
	}
}

func TestSampleAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := open(t, os.Getpid())
	if got := testing.AllocsPerRun(100, func() { sample(t, p) }); got != 0 {
		t.Errorf("%v allocations for a sample, want 0", got)
	}
}

// TestSelfThreadMeasuresWaitsForCPU runs two threads on one CPU, so that each has to wait for the
// other.
func TestSelfThreadMeasuresWaitsForCPU(t *testing.T) {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		t.Fatal(err)
	}
	one := firstOf(cpus)
	var stop atomic.Bool
	stopped := make(chan bool)
	go func() {
		defer close(stopped)
		runtime.LockOSThread() // without an unlock, so that the thread ends with its affinity
		unix.SchedSetaffinity(0, &one)
		for !stop.Load() {
		}
	}()
	defer func() { stop.Store(true); <-stopped }()

	result := make(chan string)
	go func() {
		runtime.LockOSThread()
		unix.SchedSetaffinity(0, &one)
		result <- waits()
	}()
	if wrong := <-result; wrong != "" {
		t.Error(wrong)
	}
}

// waits burns CPU time until the thread has waited. It returns an error text if
// it has not.
func waits() string {
	before, err := process.SelfThread()
	if err != nil {
		return err.Error()
	}
	const work = 20 * time.Millisecond
	after := before
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && after.Waited == before.Waited; {
		burn(work)
		if after, err = process.SelfThread(); err != nil {
			return err.Error()
		}
	}
	if after.Waited <= before.Waited || after.CPU < before.CPU+work {
		return "before " + strconv.Quote(before.CPU.String()+" and "+before.Waited.String()) +
			", after " + strconv.Quote(after.CPU.String()+" and "+after.Waited.String())
	}
	return ""
}

func firstOf(cpus unix.CPUSet) (one unix.CPUSet) {
	for i := 0; ; i++ {
		if cpus.IsSet(i) {
			one.Set(i)
			return one
		}
	}
}

func BenchmarkSample(b *testing.B) {
	p, err := process.Open(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Sample(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.SampleKnown(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.SampleTree(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestSampleTreeFindsNewChildren checks that children created between two samples are
// found, and that no process is checked twice.
func TestSampleTreeFindsNewChildren(t *testing.T) {
	c := start(t, "")
	p := open(t, c.Process.Pid)
	for want := range 6 {
		if want > 0 {
			c.command(t, "fork")
		}
		for range 3 {
			if got, err := p.SampleTree(); err != nil || got.Processes != 1+want || len(p.PIDs()) != 1+want {
				t.Fatalf("%d processes, %v; want %d", got.Processes, err, 1+want)
			}
		}
	}
	for want := range 5 {
		c.command(t, "kill")
		if got, err := p.SampleTree(); err != nil || got.Processes != 5-want {
			t.Fatalf("%d processes after %d of 5 have ended, %v; want %d", got.Processes, want+1, err, 5-want)
		}
	}
}
