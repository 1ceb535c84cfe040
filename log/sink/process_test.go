package sink_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// soak says that tests may take minutes, and are alone on the machine: only
// then times are held to what is promised.
var soak = os.Getenv("WEIR_SOAK") != ""

// patience is how long a test waits for what has to happen. Nothing takes as
// long; it is there for a machine that is busy with other things.
const patience = time.Minute

// processes are what this test binary does instead of testing when it is
// started with the name of one in the environment: writers that are killed,
// stopped and started as only processes can be.
var processes = map[string]func(args []string) error{}

const processEnv = "WEIR_SINK_TEST_PROCESS"

// TestMain runs one of the processes if the environment names one. Otherwise
// it runs the tests and fails if a goroutine is left when they have ended.
func TestMain(m *testing.M) {
	name, is := os.LookupEnv(processEnv)
	if !is {
		code := m.Run()
		if left := leftGoroutines(); code == 0 && len(left) > 0 {
			fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
			code = 1
		}
		os.Exit(code)
	}
	run, ok := processes[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no process %q\n", name)
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process returns the command that starts one of the processes, which is
// killed with the test at the latest.
func process(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	// The race detector would have a process wait for a second before it ends.
	cmd.Env = append(os.Environ(), processEnv+"="+name, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// leftGoroutines returns the stacks of all goroutines but the caller's and
// those of the standard library that never end. It gives goroutines that are
// ending the time to do so. The module has no dependencies, which rules out
// goleak.
func leftGoroutines() []string {
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stacks := make([]byte, 1<<20)
		all := bytes.Split(bytes.TrimSpace(stacks[:runtime.Stack(stacks, true)]), []byte("\n\n"))
		left = left[:0]
		for _, stack := range all[1:] { // the caller's is the first
			if !bytes.Contains(stack, []byte("os/signal.loop")) {
				left = append(left, string(stack))
			}
		}
		if len(left) == 0 {
			return nil
		}
	}
	return left
}
