package sink_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
)

// TestFallbackTakesWholeLines makes the first writer fail for good at every
// offset, in half of the cases after an error that passes. Each line must be
// whole in one of the two writers, and the second must not get a fragment.
func TestFallbackTakesWholeLines(t *testing.T) {
	synctest.Test(t, testFallbackTakesWholeLines) // waiting for a pipe takes no time here
}

func testFallbackTakesWholeLines(t *testing.T) {
	lines := []string{"alpha-1\n", "bravo-22\n", "charlie-333\n", "delta-4\n"}
	all := strings.Join(lines, "")
	for passing := range len(all) {
		for failing := range len(all) {
			first := &scripted{steps: []step{{passing, syscall.EAGAIN}, {failing, syscall.EPIPE}}}
			second := &scripted{steps: []step{{3, syscall.EAGAIN}, {2, nil}}}
			f := sink.NewFallback(first, second)
			d := sink.NewDirect(f)
			if n, err := d.Write([]byte(all)); n != len(all) || err != nil {
				t.Fatalf("failing after %d and %d bytes: Write = %d, %v", passing, failing, n, err)
			}
			whole := strings.LastIndexByte(first.got.String(), '\n') + 1
			if got := first.got.String()[:whole] + second.got.String(); got != all {
				t.Fatalf("failing after %d and %d bytes: first %q, second %q", passing, failing, first.got.String(), second.got.String())
			}
			if got, want := f.Diverted(), strings.Count(second.got.String(), "\n"); int(got) != want {
				t.Fatalf("failing after %d and %d bytes: Diverted = %d, want %d", passing, failing, got, want)
			}
		}
	}
}

// The first writer is tried again once a second.
func TestFallbackReturnsToFirstWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls int
		broken := true
		var first, second bytes.Buffer
		f := sink.NewFallback(writerFunc(func(p []byte) (int, error) {
			if calls++; broken {
				return 0, syscall.EPIPE
			}
			return first.Write(p)
		}), &second)
		for range 31 { // three seconds
			write(t, f, "x\n")
			time.Sleep(100 * time.Millisecond)
		}
		if calls != 4 {
			t.Errorf("the first was tried %d times in three seconds, want 4", calls)
		}
		broken = false
		time.Sleep(time.Second)
		write(t, f, "again\n")
		if got := first.String(); got != "again\n" {
			t.Errorf("the first has %q, want %q", got, "again\n")
		}
		if got, want := second.String(), strings.Repeat("x\n", 31); got != want {
			t.Errorf("the second has %q, want %q", got, want)
		}
	})
}

// TestFallbackEndsTornLine makes the first writer fail for good at every
// offset, and work again later: no other line may be joined to the fragment in
// it.
func TestFallbackEndsTornLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const torn, next = "alpha-1\nbravo-22\n", "charlie-333\n"
		for offset := range len(torn) {
			first := &scripted{steps: []step{{offset, syscall.EPIPE}, {0, syscall.EAGAIN}}}
			var second bytes.Buffer
			d := sink.NewDirect(sink.NewFallback(first, &second))
			write(t, d, torn)
			time.Sleep(time.Second)
			write(t, d, next)
			whole := strings.LastIndexByte(torn[:offset], '\n') + 1
			want := torn[:offset]
			if offset > whole {
				want += "\n"
			}
			if got := first.got.String(); got != want+next {
				t.Errorf("failing after %d bytes: the first has %q, want %q", offset, got, want+next)
			}
			if got := second.String(); got != torn[whole:] {
				t.Errorf("failing after %d bytes: the second has %q, want %q", offset, got, torn[whole:])
			}
		}
	})
}

// TestFallbackReopensItsFile closes the descriptor of a File that is the first writer.
// The File must reopen and be used again.
func TestFallbackReopensItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var second bytes.Buffer
		first := &reopening{err: os.ErrClosed}
		f := sink.NewFallback(first, &second)
		write(t, f, "one\n")
		time.Sleep(time.Second)
		write(t, f, "two\n")
		first.there = true
		time.Sleep(time.Second)
		write(t, f, "three\n")
		if got := second.String(); got != "one\ntwo\n" {
			t.Errorf("the second has %q", got)
		}
		if got := first.got.String(); got != "three\n" {
			t.Errorf("the first has %q", got)
		}
	})
}

// A reopening writer fails until Reopen is called while it can be opened.
type reopening struct {
	err   error
	there bool
	got   bytes.Buffer
}

func (r *reopening) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.got.Write(p)
}

func (r *reopening) Reopen() error {
	if !r.there {
		return os.ErrNotExist
	}
	r.err = nil
	return nil
}

// TestLineWithoutAnyWriterIsLost checks that a line which neither writer takes is counted
// as lost, and that the next lines are written.
func TestLineWithoutAnyWriterIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &scripted{steps: []step{{3, syscall.EPIPE}}}
		second := &scripted{steps: []step{{2, syscall.EBADF}}}
		d := sink.NewDirect(sink.NewFallback(first, second))
		if _, err := d.Write([]byte("lost line\n")); !errors.Is(err, syscall.EBADF) {
			t.Errorf("Write: %v, want %v", err, syscall.EBADF)
		}
		time.Sleep(time.Second)
		d.Write([]byte("kept\n"))
		if got := first.got.String(); !strings.HasSuffix(got, "\nkept\n") {
			t.Errorf("the first has %q", got)
		}
		if s := d.Stats(); s.Written != 1 || s.Lost() != 1 || identity(s) != nil {
			t.Errorf("Stats = %+v, want one written and one lost", s)
		}
	})
}

// TestFallbackReplacesClosedPipe closes the read end of a pipe under load: each line was
// read, is in the fallback, or was in the pipe when its reader ended.
func TestFallbackReplacesClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	do(t, err)
	defer w.Close()
	path := filepath.Join(t.TempDir(), "fallback.log")
	f := sink.NewFallback(sink.Std(w), openFile(t, path, sink.FileOptions{}))
	q := sink.NewQueue(f, sink.QueueOptions{WhenFull: sink.Block})
	var read bytes.Buffer
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		part := make([]byte, 100)
		for read.Len() < 50_000 {
			n, _ := r.Read(part)
			read.Write(part[:n])
		}
		r.Close()
	}()
	flood(t, q, 4, 2500)
	<-gone
	began := time.Now()
	waittest.Await(t, "the fallback", func() bool {
		q.Write([]byte("[more]\n"))
		return f.Diverted() > 0
	})
	if took := time.Since(began); soak && took > time.Second {
		t.Errorf("no fallback within %v", took)
	}
	closeQueue(t, q)
	s := q.Stats()
	if s.Written != s.Emitted || s.Lost() != 0 {
		t.Errorf("Stats = %+v, want all written", s)
	}
	fallen, err := os.ReadFile(path)
	do(t, err)
	diverted := f.Diverted()
	if n := wholeCount(t, string(fallen)); n != diverted {
		t.Errorf("%d whole lines in the fallback, Diverted = %d", n, diverted)
	}
	passed := wholeCount(t, read.String()[:strings.LastIndexByte(read.String(), '\n')+1])
	const pipeHolds, shortest = 64 << 10, len("[more]\n")
	if unread := s.Emitted - passed - diverted; unread > pipeHolds/uint64(shortest) {
		t.Errorf("%d emitted, %d read, %d diverted: %d are more than the pipe holds", s.Emitted, passed, diverted, unread)
	}
}

// wholeCount counts lines in brackets, and fails for any other line.
func wholeCount(t *testing.T, text string) (whole uint64) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]\n") || strings.Count(line, "[") > 1 {
			t.Errorf("not a whole line: %.80q", line)
		}
		whole++
	}
	return whole
}

func TestFallbackUnwrapsToFirstWriter(t *testing.T) {
	var first, second bytes.Buffer
	if got := sink.NewFallback(&first, &second).Unwrap(); got != &first {
		t.Errorf("Unwrap = %v, want the first writer", got)
	}
}
