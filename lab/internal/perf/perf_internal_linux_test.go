package perf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// taskClock is counted by the kernel, in nanoseconds, so that machines without counters of the processor have it, too.
var taskClock = Event{"CPU time", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}

// asBurner is an environment variable that makes the test binary burn CPU time when a line arrives at its stdin: in a
// thread that it has already, in a new one, and in a child.
const asBurner = "WEIR_TEST_PERF"

func TestMain(m *testing.M) {
	switch os.Getenv(asBurner) {
	case "parent":
		burner()
	case "child":
		burn()
	default:
		os.Exit(m.Run())
	}
}

const burns = 30 * time.Millisecond // of CPU time

func burn() {
	var began, now unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &began)
	for {
		if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); now.Nano()-began.Nano() > burns.Nanoseconds() {
			return
		}
	}
}

func burner() {
	fmt.Println("ready")
	var line [1]byte
	os.Stdin.Read(line[:])
	burn()
	var all sync.WaitGroup
	for range 4 {
		all.Go(burn)
	}
	all.Wait()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asBurner+"=child")
	if err := child.Run(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("done")
	io.Copy(io.Discard, os.Stdin)
}

// TestCounterHasAllThreadsAndChildren compares the CPU time that the counter has with that of the process and its child.
func TestCounterHasAllThreadsAndChildren(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asBurner+"=parent")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	expect(t, out, "ready\n")
	c, err := taskClock.Count([]int{cmd.Process.Pid})
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skip("perf_event_open is not allowed: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintln(in)
	expect(t, out, "done\n")
	value, err := c.Value()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if got := time.Duration(value); got < 3*burns-10*time.Millisecond || got > used+20*time.Millisecond {
		t.Errorf("counted %v of CPU time, want three times %v, and at most the %v of the process and its child", got, burns, used)
	}
}

func expect(t *testing.T, out io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
		t.Fatalf("got %q, error %v, want %q", got, err, want)
	}
}

func TestEndedProcessIsLeftOut(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	c, err := taskClock.Count([]int{cmd.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if value, err := c.Value(); value != 0 || err != nil {
		t.Errorf("counted %g, error %v", value, err)
	}
}

func TestRefusedCounterSaysWhatIsMissing(t *testing.T) {
	for err, want := range map[error]string{
		unix.ENOENT: "this machine has no counter of instructions",
		unix.EACCES: "kernel.perf_event_paranoid is",
		unix.EMFILE: "count instructions: too many open files",
	} {
		if got := Instructions.refused(err); !strings.Contains(got.Error(), want) || !errors.Is(got, err) {
			t.Errorf("%v: %v, want %q", err, got, want)
		}
	}
	if c, err := Instructions.Count([]int{os.Getpid()}); err == nil {
		defer c.Close()
		if value, err := c.Value(); value == 0 || err != nil {
			t.Errorf("counted %g instructions, error %v", value, err)
		}
	}
}
