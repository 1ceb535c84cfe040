package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/results"
)

// TestBuildLeavesNothing runs a build that starts a daemon, which lives until
// all runs are made, and interrupts a build that has started one.
// It is not parallel: killed processes would become children of this one, which runs other services
func TestBuildLeavesNothing(t *testing.T) {
	for name, interrupts := range map[string]bool{"done": false, "interrupted": true} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			o := options(t)
			o.Progress = func(p lab.Progress) {
				if interrupts && p.Line == "begun" {
					interrupt()
				}
			}
			script := "setsid sleep 300 >/dev/null 2>&1 & echo $! > pid; echo begun"
			if interrupts {
				script += "; sleep 300"
			}
			e := parse(t, "build:\n  - [sh, -c, '"+script+`']
repeats: 1
service:
  command: [sh, -c, 'kill -0 $(cat pid) && exec "$0" --listen "$1"', "${weir}", "127.0.0.1:${port}"]
  env: {`+asProgram+": service, "+atOnce+"}\n")
			r, err := lab.Run(ctx, e, o)
			switch {
			case interrupts && !errors.Is(err, context.Canceled):
				t.Errorf("Run = %v, %v; want %v", r, err, context.Canceled)
			case !interrupts && err != nil:
				t.Errorf("Run: %v", err)
			case !interrupts && (r.Runs[0].Outcome != results.Done || r.Runs[1].Outcome != results.Done):
				t.Errorf("the daemon did not live: %s", asJSON(t, r))
			}
			text, err := os.ReadFile(filepath.Join(e.Folder, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			left, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			testkit.Await(t, "the daemon has ended", func() bool { return syscall.Kill(left, 0) != nil || zombie(left) })
		})
	}
}
