package sink_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

func init() { processes["unread"] = unreadProcess }

// unreadProcess logs more to stdout than a pipe holds, closes the queue with a
// timeout, and writes the counts to a file.
func unreadProcess(args []string) error {
	q := sink.NewQueue(sink.NewFallback(sink.Std(os.Stdout), os.Stderr), sink.QueueOptions{WhenFull: sink.Block})
	for i := range 5000 {
		q.WriteEvent(log.LevelInfo, appendEvent(nil, 0, i, 200))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := q.Close(ctx); err == nil {
		return fmt.Errorf("Close gave up nothing")
	}
	s := q.Stats()
	return os.WriteFile(args[0], fmt.Appendf(nil, "%d written, %d lost", s.Written, s.Lost()), 0o600)
}

// TestUnreadPipeAgreesWithStats reads the stdout of a process after its end.
// The pipe holds exactly the events that Stats count as written.
func TestUnreadPipeAgreesWithStats(t *testing.T) {
	r, w, err := os.Pipe()
	do(t, err)
	defer r.Close()
	report := filepath.Join(t.TempDir(), "report")
	cmd := process(t, "unread", report)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	err = cmd.Run()
	w.Close()
	do(t, err)
	got, err := io.ReadAll(r)
	do(t, err)
	lines := bytes.Count(got, []byte{'\n'})
	text, err := os.ReadFile(report)
	do(t, err)
	if want := fmt.Sprintf("%d written, %d lost", lines, 5000-lines); string(text) != want || lines == 0 {
		t.Errorf("the process says %s; the pipe has %s", text, want)
	}
}
