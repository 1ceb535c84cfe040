package sink_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

var (
	_ io.Writer       = (*sink.Direct)(nil)
	_ log.EventWriter = (*sink.Direct)(nil)
)

// A step is the result of one Write: it takes so many bytes and returns err.
type step struct {
	take int
	err  error
}

// A scripted writer follows its steps, and takes everything after the last.
type scripted struct {
	steps []step
	got   bytes.Buffer
}

func (s *scripted) Write(p []byte) (int, error) {
	if len(s.steps) == 0 {
		return s.got.Write(p)
	}
	now := s.steps[0]
	s.steps = s.steps[1:]
	n := min(now.take, len(p))
	s.got.Write(p[:n])
	return n, now.err
}

func identity(s sink.Stats) error {
	if s.Emitted != s.Written+s.Lost()+s.Waiting {
		return fmt.Errorf("emitted %d != written %d + dropped %d + waiting %d", s.Emitted, s.Written, s.Lost(), s.Waiting)
	}
	return nil
}

// TestDirectEndsTornLines makes two writes fail, each at every offset, and checks the
// output as a consumer reads it.
func TestDirectEndsTornLines(t *testing.T) {
	lines := []string{"alpha-1\n", "bravo-22\n", "charlie-333\n"}
	const longest = 13
	for first := range longest {
		for second := range longest {
			w := &scripted{steps: []step{{first, syscall.ENOSPC}, {second, syscall.EIO}}}
			d := sink.NewDirect(w)
			for _, line := range lines {
				d.WriteEvent(log.LevelWarn, []byte(line))
			}
			stats := d.Stats()
			if err := identity(stats); err != nil {
				t.Fatalf("failing after %d and %d bytes: %v", first, second, err)
			}
			whole := wholeLines(t, w.got.String(), lines)
			if whole != int(stats.Written) {
				t.Fatalf("failing after %d and %d bytes: %d whole lines in %q, Stats say %d", first, second, whole, w.got.String(), stats.Written)
			}
			if !strings.HasSuffix(w.got.String(), "\n"+lines[2]) && w.got.String() != lines[2] {
				t.Fatalf("failing after %d and %d bytes: the last line is not alone in %q", first, second, w.got.String())
			}
		}
	}
}

// wholeLines counts the lines of got that are complete. It fails for a line
// that is neither complete nor the beginning of one.
func wholeLines(t *testing.T, got string, lines []string) (whole int) {
	t.Helper()
	for piece := range strings.Lines(got) {
		piece = strings.TrimSuffix(piece, "\n")
		switch {
		case slices.Contains(lines, piece+"\n"):
			whole++
		case !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, piece) }):
			t.Errorf("%q is glued together, in %q", piece, got)
		}
	}
	return whole
}

func TestWriteContinuesAfterShortWrites(t *testing.T) {
	for name, steps := range map[string][]step{
		"short without an error": {{2, nil}, {1, nil}, {3, nil}},
		"interrupted":            {{0, syscall.EINTR}, {2, syscall.EINTR}, {0, syscall.EINTR}},
		"no room":                {{0, syscall.EAGAIN}, {3, syscall.EAGAIN}, {0, syscall.EAGAIN}, {1, nil}},
		"as os.File says it":     {{1, &os.PathError{Op: "write", Path: "|1", Err: syscall.EAGAIN}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // waiting for a pipe takes no time here
				w := &scripted{steps: steps}
				d := sink.NewDirect(w)
				if n, err := d.WriteEvent(log.LevelInfo, []byte("a whole line\n")); n != 13 || err != nil {
					t.Errorf("WriteEvent = %d, %v; want 13, nil", n, err)
				}
				if got, want := w.got.String(), "a whole line\n"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				want := sink.Stats{Emitted: 1, Written: 1, Bytes: 13}
				if got := d.Stats(); got.Emitted != 1 || got.Written != 1 || got.Bytes != 13 || got.Lost() != 0 {
					t.Errorf("Stats = %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestDropsAreCounted(t *testing.T) {
	w := &scripted{steps: []step{{0, syscall.EIO}, {0, nil}, {0, syscall.ENOSPC}}}
	d := sink.NewDirect(w)
	for _, level := range []log.Level{log.LevelInfo, log.LevelError, log.LevelInfo, log.LevelInfo} {
		d.WriteEvent(level, []byte("line\n"))
	}
	d.Close()
	if _, err := d.Write([]byte("late\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, os.ErrClosed)
	}
	s := d.Stats()
	want := []sink.Loss{
		{Level: log.LevelInfo, Reason: sink.Closed, Events: 1},
		{Level: log.LevelInfo, Reason: sink.WriteError, Events: 2},
		{Level: log.LevelError, Reason: sink.WriteError, Events: 1},
	}
	if !slices.Equal(s.Dropped, want) {
		t.Errorf("Dropped = %+v, want %+v", s.Dropped, want)
	}
	if !errors.Is(s.LastError, syscall.ENOSPC) {
		t.Errorf("LastError = %v, want %v", s.LastError, syscall.ENOSPC)
	}
	if err := identity(s); err != nil {
		t.Error(err)
	}
	s.Dropped[0].Events = 99
	if d.Stats().Lost() != 4 {
		t.Error("a snapshot shares memory with the counts")
	}
}

// TestCloseReleasesCallersOfFullPipe writes to a pipe that is always full: Stats returns, and Close
// releases the callers.
func TestCloseReleasesCallersOfFullPipe(t *testing.T) {
	d := sink.NewDirect(writerFunc(func([]byte) (int, error) { return 0, syscall.EAGAIN }))
	result := make(chan error)
	for range 2 {
		go func() {
			_, err := d.WriteEvent(log.LevelError, []byte("stuck\n"))
			result <- err
		}()
	}
	for d.Stats().Waiting != 2 {
		runtime.Gosched()
	}
	if s := d.Stats(); s.WaitingBytes != 12 || identity(s) != nil {
		t.Errorf("Stats = %+v, want 12 bytes waiting", s)
	}
	d.Close()
	for range 2 {
		if err := <-result; !errors.Is(err, os.ErrClosed) {
			t.Errorf("WriteEvent: %v, want %v", err, os.ErrClosed)
		}
	}
	if s := d.Stats(); s.Waiting != 0 || s.WaitingBytes != 0 || s.Lost() != 2 {
		t.Errorf("Stats = %+v, want 2 lost and nothing waiting", s)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestMisbehavingWriterLosesOneLine(t *testing.T) {
	var got bytes.Buffer
	for name, first := range map[string]func(p []byte) (int, error){
		"panics":      func(p []byte) (int, error) { got.Write(p[:2]); panic("broken") },
		"too much":    func(p []byte) (int, error) { got.Write(p[:2]); return len(p) + 1, nil },
		"less than 0": func(p []byte) (int, error) { got.Write(p[:2]); return -1, nil },
	} {
		t.Run(name, func(t *testing.T) {
			got.Reset()
			calls := 0
			d := sink.NewDirect(writerFunc(func(p []byte) (int, error) {
				if calls++; calls == 1 {
					return first(p)
				}
				return got.Write(p)
			}))
			if _, err := d.Write([]byte("lost\n")); err == nil {
				t.Error("no error for the lost line")
			}
			d.Write([]byte("kept\n"))
			if got.String() != "lo\nkept\n" {
				t.Errorf("got %q", got.String())
			}
			if s := d.Stats(); s.Written != 1 || s.Lost() != 1 || s.LastError == nil {
				t.Errorf("Stats = %+v, want one written and one lost", s)
			}
		})
	}
}

func TestMissingNewlineIsAdded(t *testing.T) {
	w := &scripted{}
	d := sink.NewDirect(w)
	for _, line := range []string{"one", "", "two\n", "three\n"} {
		d.Write([]byte(line))
	}
	if got, want := w.got.String(), "one\ntwo\nthree\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := d.Stats(); s.Emitted != 3 {
		t.Errorf("Emitted = %d, want 3: an empty write is no event", s.Emitted)
	}
}

// A flaky writer fails every few calls, in each way in turn.
type flaky struct {
	calls int
	got   bytes.Buffer
}

func (f *flaky) Write(p []byte) (int, error) {
	f.calls++
	n, err := len(p), error(nil)
	switch f.calls % 11 {
	case 2:
		n, err = len(p)/2, syscall.ENOSPC
	case 4:
		n, err = len(p)-1, syscall.EIO
	case 6:
		n = len(p) / 3
	case 8:
		n, err = 1, syscall.EINTR
	case 10:
		n, err = 0, syscall.EPIPE
	}
	f.got.Write(p[:n])
	return n, err
}
