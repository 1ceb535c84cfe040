package main

import (
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary serve as the weir command: a process started as
// "weir" runs main, with the race detector if the tests have it. More tests run at
// once than there are CPUs, because most of their time is spent waiting for a
// drain or another delay. With WEIR_SOAK tests check times and need the CPUs.
func TestMain(m *testing.M) {
	if !soaking {
		flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // before the flags of the command line
	}
	testscript.Main(withPrograms{m}, map[string]func(){"weir": main})
}

// raceOptions avoids the second that the race detector waits before each process
// exits.
const raceOptions = "GORACE=atexit_sleep_ms=0"

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

// TestScriptsPass starts weir some 600 times, without the race detector: it starts in a sixth of the time.
func TestScriptsPass(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(undetected(t))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", folder+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"backend": startBackend,
			"doorlog": doorLog,
			"fails":   fails,
			"taken":   taken,
		},
	})
}

// fails CODE PROGRAM ARGS... runs a program that has to exit with CODE.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails code program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("%v: %v, want exit code %d", args[1:], err, want)
	}
}

// taken NAME sets an environment variable to an address in use.
func taken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: taken name")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}
