package service_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/leaktest"
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab/internal/service"
)

// lives reports whether a process runs.
func lives(pid int) bool {
	stat, err := process.ReadStat(pid)
	return err == nil && !stat.Ended()
}

// link returns what a file of a process is, or "".
func link(pid, fd int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return name
}

// numbers waits for n lines that each contain a number.
func numbers(t *testing.T, s *service.Service, n int, file string) (all []int) {
	t.Helper()
	testkit.AwaitEqual(t, fmt.Sprintf("%d processes say their numbers", n), s.Lines, int64(n))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// TestStopEndsProcessTrees ends process trees of several kinds.
func TestStopEndsProcessTrees(t *testing.T) {
	const daemon = `setsid sh -c 'echo $$; exec sleep 300' &`
	for name, c := range map[string]struct {
		script string
		pids   int
		left   int
		exit   string
	}{
		"one":                  {"echo $$; exec sleep 300", 1, 0, "signal: terminated"},
		"with a child":         {"echo $$; sleep 300 & echo $!; wait", 2, 0, "signal: terminated"},
		"ended before":         {"echo $$; exit 3", 1, 0, "exit status 3"},
		"ended before a child": {"echo $$; sleep 300 & echo $!", 2, 0, "exit status 0"},
		"with a daemon":        {"echo $$; " + daemon + " exec sleep 300", 2, 1, "signal: terminated"},
		"a lost daemon":        {"echo $$; (" + daemon + ") ; sleep 300", 2, 1, "signal: terminated"},
		"a lost daemon without its environment": {"echo $$; (env -i setsid sh -c 'echo $$; exec sleep 300' &) ; " +
			"sleep 300", 2, 1, "signal: terminated"},
		"ends the daemon": {"echo $$; setsid sleep 300 & d=$!; echo $d; trap 'kill $d; exit 4' TERM; while :; do " +
			"sleep 0.01; done",
			2, 0, "exit status 4"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			spec := shell(c.script)
			spec.Mark = "WEIR_TEST_MARK=" + t.Name()
			spec.Stdout = service.File(file)
			s := start(t, spec)
			pids := numbers(t, s, c.pids, file)
			if strings.HasPrefix(name, "ended before") {
				testkit.Receive(t, "the end of the service", s.Ended())
			}
			e := s.Stop(t.Context(), deadline)
			if len(e.Left) != c.left || e.Exit != c.exit || len(e.Alive) != 0 {
				t.Errorf("killed %v, exit %q, alive %v; want %d killed, %q", e.Left, e.Exit, e.Alive, c.left, c.exit)
			}
			for _, pid := range pids {
				if lives(pid) {
					t.Errorf("process %d lives", pid)
				}
			}
		})
	}
}

func TestStopKillsStubbornProgram(t *testing.T) {
	spec := self("stubborn")
	spec.Stdout = service.Pipe(0)
	s := start(t, spec)
	testkit.AwaitEqual(t, "it ignores signals", s.Lines, 1)
	began := time.Now()
	const within = 100 * time.Millisecond
	e := s.Stop(t.Context(), within)
	if took := time.Since(began); took < within {
		t.Errorf("it was killed after %v, want %v", took, within)
	}
	if want := strconv.Itoa(s.PID()); len(e.Left) != 1 || !strings.HasPrefix(e.Left[0], want+" (") ||
		e.Exit != "signal: killed" {
		t.Errorf("killed %v, exit %q; want %s killed", e.Left, e.Exit, want)
	}
}

// TestCanceledStopKillsImmediately cancels the context of Stop while a program takes long to
// end.
func TestCanceledStopKillsImmediately(t *testing.T) {
	spec := self("stubborn")
	spec.Stdout = service.Pipe(0)
	s := start(t, spec)
	testkit.AwaitEqual(t, "it ignores signals", s.Lines, 1)
	ctx, hurry := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, hurry)
	if e := s.Stop(ctx, time.Hour); len(e.Left) != 1 {
		t.Errorf("killed %v, want one", e.Left)
	}
}

// TestPWDIsTheFolder checks that PWD is the working directory of the program.
func TestPWDIsTheFolder(t *testing.T) {
	spec := shell("echo $PWD")
	spec.Dir = t.TempDir()
	spec.Env = []string{"PWD=/"}
	spec.Command[0] = "/bin/sh"
	spec.Stdout = service.Pipe(0)
	s := start(t, spec)
	testkit.Receive(t, "the end of the service", s.Ended())
	if got, want := string(s.Stop(t.Context(), deadline).Tail), spec.Dir+"\n"; got != want {
		t.Errorf("the program is told to be in %q, want %q", got, want)
	}
}

// TestStartReportsMistakes tries to start programs that cannot be started.
func TestStartReportsMistakes(t *testing.T) {
	spec := func(change func(*service.Spec)) service.Spec {
		s := service.Spec{Command: []string{"true"}, Env: os.Environ(), Stdout: service.Pipe(0)}
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		spec service.Spec
		want string
	}{
		"no command": {spec(func(s *service.Spec) { s.Command = nil }), "there is no command"},
		"no program": {spec(func(s *service.Spec) { s.Command = []string{"weir-no-such"} }),
			"executable file not found"},
		"no folder": {spec(func(s *service.Spec) { s.Dir = "/weir/no/such" }), "no such file"},
		"no room": {spec(func(s *service.Spec) { s.Stdout = service.File("/weir/no/such") }),
			"connect the service's output"},
		"many CPUs":      {spec(func(s *service.Spec) { s.CPUs = 5000 }), "this process itself may use"},
		"too many files": {spec(func(s *service.Spec) { s.Files = 1 << 40 }), "ulimit -Hn"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := service.Start(c.spec)
			if err == nil {
				s.Stop(t.Context(), 0)
				t.Fatal("it was started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %q, want %q in it", err, c.want)
			}
		})
	}
}

func TestLimitsApplyToTheProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	spec := shell("ulimit -Sn; ulimit -Hn; nproc; echo $0 $# $1")
	spec.Command = append(spec.Command, "a b", "c 'd'")
	spec.Files, spec.CPUs = 123, 1
	spec.Stdout = service.File(file)
	before := runtime.NumCPU()
	s := start(t, spec)
	testkit.Receive(t, "the end of the service", s.Ended())
	s.Stop(t.Context(), deadline)
	text, _ := os.ReadFile(file)
	if got, want := string(text), "123\n123\n1\na b 1 c 'd'\n"; got != want {
		t.Errorf("the service says %q, want %q", got, want)
	}
	var now unix.CPUSet
	if err := unix.SchedGetaffinity(0, &now); err != nil || now.Count() != before {
		t.Errorf("this process may use %d CPUs, %v; want %d as before", now.Count(), err, before)
	}
}

// TestMemoryLimitKillsTheProgram exceeds the memory limit of a service, if the test may make a
// control group.
func TestMemoryLimitKillsTheProgram(t *testing.T) {
	spec := self("eat")
	spec.Memory = 64 << 20
	s, err := service.Start(spec)
	if err != nil {
		if !strings.Contains(err.Error(), "a control group of its own") {
			t.Fatalf("the error is %q, want one with a remedy", err)
		}
		t.Skip("no control group may be made: ", err)
	}
	testkit.Receive(t, "the end of the service", s.Ended())
	if e := s.Stop(t.Context(), deadline); e.OutOfMemory == 0 {
		t.Errorf("it ended with %+v, want one that was killed for its memory", e)
	}
}

// TestServiceEndsWithItsOwner kills the process that started a service. It checks that the
// kernel kills the service and that EndMarked kills its children.
func TestServiceEndsWithItsOwner(t *testing.T) {
	mark := fmt.Sprintf("WEIR_TEST_MARK=%s:", t.TempDir())
	owner := exec.Command(os.Args[0], mark+"1")
	owner.Env = append(os.Environ(), asService+"=owner")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, e := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || e != nil {
		t.Fatalf("the owner says %q, %v", line, err)
	}
	testkit.AwaitEqual(t, "it has a child", func() int { return len(leaktest.Children(pid)) }, 1)
	child, _ := strconv.Atoi(leaktest.Children(pid)[0])
	owner.Process.Signal(syscall.SIGKILL)
	owner.Wait()
	testkit.Await(t, "the service has ended", func() bool { return !lives(pid) })
	killed, err := service.EndMarked(mark)
	if want := fmt.Sprintf("%d (", child); err != nil || len(killed) != 1 || !strings.HasPrefix(killed[0], want) {
		t.Errorf("EndMarked killed %v, %v; want only process %d", killed, err, child)
	}
	testkit.Await(t, "its child has ended", func() bool { return !lives(child) })
}
