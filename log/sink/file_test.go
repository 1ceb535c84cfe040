package sink_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log/sink"
)

var (
	_ io.Writer = (*sink.File)(nil)
	_ io.Writer = (*sink.Fallback)(nil)
)

// problems collects the errors of OnError.
type problems struct {
	mu   sync.Mutex
	errs []error // guarded by mu
}

func (p *problems) add(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errs = append(p.errs, err)
}

func (p *problems) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.errs)
}

// openFile opens a File that is closed at the end of the test. Its errors fail
// the test, unless o has an OnError.
func openFile(t *testing.T, path string, o sink.FileOptions) *sink.File {
	t.Helper()
	if o.OnError == nil {
		o.OnError = func(err error) { t.Errorf("OnError: %v", err) }
	}
	f, err := sink.OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeFile(t, f) })
	return f
}

func closeFile(t *testing.T, f *sink.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func write(t *testing.T, w io.Writer, lines ...string) {
	t.Helper()
	text := strings.Join(lines, "")
	if n, err := io.WriteString(w, text); n != len(text) || err != nil {
		t.Fatalf("Write(%.40q) = %d, %v; want %d, nil", text, n, err, len(text))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got := read(t, path); got != want {
		t.Errorf("%s holds %.200q, want %.200q", filepath.Base(path), got, want)
	}
}

// do fails the test for an error of an operation on files outside the sink.
func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileNoticesChangesOfItsPath renames, deletes and truncates a log. The File
// must notice it within a second, or immediately after Reopen.
func TestFileNoticesChangesOfItsPath(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		now    string // content of path after the next line
		old    string // content of path+".old" after it
	}{
		"renamed":   {func(p string) error { return os.Rename(p, p+".old") }, "three\n", "one\ntwo\n"},
		"deleted":   {os.Remove, "three\n", ""},
		"truncated": {func(p string) error { return os.Truncate(p, 0) }, "two\nthree\n", ""},
		"replaced": {func(p string) error {
			return errors.Join(os.Rename(p, p+".old"), os.WriteFile(p, []byte("new\n"), 0o600))
		}, "new\nthree\n", "one\ntwo\n"},
		"replaced by a torn one": {func(p string) error {
			return errors.Join(os.Rename(p, p+".old"), os.WriteFile(p, []byte("new\nne"), 0o600))
		}, "new\nne\nthree\n", "one\ntwo\n"},
	} {
		for _, told := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, told %v", name, told), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // a second takes no time here
					path := filepath.Join(t.TempDir(), "weir.log")
					f := openFile(t, path, sink.FileOptions{})
					write(t, f, "one\n")
					do(t, c.change(path))
					write(t, f, "two\n") // within the second
					if told {
						do(t, f.Reopen())
					} else {
						time.Sleep(time.Second)
					}
					write(t, f, "three\n")
					wantFile(t, path, c.now)
					if c.old != "" {
						wantFile(t, path+".old", c.old)
					}
				})
			})
		}
	}
}

// TestFileIsKeptIfReopeningFails makes the path invalid for a while: the File keeps
// its file, reports the error once a second, and tries again.
func TestFileIsKeptIfReopeningFails(t *testing.T) {
	for name, c := range map[string]struct{ lock, unlock func(path string) error }{
		"a folder there": {
			func(path string) error { return os.Mkdir(path, 0o700) },
			os.Remove,
		},
		"its folder read-only": {
			func(path string) error { return os.Chmod(filepath.Dir(path), 0o500) },
			func(path string) error { return os.Chmod(filepath.Dir(path), 0o700) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() == 0 && strings.Contains(name, "read-only") {
				t.Skip("root may write to every folder")
			}
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "weir.log")
				var told problems
				f := openFile(t, path, sink.FileOptions{OnError: told.add})
				write(t, f, "one\n")
				do(t, os.Rename(path, path+".old"))
				do(t, c.lock(path))
				if err := f.Reopen(); err == nil {
					t.Error("Reopen: no error")
				}
				want := "one\n"
				for i := range 30 { // three seconds
					line := fmt.Sprintf("line %d\n", i)
					want += line
					write(t, f, line)
					time.Sleep(100 * time.Millisecond)
				}
				wantFile(t, path+".old", want)
				if n := told.count(); n < 2 || n > 3 {
					t.Errorf("OnError was called %d times in 3 s: %v", n, told.errs)
				}
				do(t, c.unlock(path))
				time.Sleep(time.Second)
				write(t, f, "last\n")
				wantFile(t, path+".old", want)
				wantFile(t, path, "last\n")
			})
		})
	}
}

// TestFileMadeReadOnlyStaysOpen removes the write permission from an open file, which
// must stay open.
func TestFileMadeReadOnlyStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		f := openFile(t, path, sink.FileOptions{})
		write(t, f, "one\n")
		do(t, os.Chmod(path, 0o400))
		time.Sleep(time.Second)
		write(t, f, "two\n")
		wantFile(t, path, "one\ntwo\n")
	})
}

// TestFileClosesTornLine opens a file whose last line has no end, as after
// SIGKILL.
func TestFileClosesTornLine(t *testing.T) {
	for before, want := range map[string]string{
		"":           "next\n",
		"whole\n":    "whole\nnext\n",
		"whole\nhal": "whole\nhal\nnext\n",
	} {
		path := filepath.Join(t.TempDir(), "weir.log")
		do(t, os.WriteFile(path, []byte(before), 0o600))
		f := openFile(t, path, sink.FileOptions{})
		wantFile(t, path, before)
		write(t, f, "next\n")
		wantFile(t, path, want)
	}
}

// TestHalfLineMovesToTheNewFile renames the file when half of a line is written: the
// line must be whole in the new file.
func TestHalfLineMovesToTheNewFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted":   os.Remove,
		"renamed":   func(path string) error { return os.Rename(path, path+".old") },
		"truncated": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "weir.log")
			f := openFile(t, path, sink.FileOptions{})
			write(t, f, "before\nthe first half")
			do(t, change(path))
			write(t, f, ", the second\n", "after\n")
			wantFile(t, path, "the first half, the second\nafter\n")
		})
	}
	path := filepath.Join(t.TempDir(), "weir.log")
	f := openFile(t, path, sink.FileOptions{})
	write(t, f, "the first half")
	do(t, f.Reopen())
	write(t, f, ", the second\n")
	wantFile(t, path, "the first half, the second\n")
}

func TestClosedFileRefusesLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir.log")
	f := openFile(t, path, sink.FileOptions{MaxBytes: 100, Fsync: time.Hour})
	write(t, f, "one\n")
	closeFile(t, f)
	closeFile(t, f)
	if n, err := f.Write([]byte("two\n")); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write = %d, %v; want 0, %v", n, err, os.ErrClosed)
	}
	if err := f.Reopen(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Reopen = %v, want %v", err, os.ErrClosed)
	}
	wantFile(t, path, "one\n")
}

func TestOpenFileReportsMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nowhere", "weir.log")
	if _, err := sink.OpenFile(path, sink.FileOptions{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("OpenFile: %v", err)
	}
}

// TestLinesStayWholeInAnyOrder does all operations in an order that a seed decides: every
// line must be whole in exactly one of the files, and in order.
func TestLinesStayWholeInAnyOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rounds := 3
	if soak {
		rounds = 200
	}
	for round := range rounds {
		if !fileInAnyOrder(t, seed+uint64(round)) {
			t.Fatalf("with the seed %d", seed+uint64(round))
		}
	}
}

func fileInAnyOrder(t *testing.T, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 0))
	folder := t.TempDir()
	path := filepath.Join(folder, "weir.log")
	o := sink.FileOptions{MaxBytes: 200 + random.Int64N(2000), Gzip: random.IntN(2) == 0, Fsync: time.Duration(random.IntN(2)) * time.Millisecond}
	f := openFile(t, path, o)
	var emitted int
	for step := range 200 {
		switch random.IntN(12) {
		case 0: // as logrotate does
			if os.Rename(path, fmt.Sprintf("%s-%d", path, step)) == nil {
				do(t, f.Reopen())
			}
		case 1:
			do(t, f.Reopen())
		case 2: // another process with the same path
			closeFile(t, f)
			f = openFile(t, path, o)
		default:
			var batch []byte
			for range random.IntN(20) {
				batch = fmt.Appendf(batch, "[event %d of producer 0]%s\n", emitted, strings.Repeat("x", random.IntN(100)))
				emitted++
			}
			for len(batch) > 0 { // in pieces, as after a short write
				n := 1 + random.IntN(len(batch))
				write(t, f, string(batch[:n]))
				batch = batch[n:]
			}
		}
	}
	closeFile(t, f)
	return checkFiles(t, folder, emitted)
}

// checkFiles reads all files of a folder as the log of one producer: each event
// must be there once, whole, and after an earlier one in its file.
func checkFiles(t *testing.T, folder string, emitted int) bool {
	t.Helper()
	seen := make([]int, emitted)
	for _, path := range filesIn(t, folder) {
		last := -1
		for line := range strings.Lines(readPlain(t, path)) {
			var i int
			if _, err := fmt.Sscanf(line, "[event %d of producer 0]", &i); err != nil || !strings.HasSuffix(line, "\n") {
				t.Errorf("%s: torn: %.60q", filepath.Base(path), line)
				continue
			}
			if i <= last || i >= emitted {
				t.Errorf("%s: event %d of %d behind %d", filepath.Base(path), i, emitted, last)
				continue
			}
			seen[i]++
			last = i
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("event %d of %d is there %d times", i, emitted, n)
			break
		}
	}
	return !t.Failed()
}

func TestFileAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := openFile(t, filepath.Join(t.TempDir(), "weir.log"), sink.FileOptions{MaxBytes: 1 << 30, Daily: true, Fsync: time.Hour})
	line := append(bytes.Repeat([]byte("x"), 300), '\n')
	f.Write(line)
	if n := testing.AllocsPerRun(1000, func() { f.Write(line) }); n != 0 {
		t.Errorf("Write allocates %v times", n)
	}
}
