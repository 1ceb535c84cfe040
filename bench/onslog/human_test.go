package onslog_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/fatih/color"
)

const randomEvents = "^TestV[12]WritesTheSame$"

// asChild is an environment variable of processes that this test starts, because the packages read HUMAN_LOG and check
// for a terminal only once.
const asChild = "ONSLOG_CHILD"

// runAgain runs the matching tests in a new process with the given standard output.
func runAgain(t *testing.T, match string, stdout *os.File, env ...string) {
	t.Helper()
	if os.Getenv(asChild) != "" {
		t.Skip("is the child")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), exe, "-test.run="+match)
	cmd.Env = append(append(os.Environ(), asChild+"=1"), env...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s with %q: %v\n%s", match, env, err, head(out.String()))
	}
}

// seeds returns the number of random events to test.
func seeds() uint64 {
	if os.Getenv(asChild) != "" {
		return 1_000
	}
	return 5_000
}

func TestHumanIsTheSame(t *testing.T) {
	runAgain(t, randomEvents, nil, "HUMAN_LOG=true")
}

// TestColoursAreTheSame: our package treats every character device as a terminal, so /dev/null enables colours; the
// original's library is told to use them.
func TestColoursAreTheSame(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	runAgain(t, randomEvents, null, "HUMAN_LOG=1", "NO_COLOR=", "TERM=xterm", forceColours+"=1")
}

const forceColours = "ONSLOG_COLOURS"

func TestMain(m *testing.M) {
	if os.Getenv(forceColours) != "" {
		color.NoColor = false
	}
	os.Exit(m.Run())
}
