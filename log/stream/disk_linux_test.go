package stream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/processtest"
	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/stream"
)

func init() {
	processes["full disk"] = fullDiskProcess
	processes["disk that was full"] = againProcess
	processes["disk without space"] = noSpaceProcess
	processes["file size limit"] = sizeLimitProcess
}

// TestDiskWithoutSpaceStopsNoDelivery runs processes on a disk of 1 MiB, and one with a limit on the size of files.
func TestDiskWithoutSpaceStopsNoDelivery(t *testing.T) {
	for _, name := range []string{"full disk", "disk that was full", "disk without space", "file size limit"} {
		t.Run(name, func(t *testing.T) {
			cmd := processtest.Command(t.Context(), name, t.TempDir())
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			if name == "file size limit" { // for users other than root
				cmd.SysProcAttr = nil
			}
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), mountRefused) {
				t.Skipf("it needs to mount a tmpfs: %v %s", err, out)
			}
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Log(strings.TrimSpace(string(out)))
		})
	}
}

const mountRefused = "cannot mount"

func mountDisk(folder string) error {
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Errorf("%s: %w", mountRefused, err)
	}
	return nil
}

// fullDiskProcess logs more than the disk holds while the server is down. The rest waits in
// memory. When the server is up, it gets all lines.
func fullDiskProcess(args []string) error {
	if err := mountDisk(args[0]); err != nil {
		return err
	}
	return outlive(args[0], func(out *stream.Sink) error {
		isFull := func() bool { return errors.Is(out.Stats().LastError, syscall.ENOSPC) }
		if err := waittest.Poll("the disk to be full", isFull); err != nil {
			return err
		}
		if n, bytes := out.Spilled(); n == 0 || bytes < 800<<10 {
			return fmt.Errorf("%d lines, %d bytes are on the disk", n, bytes)
		}
		return nil
	})
}

// againProcess logs more than the disk holds while the server is down, twice. Segments
// whose lines are delivered make space.
func againProcess(args []string) error {
	if err := mountDisk(args[0]); err != nil {
		return err
	}
	s := new(server)
	out, err := stream.New(s, stream.Options{Spill: stream.Spill{Folder: filepath.Join(args[0], "spill")}})
	if err != nil {
		return err
	}
	for range 2 {
		s.set(errors.New("down"))
		for i := range outlived {
			if _, err := out.WriteEvent(log.LevelInfo, fmt.Appendf(nil, "%0*d\n", 300, i)); err != nil {
				return err
			}
		}
		isFull := func() bool { n, bytes := out.Spilled(); return n > outlived/5 && bytes > 800<<10 }
		if err := waittest.Poll("lines on the full disk", isFull); err != nil {
			return fmt.Errorf("%w: %+v", err, out.Stats())
		}
		s.set(nil)
		if err := waittest.Poll("delivery", func() bool { return out.Stats().Waiting == 0 }); err != nil {
			return err
		}
	}
	return out.Close(context.Background())
}

// noSpaceProcess logs to a disk that has no space at all. The lines are delivered directly.
func noSpaceProcess(args []string) error {
	if err := mountDisk(args[0]); err != nil {
		return err
	}
	filler, err := os.Create(filepath.Join(args[0], "filler"))
	if err != nil {
		return err
	}
	return outlive(args[0], func(out *stream.Sink) error {
		return waittest.Poll("an error", func() bool { return out.Stats().LastError != nil })
	}, func() error {
		for _, n := range []int{4096, 1} {
			for err := error(nil); err == nil; {
				_, err = filler.Write(make([]byte, n))
			}
		}
		return nil
	})
}

// sizeLimitProcess logs more than one file may hold. The Spill uses several.
func sizeLimitProcess(args []string) error {
	limit := syscall.Rlimit{Cur: 100_001, Max: 100_001}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return outlive(args[0], func(out *stream.Sink) error {
		return waittest.Poll("the lines on the disk", func() bool { n, _ := out.Spilled(); return n == outlived })
	})
}

// outlived is the number of lines of outlive, which need 1.5 MB.
const outlived = 5000

// outlive logs while the server is down, calls full, and starts the server. It must get every
// line once. The functions of before are called when the Spill is open.
func outlive(folder string, full func(*stream.Sink) error, before ...func() error) error {
	s := &server{errs: always(errors.New("down"))}
	out, err := stream.New(s, stream.Options{Spill: stream.Spill{Folder: filepath.Join(folder, "spill")}})
	if err != nil {
		return err
	}
	for _, do := range before {
		if err := do(); err != nil {
			return err
		}
	}
	for i := range outlived {
		if _, err := out.WriteEvent(log.LevelInfo, fmt.Appendf(nil, "%0*d\n", 300, i)); err != nil {
			return err
		}
	}
	if err := full(out); err != nil {
		return err
	}
	if st := out.Stats(); st.Waiting != outlived || st.Lost() != 0 || st.Emitted != st.Written+st.Waiting {
		return fmt.Errorf("with the server down: %+v", st)
	}
	s.set(nil)
	up := time.Now()
	if err := out.Close(context.Background()); err != nil {
		return err
	}
	st := out.Stats()
	if st.Written != outlived || st.Lost() != 0 || st.Waiting != 0 ||
		len(s.lines) != outlived || uniqueLines(s) != outlived {
		return fmt.Errorf("%d lines, %d ids; %+v", len(s.lines), uniqueLines(s), st)
	}
	for i, line := range s.lines {
		if want := fmt.Sprintf("%0*d\n", 300, i); string(line) != want {
			return fmt.Errorf("line %d is %s", i, line)
		}
	}
	fmt.Printf("delivered %v after the server was up; last error: %v\n", time.Since(up), st.LastError)
	return nil
}
