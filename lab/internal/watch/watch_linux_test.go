package watch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab/results"
)

// shell starts a shell and returns when it has written its first line.
func shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	c := exec.Command("/bin/sh", "-c", script)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the first line of %q: %v", script, err)
	}
	return c
}

func watching(t *testing.T, pid int, every time.Duration, output func() (int64, int64), goURL string) *Watcher {
	t.Helper()
	w, err := Start(Processes{PID: pid}, Options{Every: every, Output: output, GoURL: goURL})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	p, err := process.Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return s.CPU
}

// TestInstructionsAreCountedIfAskedFor watches a shell that uses a whole CPU. A machine without a counter says so.
func TestInstructionsAreCountedIfAskedFor(t *testing.T) {
	busy := shell(t, "echo; while :; do :; done")
	for _, asked := range []bool{true, false} {
		w, err := Start(Processes{PID: busy.Process.Pid}, Options{Every: time.Hour, Instructions: asked})
		if err != nil {
			t.Fatal(err)
		}
		w.Begin()
		for began := w.Used(); w.Used()-began < 20*time.Millisecond; {
			time.Sleep(time.Millisecond)
		}
		w.End()
		s := w.Stop()
		lacks := slices.ContainsFunc(s.Missing, func(m results.Missing) bool { return m.Part == results.Instructions && m.Why != "" })
		if has := s.Usage.Instructions > 1e6; has && lacks || (has || lacks) != asked {
			t.Errorf("asked %v: %g instructions, missing are %v", asked, s.Usage.Instructions, s.Missing)
		}
	}
}

// TestWatchSamplesTheProcessTree watches a shell that uses a whole CPU and has an idle child.
func TestWatchSamplesTheProcessTree(t *testing.T) {
	busy := shell(t, "sleep 60 & echo; trap 'kill %1' EXIT; while :; do :; done")
	var written atomic.Int64
	calls := make(chan bool, 1000)
	w := watching(t, busy.Process.Pid, 10*time.Millisecond, func() (int64, int64) {
		select {
		case calls <- true:
		default:
		}
		return written.Add(1000), 77
	}, "")
	for range 5 {
		<-calls
	}
	w.Begin()
	began, idle := time.Now(), cpuOf(t, busy.Process.Pid)
	for len(calls) > 0 {
		<-calls
	}
	for range 30 {
		<-calls
	}
	for cpuOf(t, busy.Process.Pid) == idle { // a busy machine may not have run it yet
		<-calls
	}
	w.End()
	took := time.Since(began)
	for range 3 {
		<-calls
	}
	s := w.Stop()
	u := s.Usage
	if u.Seconds <= 0 || u.Seconds > took.Seconds()+0.1 {
		t.Errorf("Usage.Seconds is %v, the load was on for %v", u.Seconds, took)
	}
	if u.CPUSeconds <= 0 || u.CPUSeconds > u.Seconds*1.05+0.01 || !near(u.UserSeconds+u.SystemSeconds, u.CPUSeconds) {
		t.Errorf("%v s of CPU, %v in user mode and %v in system mode, of one that was busy for %v s", u.CPUSeconds,
			u.UserSeconds, u.SystemSeconds, u.Seconds)
	}
	if u.PeakThreads != 2 || u.PeakFiles < 6 || u.FileLimit <= 0 || u.PeakRSS < u.MeanRSS || u.MeanRSS <= 0 {
		t.Errorf("usage of a shell and its child: %+v", u)
	}
	if u.VoluntarySwitches+u.ForcedSwitches < 0 {
		t.Errorf("switches: %+v", u)
	}
	before, during, after := 0, 0, 0
	for i, sample := range s.Samples {
		switch {
		case sample.At < 0:
			before++
		case sample.At <= u.Seconds:
			during++
		default:
			after++
		}
		if i > 0 && sample.At <= s.Samples[i-1].At {
			t.Errorf("sample %d is at %v, the one before at %v", i, sample.At, s.Samples[i-1].At)
		}
		if sample.RSS <= 0 || sample.Threads < 1 || sample.Behind != 77 || sample.Output <= 0 ||
			sample.User+sample.System > 2.2 {
			t.Errorf("sample %d: %+v", i, sample)
		}
	}
	if before == 0 || during < 10 || after == 0 {
		t.Errorf("%d samples before the load, %d during and %d after", before, during, after)
	}
	if s.Go != nil || len(s.Warnings) > 0 {
		t.Errorf("of a shell: %+v, and warnings %q", s.Go, s.Warnings)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestSamplesOfEndedServiceAreKept checks that the samples of a process that has ended are
// kept.
func TestSamplesOfEndedServiceAreKept(t *testing.T) {
	mortal := shell(t, "echo; while :; do :; done")
	samples := make(chan bool, 1000)
	w := watching(t, mortal.Process.Pid, 5*time.Millisecond, func() (int64, int64) {
		select {
		case samples <- true:
		default:
		}
		return 0, 0
	}, "")
	w.Begin()
	for range 10 {
		<-samples
	}
	mortal.Process.Kill()
	mortal.Wait()
	w.End()
	s := w.Stop()
	if s.Usage.Seconds <= 0 || s.Usage.CPUSeconds <= 0 || len(s.Samples) < 5 {
		t.Errorf("of one that died: %+v and %d samples", s.Usage, len(s.Samples))
	}
	if len(s.Warnings) > 0 {
		t.Errorf("its end is no warning of the watcher's: %q", s.Warnings)
	}
	if _, err := Start(Processes{PID: mortal.Process.Pid}, Options{Every: time.Second}); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Start of one that has died: %v, want %v", err, os.ErrProcessDone)
	}
}

// TestWatchNeedsNoLoad watches a service without a load.
func TestWatchNeedsNoLoad(t *testing.T) {
	idle := shell(t, "echo; exec sleep 60")
	var calls atomic.Int64
	w := watching(t, idle.Process.Pid, time.Millisecond, func() (int64, int64) { calls.Add(1); return 0, 0 }, "")
	testkit.Await(t, "samples", func() bool { return calls.Load() > 5 })
	s := w.Stop()
	if s.Usage != (results.Usage{}) {
		t.Errorf("usage without a load: %+v", s.Usage)
	}
	if len(s.Samples) == 0 || s.Samples[len(s.Samples)-1].At > 0 {
		t.Errorf("samples without a load: %+v, want them before 0", s.Samples)
	}
}

// TestSamplesAreBounded checks the warning that samples were thinned.
func TestSamplesAreBounded(t *testing.T) {
	s := &sampler{every: time.Second, started: time.Unix(1000, 0)}
	at := s.started
	for range 3 * maxSamples / 2 {
		at = at.Add(s.every)
		r := s.last
		r.at, r.CPU, r.User = at, r.CPU+s.every/2, r.User+s.every/2
		r.RSS = int64(at.Unix() % 100)
		s.keep(r)
		s.last = r
	}
	if len(s.samples) >= maxSamples || len(s.samples) < maxSamples/2 {
		t.Errorf("%d samples are kept of %d, want less than %d", len(s.samples), 3*maxSamples/2, maxSamples)
	}
	for i, sample := range s.samples[1:] {
		if gap := sample.At - s.samples[i].At; gap < 1.99 || gap > 2.01 {
			t.Fatalf("sample %d is %v s after the one before, want 2", i+1, gap)
		}
		if sample.User < 0.49 || sample.User > 0.51 {
			t.Fatalf("sample %d has %v CPUs, want a half", i+1, sample.User)
		}
	}
	if w := strings.Join(s.warnings(), " "); !strings.Contains(w, fmt.Sprint(maxSamples)) ||
		!strings.Contains(w, "2s") {
		t.Errorf("the warning is %q, want one with %d and 2s", w, maxSamples)
	}
}

// TestLateCPUIsSpreadOverSamples finds a process after half a second in which it was busy.
func TestLateCPUIsSpreadOverSamples(t *testing.T) {
	s := &sampler{every: 100 * time.Millisecond, started: time.Unix(1000, 0)}
	at, cpu := s.started, time.Duration(0)
	next := func(used, late time.Duration) {
		at, cpu = at.Add(s.every), cpu+used
		r := reading{at: at}
		r.CPU, r.User, r.Late = cpu, cpu, late
		s.late.add(late, s.looked)
		s.keep(r)
		s.last = r
	}
	next(time.Hour, time.Hour) // used before it was watched
	s.looked = at
	for range 4 {
		next(0, 0)
	}
	next(550*time.Millisecond, 500*time.Millisecond)
	s.looked = at
	next(100*time.Millisecond, 0)
	var got []string
	for _, sample := range s.samples {
		got = append(got, fmt.Sprintf("%.1f", sample.User+sample.System))
	}
	if want := "1.0 1.0 1.0 1.0 1.5 1.0"; strings.Join(got, " ") != want {
		t.Errorf("CPUs are %v, want %s", got, want)
	}
}

// A course is a service that uses half a CPU. Half of that is noticed late.
type course struct {
	unknown
	began, seen time.Time
}

func (c *course) SampleKnown() (process.Sample, error) {
	now := time.Now()
	used, late := now.Sub(c.began)/2, now.Sub(c.seen)/4
	c.seen = now
	return process.Sample{CPU: used, User: used, RSS: 1, Late: late}, nil
}

func (c *course) SampleTree() (process.Sample, error) { return c.SampleKnown() }

// TestCPUTimeMakesNoSamples asks for the CPU time between samples, as a warm-up does, and marks the load close to a sample.
func TestCPUTimeMakesNoSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler(&course{began: time.Now(), seen: time.Now()}, 100*time.Millisecond, nil)
		began := time.Now()
		for i := range 20 {
			s.take(time.Now())
			time.Sleep(10 * time.Millisecond)
			switch i {
			case 10, 15:
				s.mark(i == 10)
			default:
				if got, want := s.cpu(time.Now()), time.Since(began)/2; got != want {
					t.Errorf("%v of CPU time, want %v", got, want)
				}
			}
			time.Sleep(90 * time.Millisecond)
		}
		if len(s.samples) != 19 {
			t.Errorf("%d samples, want 19", len(s.samples))
		}
		all := 0.0
		for i, sample := range s.samples {
			all += sample.User + sample.System
			if !near(sample.At, float64(i+1)/10) {
				t.Errorf("sample %d is at %v", i, sample.At)
			}
		}
		if !near(all, 19./2) { // late CPU time is spread over samples
			t.Errorf("%v CPUs in 19 samples, want a half in each", all)
		}
	})
}

func TestCPUSplitReturnsShareOfUserMode(t *testing.T) {
	var c cpuSplit
	const ms = time.Millisecond
	for i, step := range []struct {
		user, system time.Duration
		want         float64
	}{
		{300 * ms, 100 * ms, 0.75}, // since the service began
		{310 * ms, 100 * ms, 0.75}, // one tick is too little
		{320 * ms, 180 * ms, 0.2},  // ten are enough
		{320 * ms, 180 * ms, 0.2},  // no change, same share
		{100 * ms, 100 * ms, 0.5},  // a child has ended: not known
		{1100 * ms, 100 * ms, 1},
	} {
		if c.add(step.user, step.system); c.user != step.want {
			t.Errorf("step %d: %v in user mode, want %v", i, c.user, step.want)
		}
	}
}
