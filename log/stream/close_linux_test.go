package stream_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log/stream"
)

// TestCloseEndsWithStalledDisk closes a Sink whose disk does not respond: the cursor is a named pipe
// without a reader. Another call of Close ends as well.
func TestCloseEndsWithStalledDisk(t *testing.T) {
	folder := t.TempDir()
	out := spilled(t, new(server), stream.Spill{Folder: folder})
	cursors, err := filepath.Glob(filepath.Join(folder, "*", "cursor"))
	if err != nil || len(cursors) != 1 {
		t.Fatalf("cursors %q, %v", cursors, err)
	}
	if err := errors.Join(os.Remove(cursors[0]), syscall.Mkfifo(cursors[0], 0o600)); err != nil {
		t.Fatal(err)
	}
	emit(t, out, 10)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- out.Close(ctx) }()
		select {
		case err := <-ended:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Close: %v, want %v", err, context.DeadlineExceeded)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Close waits for the disk")
		}
	}
	if st := out.Stats(); st.Emitted != st.Written+st.Waiting+st.Lost() {
		t.Errorf("%+v", st)
	}
	pipe, err := os.OpenFile(cursors[0], os.O_RDWR, 0) // the disk responds again
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := out.Close(t.Context()); err != nil {
		t.Errorf("Close with a disk that responds: %v", err)
	}
}
