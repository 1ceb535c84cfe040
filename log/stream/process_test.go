package stream_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// processes are the functions that this test binary runs instead of its tests if the
// environment names one: they are killed, or have limits of their own.
var processes = map[string]func(args []string) error{}

const processEnv = "WEIR_STREAM_TEST_PROCESS"

// TestMain runs one of the processes if the environment names one, otherwise the tests.
func TestMain(m *testing.M) {
	name, is := os.LookupEnv(processEnv)
	if !is {
		os.Exit(m.Run())
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

// process returns the command that starts one of the processes. It is killed at the end of the
// test.
func process(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	// The race detector makes a process wait for a second before it ends.
	cmd.Env = append(os.Environ(), processEnv+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}
