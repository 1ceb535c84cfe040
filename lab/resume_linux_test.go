package lab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/experiment"
)

// interrupted makes only the first run of an experiment.
func interrupted(t *testing.T, e *experiment.Experiment, o lab.Options) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o.Progress = func(p lab.Progress) {
		if p.Run == 2 {
			interrupt()
		}
	}
	if r, err := lab.Run(ctx, e, o); err != nil || !r.Interrupted || len(r.Runs) != 1 {
		t.Fatalf("Run = %s, %v; want one run, interrupted", asJSON(t, r), err)
	}
}

// TestResumeByAnotherVersionIsRefused checks that measurements of two versions of the
// program are not mixed.
func TestResumeByAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	o := options(t)
	e := parse(t, "repeats: 1\nservice:\n")
	interrupted(t, e, o)
	o.Resume, o.Version = true, "v2"
	if r, err := lab.Run(t.Context(), e, o); err == nil ||
		!strings.Contains(err.Error(), "measured by weir v1, and this is weir v2") {
		t.Errorf("Run = %s, %v; want an error that names v1 and v2", asJSON(t, r), err)
	}
	o.Version = "v1"
	run(t, e, o)
}

// TestResumeWarnsOfAnotherService checks the warning about programs and scripts that
// were changed after the first runs.
func TestResumeWarnsOfAnotherService(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, command, made string }{
		"program":  {"service", `[./service, --listen, "127.0.0.1:${port}"]`, `cp "$1" service`},
		"argument": {"service.sh", `[sh, service.sh, "${weir}", "127.0.0.1:${port}"]`, `echo 'exec "$1" --listen "$2"' > service.sh`},
		"nothing":  {"", `["${weir}", --listen, "127.0.0.1:${port}"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			e := parse(t,
				"repeats: 1\nservice:\n  command: "+c.command+"\n  env: {"+asProgram+": service, "+atOnce+"}\n")
			file := filepath.Join(e.Folder, c.file)
			made := exec.Command("sh", "-c", c.made, "sh", os.Args[0])
			made.Dir = e.Folder
			if out, err := made.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c.made, err, out)
			}
			interrupted(t, e, o)
			if c.file != "" {
				if err := os.Chtimes(file, time.Time{}, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			o.Resume = true
			r := run(t, e, o)
			warnings := strings.Join(r.Runs[1].Warnings, " ")
			if got := strings.Contains(warnings,
				"changed since the first runs were made: "+file); got != (c.file != "") {
				t.Errorf("the second run warns %q, want a word of %q", warnings, c.file)
			}
		})
	}
}

// TestInterruptAtTheEndChangesNothing interrupts when all runs are made.
func TestInterruptAtTheEndChangesNothing(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := options(t)
	o.Progress = func(p lab.Progress) {
		if p.Step == lab.Ended && p.Run == p.Of {
			interrupt()
		}
	}
	r, err := lab.Run(ctx, parse(t, "repeats: 1\nservice:\n"), o)
	if err != nil || r.Interrupted || len(r.Runs) != 2 {
		t.Errorf("Run = %s, %v; want all runs, not interrupted", asJSON(t, r), err)
	}
}
