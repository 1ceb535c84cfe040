//go:build linux

package sink_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

func init() { processes["stdout"] = stdoutProcess }

// TestStdWritesWholeLinesToPipe reads a pipe in packet mode, write by write: each write is whole
// lines, as many as a pipe keeps in one piece.
func TestStdWritesWholeLinesToPipe(t *testing.T) {
	var fds [2]int
	do(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_DIRECT))
	r, w := os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")
	defer r.Close()
	var batch []byte
	for i := range 100 {
		batch = appendEvent(batch, 0, i, 100+i)
	}
	batch = appendEvent(batch, 0, 100, 4096)
	out := sink.Std(w)
	go func() {
		defer w.Close()
		if n, err := out.Write(batch); n != len(batch) || err != nil {
			t.Errorf("Write = %d, %v; want %d, nil", n, err, len(batch))
		}
	}()
	var all bytes.Buffer
	writes := 0
	for packet := make([]byte, 1<<16); ; writes++ {
		n, err := r.Read(packet)
		if err == io.EOF {
			break
		}
		do(t, err)
		if all.Write(packet[:n]); n > 4096 || packet[n-1] != '\n' {
			t.Errorf("a write of %d bytes that ends in %q", n, packet[n-1])
		}
	}
	if !bytes.Equal(all.Bytes(), batch) {
		t.Error("other bytes were read than written")
	}
	if most := len(batch)/4096*2 + 1; writes > most {
		t.Errorf("%d writes of %d bytes, want at most %d", writes, len(batch), most)
	}
	if unwrapped := out.(interface{ Unwrap() io.Writer }).Unwrap(); unwrapped != w {
		t.Errorf("Unwrap = %v, want the file", unwrapped)
	}
}

// TestStdReturnsOtherFilesUnchanged checks that Std returns other files unchanged.
func TestStdReturnsOtherFilesUnchanged(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	do(t, err)
	defer f.Close()
	if got := sink.Std(f); got != f {
		t.Errorf("Std = %v, want the file", got)
	}
	terminal, err := os.OpenFile("/dev/null", os.O_WRONLY, 0) // a character device, like a terminal
	do(t, err)
	defer terminal.Close()
	if n, err := sink.Std(terminal).Write([]byte("one\ntwo\nthr")); n != 11 || err != nil {
		t.Errorf("Write = %d, %v; want 11, nil", n, err)
	}
}

// TestStdWritesQueuedTextsWhole queues texts of several lines, such as a greeting or a stack, for a pipe and for a
// terminal. Std writes each of them in several pieces.
func TestStdWritesQueuedTextsWhole(t *testing.T) {
	text := []byte(strings.Repeat("a", 3000) + "\n" + strings.Repeat("b", 5000) + "\n" + strings.Repeat("c", 10) + "\n")
	want := strings.Repeat(string(text), 3)
	r, pipe, err := os.Pipe()
	do(t, err)
	defer r.Close()
	terminal, err := os.OpenFile("/dev/null", os.O_WRONLY, 0) // a character device, like a terminal
	do(t, err)
	defer terminal.Close()
	for _, file := range []*os.File{pipe, terminal} {
		q := sink.NewQueue(sink.Std(file), sink.QueueOptions{})
		for range 3 {
			_, err := q.Write(text)
			do(t, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		do(t, q.Close(ctx))
		cancel()
		if s := q.Stats(); s.Written != 3 || s.Bytes != uint64(len(want)) {
			t.Errorf("%s: %d texts of %d bytes written, want 3 of %d", file.Name(), s.Written, s.Bytes, len(want))
		}
	}
	do(t, pipe.Close())
	got, err := io.ReadAll(r)
	do(t, err)
	if string(got) != want {
		t.Errorf("%d bytes were read that differ from the %d written", len(got), len(want))
	}
}

// stdoutProcess logs to stdout with stderr as fallback, and writes the counts
// to a file.
func stdoutProcess(args []string) error {
	signal.Ignore(syscall.SIGPIPE)
	q := sink.NewQueue(sink.NewFallback(sink.Std(os.Stdout), sink.Std(os.Stderr)), sink.QueueOptions{WhenFull: sink.Block})
	for i := range 20_000 {
		q.WriteEvent(log.LevelInfo, appendEvent(nil, 0, i, 200))
	}
	err := q.Close(context.Background())
	s := q.Stats()
	return os.WriteFile(args[0], fmt.Appendf(nil, "%v %d %d", err, s.Written, s.Lost()), 0o600)
}

// TestStderrReplacesStdoutWithoutReader ends the reader of a process's stdout under load: the
// process continues, and the remaining lines go to stderr.
func TestStderrReplacesStdoutWithoutReader(t *testing.T) {
	r, w, err := os.Pipe()
	do(t, err)
	var stderr bytes.Buffer
	report := filepath.Join(t.TempDir(), "report")
	cmd := process(t, "stdout", report)
	cmd.Stdout, cmd.Stderr = w, &stderr
	do(t, cmd.Start())
	w.Close()
	taken := make([]byte, 500_000)
	_, err = io.ReadFull(r, taken)
	do(t, err)
	r.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the process: %v", err)
	}
	if got, want := read(t, report), "<nil> 20000 0"; got != want {
		t.Errorf("error, written, lost: %s; want %s", got, want)
	}
	whole := taken[:bytes.LastIndexByte(taken, '\n')+1]
	read := readAll(t, bytes.NewReader(whole)).next[0]
	next := -1
	for line := range strings.Lines(stderr.String()) {
		_, i, err := parseEvent(line)
		do(t, err)
		if next >= 0 && i != next {
			t.Fatalf("stderr: event %d where %d has to be", i, next)
		}
		if next < 0 && (i < read || (i-read)*200 > 64<<10+4096) {
			t.Errorf("stderr begins with event %d, stdout's reader had %d: more is missing than a pipe holds", i, read)
		}
		next = i + 1
	}
	if next != 20_000 {
		t.Errorf("stderr ends before event %d, want 20000", next)
	}
}
