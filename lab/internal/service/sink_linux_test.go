package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab/internal/service"
)

func TestSinksTakeTheOutput(t *testing.T) {
	for name, c := range map[string]struct {
		sink  func(dir string) *service.Sink
		want  string // expected output for "one\ntwo\n"
		lines int64
	}{
		"null": {func(string) *service.Sink { return service.Null() }, "", 0},
		"file": {func(dir string) *service.Sink { return service.File(filepath.Join(dir, "out")) },
			"one\ntwo\n", 2},
		"pipe":      {func(string) *service.Sink { return service.Pipe(0) }, "one\ntwo\n", 2},
		"slow pipe": {func(string) *service.Sink { return service.Pipe(100) }, "one\ntwo\n", 2},
		"terminal":  {func(string) *service.Sink { return service.Terminal() }, "one\r\ntwo\r\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			spec := shell("echo one; echo two >&2")
			spec.Stdout = c.sink(t.TempDir())
			began := time.Now()
			s := start(t, spec)
			testkit.Receive(t, "the end of the service", s.Ended())
			e := s.Stop(t.Context(), time.Second)
			if got := string(e.Tail); got != c.want || e.Lines != c.lines || e.Written.Bytes != int64(len(c.want)) {
				t.Errorf("got %q, %d lines, %d bytes; want %q, %d lines", got, e.Lines, e.Written.Bytes,
					c.want, c.lines)
			}
			if last := e.Written.Last; c.want != "" && (last.Before(began.Add(-time.Second)) ||
				last.After(time.Now())) {
				t.Errorf("the last byte came at %v, want between %v and now", last, began)
			}
			if e.Exit != "exit status 0" || e.Left != nil || e.Alive != nil {
				t.Errorf("it ended with %+v", e)
			}
		})
	}
}

// TestTerminalHasASize runs a program that reports the size of its terminal.
func TestTerminalHasASize(t *testing.T) {
	spec := shell("stty size <&1; test -t 1 && test -t 2 && echo both; : </dev/tty && echo controlled")
	spec.Stdout = service.Terminal()
	s := start(t, spec)
	testkit.Receive(t, "the end of the service", s.Ended())
	if got, want := string(s.Stop(t.Context(), time.Second).Tail), "24 80\r\nboth\r\ncontrolled\r\n"; got != want {
		t.Errorf("the terminal's program says %q, want %q", got, want)
	}
}

func TestTwoSinksKeepOutputApart(t *testing.T) {
	spec := shell("echo out; echo error >&2; echo again >&2")
	spec.Stdout, spec.Stderr = service.File(filepath.Join(t.TempDir(), "out")), service.Pipe(0)
	s := start(t, spec)
	testkit.Receive(t, "the end of the service", s.Ended())
	e := s.Stop(t.Context(), time.Second)
	if got := string(e.Tail); got != "out\nerror\nagain\n" || e.Lines != 3 || e.Written.Bytes != 16 {
		t.Errorf("got %q, %d lines, %d bytes", got, e.Lines, e.Written.Bytes)
	}
}

// TestMuchOutputIsTaken reads 100 MB of output.
func TestMuchOutputIsTaken(t *testing.T) {
	const size = 100 << 20
	for name, sink := range map[string]*service.Sink{
		"file": service.File(filepath.Join(t.TempDir(), "out")), "pipe": service.Pipe(0),
	} {
		t.Run(name, func(t *testing.T) {
			spec := self("write", fmt.Sprint(size))
			spec.Stdout = sink
			s := start(t, spec)
			testkit.Receive(t, "the end of the service", s.Ended())
			e := s.Stop(t.Context(), time.Second)
			if e.Written.Bytes != size || e.Lines != size/100 {
				t.Errorf("%d bytes in %d lines, want %d in %d", e.Written.Bytes, e.Lines, size, size/100)
			}
			const kept = 64 << 10
			end := strings.Repeat(strings.Repeat("x", 99)+"\n", kept/100+1)
			if got, want := string(e.Tail), end[len(end)-kept:]; got != want {
				t.Errorf("the last %d bytes are kept, and not the last %d as they were", len(got), kept)
			}
		})
	}
}

// TestSlowPipeLimitsTheProgram limits the reader of a program that writes as fast as it can.
func TestSlowPipeLimitsTheProgram(t *testing.T) {
	const perSecond = 200_000
	spec := self("write", fmt.Sprint(10<<20))
	spec.Stdout = service.Pipe(perSecond)
	began := time.Now()
	s := start(t, spec)
	testkit.Await(t, "the pipe is full", func() bool { return s.Count().Unread > 32<<10 })
	testkit.Await(t, "some was read", func() bool { return s.Count().Bytes > perSecond/4 })
	read, took := s.Count().Bytes, time.Since(began)
	if most := perSecond*took.Seconds() + perSecond/50; float64(read) > most {
		t.Errorf("%d bytes were read in %v, want no more than %.0f", read, took, most)
	}
	e := s.Stop(t.Context(), deadline)
	if e.Left != nil || e.Exit != "signal: terminated" {
		t.Errorf("it ended with %q, killed %v", e.Exit, e.Left)
	}
	if rest := e.Written.Bytes - read; rest < 32<<10 {
		t.Errorf("%d bytes were taken when the program had ended, want what was in the pipe", rest)
	}
}

func TestHoldSuspendsTheReader(t *testing.T) {
	spec := shell("while echo 0123456789; do :; done")
	spec.Stdout = service.Pipe(0)
	s := start(t, spec)
	testkit.Await(t, "something was read", func() bool { return s.Count().Bytes > 0 })
	long := 2 * time.Second // enough to fill a pipe, unless the machine is busy
	var from time.Time
	for ; ; long *= 2 {
		from = time.Now()
		s.Hold(from, from.Add(long))
		testkit.Await(t, "the pipe is full", func() bool { return s.Count().Unread > 60_000 || time.Since(from) > long })
		before := s.Count()
		if !before.Last.After(from.Add(long/2)) && before.Unread >= 60_000 {
			break
		}
		if long > deadline {
			t.Fatalf("the reader that stops has read after %v of %v, %d bytes wait", before.Last.Sub(from),
				long, before.Unread)
		}
	}
	before := s.Count()
	testkit.Await(t, "the reader reads on", func() bool { return s.Count().Bytes > before.Bytes+1<<17 })
	if took := time.Since(from); took < long {
		t.Errorf("the reader reads on after %v, want %v", took, long)
	}
	s.Stop(t.Context(), deadline)
}

// TestHoldMayPrecedeTheOutput suspends a reader before there is any output.
func TestHoldMayPrecedeTheOutput(t *testing.T) {
	fifo := t.TempDir() + "/go"
	spec := shell(fmt.Sprintf("mkfifo %s; read line <%[1]s; echo $line; exec sleep 300", fifo))
	spec.Stdout = service.Pipe(0)
	s := start(t, spec)
	from := time.Now().Add(50 * time.Millisecond)
	s.Hold(from, from.Add(time.Hour))
	testkit.Await(t, "the hold has begun", func() bool { return time.Since(from) > 20*time.Millisecond })
	tell := start(t, shell(fmt.Sprintf("until test -p %s; do :; done; echo hello >%[1]s", fifo)))
	testkit.AwaitEqual(t, "the line waits", func() int64 { return s.Count().Unread }, 6)
	tell.Stop(t.Context(), deadline)
	e := s.Stop(t.Context(), deadline)
	if string(e.Tail) != "hello\n" {
		t.Errorf("%q was read in the end, want the line", e.Tail)
	}
}

// TestStopDoesNotWaitForKeptPipe stops a program whose output is also held open by an
// unrelated process.
func TestStopDoesNotWaitForKeptPipe(t *testing.T) {
	spec := shell("echo $$; exec sleep 300")
	spec.Stdout = service.Pipe(0)
	s := start(t, spec)
	testkit.AwaitEqual(t, "it says its number", s.Lines, 1)
	pipe := link(s.PID(), 1)
	keeper := start(t, shell(fmt.Sprintf("exec 3>/proc/%d/fd/1; sleep 300", s.PID())))
	testkit.AwaitEqual(t, "file of the other", func() string { return link(keeper.PID(), 3) }, pipe)
	if e := s.Stop(t.Context(), deadline); e.Lines != 1 {
		t.Errorf("%d lines, want 1", e.Lines)
	}
	if link(keeper.PID(), 3) != pipe {
		t.Error("stopping has waited for the other")
	}
	keeper.Stop(t.Context(), deadline)
}

// TestSlowPipeIsEmptied limits a reader so strongly that the rest in the pipe
// would take it a minute after the program has ended.
func TestSlowPipeIsEmptied(t *testing.T) {
	const size = 60_000 // the pipe holds 65,536
	spec := shell(fmt.Sprintf("head -c %d /dev/zero", size))
	spec.Stdout = service.Pipe(1000)
	s := start(t, spec)
	testkit.Receive(t, "the end of the service", s.Ended())
	if got := s.Stop(t.Context(), time.Second).Written.Bytes; got != size {
		t.Errorf("%d bytes were read, want %d", got, size)
	}
}

// TestFullDiskIsReported writes more than the file system can store.
func TestFullDiskIsReported(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	for size, full := range map[int]bool{1000: false, 1 << 20: true} {
		spec := shell(fmt.Sprintf("head -c %d /dev/zero 2>/dev/null; true", size))
		name := filepath.Join(dir, "out")
		spec.Stdout = service.File(name)
		s := start(t, spec)
		testkit.Receive(t, "the end of the service", s.Ended())
		if e := s.Stop(t.Context(), time.Second); e.Full != full {
			t.Errorf("%d bytes of %d were written; Full is %t, want %t", e.Written.Bytes, size, e.Full, full)
		}
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}
