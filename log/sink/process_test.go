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

	"github.com/weirhq/weir/log/internal/processtest"
)

// soak is whether tests may take minutes and have the machine to themselves.
// Only then are promised times checked.
var soak = os.Getenv("WEIR_SOAK") != ""

// patience is the time limit for events that a test waits for. It is only
// reached on a machine that is busy with other work.
const patience = time.Minute

// processes are writers that have to be killed or stopped as processes.
var processes = processtest.Processes{}

// TestMain fails if a goroutine remains after the tests.
func TestMain(m *testing.M) {
	processes.Run()
	code := m.Run()
	if left := leftGoroutines(); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// process returns the command that starts one of the processes, with the stderr of the tests.
func process(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := processtest.Command(t.Context(), name, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// leftGoroutines returns the stacks of all goroutines except the caller's and
// those of the standard library that never end. It waits for goroutines that
// are ending. The module has no dependencies, so it cannot use goleak.
func leftGoroutines() []string {
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stacks := make([]byte, 1<<20)
		all := bytes.Split(bytes.TrimSpace(stacks[:runtime.Stack(stacks, true)]), []byte("\n\n"))
		left = left[:0]
		for _, stack := range all[1:] { // the first is the caller's
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
