//go:build linux

package sink_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/log/sink"
)

func init() { processes["sync"] = syncProcess }

// syncProcess writes lines to a file at an interval, and prints the number of
// calls of OnError.
func syncProcess(args []string) error {
	fsync, err1 := time.ParseDuration(args[1])
	lines, err2 := strconv.Atoi(args[2])
	apart, err3 := time.ParseDuration(args[3])
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	var failed atomic.Int64
	f, err := sink.OpenFile(args[0], sink.FileOptions{Fsync: fsync, OnError: func(error) { failed.Add(1) }})
	if err != nil {
		return err
	}
	for i := range lines {
		if _, err := f.Write(appendEvent(nil, 0, i, 100)); err != nil {
			return err
		}
		time.Sleep(apart)
	}
	if f.Close() != nil {
		failed.Add(1)
	}
	fmt.Println(failed.Load())
	return nil
}

// TestFsyncFollowsItsInterval counts the fsyncs that the kernel sees: with each write, within a
// time after a write, or never. If all fail with EIO, OnError gets all errors.
func TestFsyncFollowsItsInterval(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("it needs strace, which is not installed")
	}
	const frame = 2 // one for the folder, and one when the file is closed
	const eio = "inject=fsync:error=EIO"
	for name, c := range map[string]struct {
		fsync, lines, apart string
		inject              string
		least, most         int
		failed              string
	}{
		"never":              {"0s", "50", "0s", "", 0, 0, "0"},
		"each write":         {"-1s", "50", "0s", "", 50 + frame, 50 + frame, "0"},
		"after 50 ms":        {"50ms", "200", "1ms", "", 2 + frame, 200/50*10 + frame, "0"},
		"after an hour":      {"1h", "50", "0s", "", frame, frame, "0"},
		"each write, broken": {"-1s", "50", "0s", eio, 50 + frame, 50 + frame, "all"},
		"at the end, broken": {"1h", "50", "0s", eio, frame, frame, "all"},
		"in between, broken": {"20ms", "100", "1ms", eio, 2 + frame, 100 + frame, "all"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path, trace := filepath.Join(folder, "weir.log"), filepath.Join(folder, "trace")
			self := process(t, "sync", path, c.fsync, c.lines, c.apart)
			args := []string{"-f", "-o", trace, "-e", "trace=fsync"}
			if c.inject != "" {
				args = append(args, "-e", c.inject)
			}
			cmd := exec.CommandContext(t.Context(), strace, append(append(args, self.Path), self.Args[1:]...)...)
			cmd.Env, cmd.Stderr = self.Env, os.Stderr
			out, err := cmd.Output()
			if err != nil && fsyncs(t, trace) == 0 {
				t.Skipf("strace may not trace here: %v", err)
			}
			do(t, err)
			got := fsyncs(t, trace)
			if got < c.least || got > c.most {
				t.Errorf("%d fsyncs, want %d to %d", got, c.least, c.most)
			}
			want := c.failed
			if want == "all" {
				want = strconv.Itoa(got)
			}
			if failed := strings.TrimSpace(string(out)); failed != want {
				t.Errorf("%s were told of as failed, want %s", failed, want)
			}
			if lines := strconv.Itoa(strings.Count(read(t, path), "\n")); lines != c.lines {
				t.Errorf("%s lines in the file, want %s", lines, c.lines)
			}
		})
	}
}

// strace splits a call into two lines if another thread interrupts it. The
// second one ends with the result.
var fsyncEnds = regexp.MustCompile(`(?m)fsync.*\) += -?\d`)

func fsyncs(t *testing.T, trace string) int {
	t.Helper()
	text, err := os.ReadFile(trace)
	if err != nil {
		return 0
	}
	return len(fsyncEnds.FindAll(text, -1))
}
