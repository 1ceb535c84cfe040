package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// labProcess starts weir lab run with the demo backend as the service, and a load
// of the given duration.
func labProcess(t *testing.T, duration string) (p *process, out string) {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "experiment.yaml"), filepath.Join(dir, "out")
	text := `name: interrupted
service: {command: ["${weir}", backend, --listen, "127.0.0.1:${port}"], ready_within: 3m}
load: {connections: 1, duration: ` + duration + `}
repeats: 200
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, "lab", "run", file, "--out", out), out
}

// TestLabInterruptKeepsTheReport checks that Ctrl-C, or the end of the terminal, ends the
// experiment with a report of the runs so far, and with exit code 130.
func TestLabInterruptKeepsTheReport(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p, out := labProcess(t, "2s") // a shorter load may send nothing on a busy machine
			p.says(`\n  1/400  `)
			p.signal(sig)
			p.wait(cli.ExitInterrupted)
			for _, want := range []string{"weir: stopping all started processes ",
				"weir: the same command with --out " + out + " --resume makes the remaining runs\n"} {
				if !strings.Contains(p.stderr.String(), want) {
					t.Errorf("stderr has no %q", want)
				}
			}
			if _, err := os.Stat(filepath.Join(out, "report.html")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEarlyLabInterruptLeavesNoFolder checks that an experiment without a complete run leaves no
// folder.
func TestEarlyLabInterruptLeavesNoFolder(t *testing.T) {
	t.Parallel()
	p, out := labProcess(t, "10m")
	p.says("results are kept in ")
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitProblem)
	const want = "weir: error: interrupted before the first run ended: nothing to report\n"
	if !strings.HasSuffix(p.stderr.String(), want) {
		t.Errorf("stderr does not end with %q", want)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", out, err)
	}
}
