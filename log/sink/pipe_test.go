//go:build unix

package sink_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestFullPipeLosesNoByte writes to a full pipe that another process made non-blocking, as
// happens with a shared stdout: os.File then returns EAGAIN.
func TestFullPipeLosesNoByte(t *testing.T) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")
	defer r.Close()
	if err := syscall.SetNonblock(fds[1], true); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for {
		n, err := w.WriteString("before\n")
		want.WriteString("before\n"[:n])
		if errors.Is(err, syscall.EAGAIN) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for room := []byte{'.'}; ; { // a pipe may still have space for less than a line
		if n, _ := w.Write(room); n == 0 {
			break
		}
		want.WriteByte('.')
	}

	d := sink.NewDirect(w)
	line := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	want.Write(line)
	done := make(chan error)
	go func() {
		_, err := d.WriteEvent(log.LevelInfo, line)
		w.Close()
		done <- err
	}()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("WriteEvent: %v", err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("read %d bytes, want %d, or others than were written", len(got), want.Len())
	}
}
