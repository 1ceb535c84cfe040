//go:build linux

package sink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
)

func init() {
	processes["tmpfs"] = tmpfsProcess
	processes["file size limit"] = sizeLimitProcess
}

// fullDisks are the ways to free a disk that the log has filled, and the
// expected content of the log afterwards.
var fullDisks = map[string]struct {
	o    sink.FileOptions
	free func(path string) error
	lost bool // whether the content of the file is lost
}{
	"space is made":     {free: func(path string) error { return os.Remove(filler(path)) }},
	"log is truncated":  {free: func(path string) error { return os.Truncate(path, 0) }, lost: true},
	"log is deleted":    {free: os.Remove, lost: true},
	"its archive keeps": {o: sink.FileOptions{MaxBytes: 50_000, Keep: 3}, lost: true},
}

func filler(path string) string { return path + ".filler" }

// TestLinesWaitForSpaceOnFullDisk fills a disk of 1 MiB with the log, while a queue holds the
// lines that do not fit, and then frees space.
func TestLinesWaitForSpaceOnFullDisk(t *testing.T) {
	for name := range fullDisks {
		t.Run(name, func(t *testing.T) {
			cmd := process(t, "tmpfs", t.TempDir(), name)
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			out, err := combinedOutput(cmd)
			if errors.Is(err, syscall.EPERM) || strings.Contains(out, mountRefused) {
				t.Skipf("it needs to mount a tmpfs: %v %s", err, out)
			}
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Log(strings.TrimSpace(out))
		})
	}
}

// TestLinesWaitAtFileSizeLimit is TestLinesWaitForSpaceOnFullDisk for users other than root: a limit on the
// size of files replaces the disk.
func TestLinesWaitAtFileSizeLimit(t *testing.T) {
	out, err := combinedOutput(process(t, "file size limit", t.TempDir()))
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Log(strings.TrimSpace(out))
}

func combinedOutput(cmd *exec.Cmd) (string, error) {
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const mountRefused = "cannot mount"

func tmpfsProcess(args []string) error {
	folder, disk := args[0], fullDisks[args[1]]
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Errorf("%s: %w", mountRefused, err)
	}
	path := filepath.Join(folder, "weir.log")
	if err := os.WriteFile(filler(path), make([]byte, 750<<10), 0o600); err != nil {
		return err
	}
	if disk.free == nil { // rotation frees the space
		disk.free = func(string) error { return nil }
	}
	return outlive(path, disk.o, syscall.ENOSPC, disk.lost, disk.free)
}

func sizeLimitProcess(args []string) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	low := syscall.Rlimit{Cur: 100_001, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		return err
	}
	path := filepath.Join(args[0], "weir.log")
	return outlive(path, sink.FileOptions{}, syscall.EFBIG, false, func(string) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	})
}

// outlive logs more than there is space for, waits until that is noticed, and
// frees space. Then every event must be in the file, whole. If the content of
// the file was lost, the events from some event on must be there.
func outlive(path string, o sink.FileOptions, want error, lost bool, free func(path string) error) error {
	const events = 2000
	f, err := sink.OpenFile(path, o)
	if err != nil {
		return err
	}
	q := sink.NewQueue(f, sink.QueueOptions{})
	for i := range events {
		if _, err := q.WriteEvent(log.LevelInfo, appendEvent(nil, 0, i, 203)); err != nil {
			return err
		}
	}
	if o.MaxBytes == 0 {
		if err := waittest.Poll("the disk to be full", func() bool { return errors.Is(q.Stats().LastError, want) }); err != nil {
			return err
		}
		if s := q.Stats(); s.Waiting == 0 || s.Lost() != 0 || identity(s) != nil {
			return fmt.Errorf("with the disk full: %+v; want events to wait, and none lost", s)
		}
	}
	if soak {
		time.Sleep(10 * time.Second) // the disk stays full
	}
	freed := time.Now()
	if err := free(path); err != nil {
		return err
	}
	if err := waittest.Poll("the log to be written", func() bool { return q.Stats().Waiting == 0 }); err != nil {
		return fmt.Errorf("%w: %+v", err, q.Stats())
	}
	took := time.Since(freed)
	if soak && took > time.Second && !lost {
		return fmt.Errorf("written again after %v, want a second", took)
	}
	if err := errors.Join(q.Close(context.Background()), f.Close()); err != nil {
		return err
	}
	s := q.Stats()
	if s.Written != events || s.Lost() != 0 {
		return fmt.Errorf("%+v, want all %d written", s, events)
	}
	fmt.Printf("written again after %v, longest write %v\n", took, s.LongestWrite)
	return checkOutlived(path, events, lost)
}

// checkOutlived reads the rotated files and the current file.
func checkOutlived(path string, events int, lost bool) error {
	paths, err := filepath.Glob(path + ".2*Z")
	if err != nil {
		return err
	}
	next, lines := 0, 0
	for _, path := range append(paths, path) {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			_, i, err := parseEvent(line)
			if err != nil {
				return err
			}
			if i != next && (lines > 0 || !lost) {
				return fmt.Errorf("event %d where %d has to be", i, next)
			}
			next, lines = i+1, lines+1
		}
	}
	if next != events {
		return fmt.Errorf("the last event is %d of %d", next-1, events)
	}
	return nil
}
