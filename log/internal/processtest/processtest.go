// Package processtest runs functions of a test binary as processes of their own, for tests that kill
// or stop processes, or give them limits.
package processtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

const env = "WEIR_TEST_PROCESS"

// Processes are the functions that a test binary runs instead of its tests, by name.
type Processes map[string]func(args []string) error

// Run is called at the beginning of TestMain. If the environment names one of the processes, Run
// runs it and does not return.
func (p Processes) Run() {
	name, is := os.LookupEnv(env)
	if !is {
		return
	}
	run, ok := p[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no process %q\n", name)
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command returns the command that starts one of the processes. It is killed at the end of ctx, such
// as the context of the test.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	cmd := exec.CommandContext(ctx, self, args...)
	if err != nil {
		cmd.Err = err
	}
	// The race detector makes a process wait for a second before it ends.
	cmd.Env = append(os.Environ(), env+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}
