package sink_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
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

// TestMain becomes a process if it is to, and else holds the tests to leaving
// no goroutine behind.
func TestMain(m *testing.M) {
	name, is := os.LookupEnv(processEnv)
	if !is {
		goleak.VerifyTestMain(m)
		return
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
