package stream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// spilled opens a Sink with a folder.
func spilled(t *testing.T, to stream.Destination, s stream.Spill) *stream.Sink {
	t.Helper()
	s.OnError = func(err error) { t.Error(err) }
	out, err := stream.New(to, stream.Options{Queue: sink.QueueOptions{WhenFull: sink.Block}, Spill: s})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// emit logs n lines.
func emit(t *testing.T, out *stream.Sink, n int) {
	t.Helper()
	for i := range n {
		line := fmt.Appendf(nil, `{"event":"e","created_at":"x","severity":2,"n":%d}`+"\n", i)
		if _, err := out.WriteEvent(log.LevelWarn, line); err != nil {
			t.Fatal(err)
		}
	}
}

// checkCounts checks the identity, and that the server's count agrees.
func checkCounts(t *testing.T, out *stream.Sink, servers ...*server) sink.Stats {
	t.Helper()
	s := out.Stats()
	stored := 0
	for _, server := range servers {
		stored += len(server.lines)
	}
	if s.Emitted != s.Written+s.Lost()+s.Waiting || s.Written != uint64(stored) {
		t.Errorf("%d lines are stored; the counts are %+v", stored, s)
	}
	return s
}

// closeNow closes a Sink whose server is not available.
func closeNow(t *testing.T, out *stream.Sink) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := out.Close(ctx); err != nil {
		t.Error(err)
	}
}

func always(err error) func(stream.Batch) error { return func(stream.Batch) error { return err } }

// uniqueLines returns the number of different ids of servers.
func uniqueLines(servers ...*server) int {
	var ids []string
	for _, s := range servers {
		ids = append(ids, s.ids...)
	}
	slices.Sort(ids)
	return len(slices.Compact(ids))
}

// TestSpillOutlivesItsSink closes a Sink whose server is not available. The next one delivers its lines first.
func TestSpillOutlivesItsSink(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "spill")
	down := &server{errs: always(errors.New("connection refused"))}
	out := spilled(t, down, stream.Spill{Folder: folder})
	emit(t, out, 1000)
	closeNow(t, out)
	s := checkCounts(t, out, down)
	if lines, bytes := out.Spilled(); s.Waiting != 1000 || lines != 1000 || bytes == 0 || s.LastError == nil {
		t.Errorf("%d lines of %d bytes are spilled; %+v", lines, bytes, s)
	}
	up := &server{errs: always(nil)}
	out = spilled(t, up, stream.Spill{Folder: folder})
	emit(t, out, 10)
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s = checkCounts(t, out, up)
	if s.Recovered != 1000 || s.Written != 1010 || s.Lost() != 0 || uniqueLines(up) != 1010 {
		t.Errorf("%d different lines, %+v", uniqueLines(up), s)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left in the folder: %v", left)
	}
	for i, line := range up.lines[:1000] {
		if !strings.Contains(string(line), fmt.Sprintf(`"n":%d}`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
}

// TestSinksMayShareSpill shares a folder between two Sinks, as during weir upgrade, while the server is
// down. The second one gets the lines of the first one when that has ended.
func TestSinksMayShareSpill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := &server{errs: always(errors.New("down"))}
	first := spilled(t, s, stream.Spill{Folder: folder})
	second := spilled(t, s, stream.Spill{Folder: folder})
	emit(t, first, 100)
	emit(t, second, 100)
	waittest.Await(t, "the lines on the disk", func() bool { n, _ := second.Spilled(); return n == 100 })
	if stats := second.Stats(); stats.Recovered != 0 {
		t.Errorf("the second has %+v while the first is open", stats)
	}
	closeNow(t, first)
	waittest.Await(t, "the lines of the first", func() bool { n, _ := second.Spilled(); return n == 200 })
	s.set(nil)
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
	stats := checkCounts(t, second, s)
	if stats.Recovered != 100 || stats.Written != 200 || uniqueLines(s) != 200 {
		t.Errorf("the second has %+v, the server %d lines", stats, uniqueLines(s))
	}
}

// TestSpillExpires closes a Sink whose server is not available for longer than the age of
// lines.
func TestSpillExpires(t *testing.T) {
	down := &server{errs: always(errors.New("down"))}
	out := spilled(t, down, stream.Spill{Folder: t.TempDir(), Age: 50 * time.Millisecond})
	emit(t, out, 100)
	waittest.Await(t, "the lines to expire", func() bool { return out.Stats().Lost() == 100 })
	closeNow(t, out)
	s := checkCounts(t, out, down)
	if want := []sink.Loss{{Level: log.LevelWarn, Reason: sink.Expired, Events: 100}}; !slices.Equal(s.Dropped, want) {
		t.Errorf("dropped: %+v, want %+v", s.Dropped, want)
	}
}

// TestSpillCountsRejectedLines delivers to a server that rejects some lines.
func TestSpillCountsRejectedLines(t *testing.T) {
	s := &server{errs: always(&stream.RejectedError{Lines: 1, Err: errors.New("too long")})}
	out := spilled(t, s, stream.Spill{Folder: t.TempDir()})
	emit(t, out, 10)
	waittest.Await(t, "a rejected line", func() bool { return out.Stats().Lost() > 0 })
	s.set(nil)
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	stats := checkCounts(t, out, s)
	if stats.Dropped[0].Reason != sink.Rejected || stats.Dropped[0].Level != log.LevelWarn || stats.Waiting != 0 {
		t.Errorf("%+v", stats)
	}
}

// TestFullSpillLosesNoLine fills the Spill, and then the queue. Callers wait until the server is
// available. No line is lost.
func TestFullSpillLosesNoLine(t *testing.T) {
	s := &server{errs: always(errors.New("down"))}
	out, err := stream.New(s, stream.Options{
		Queue: sink.QueueOptions{Bytes: 64 << 10, WhenFull: sink.Block},
		Spill: stream.Spill{Folder: t.TempDir(), Bytes: 256 << 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	const lines = 10_000
	emitted := make(chan struct{})
	go func() {
		emit(t, out, lines)
		close(emitted)
	}()
	waittest.Await(t, "the spill and the queue to fill", func() bool {
		_, bytes := out.Spilled()
		return bytes > 200<<10 && out.Stats().WaitingBytes > 20<<10
	})
	if n, bytes := out.Spilled(); bytes > 256<<10 || n >= lines {
		t.Errorf("%d lines, %d bytes are spilled", n, bytes)
	}
	s.set(nil)
	<-emitted
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if stats := checkCounts(t, out, s); stats.Written < lines || stats.Lost() != 0 || uniqueLines(s) != len(s.lines) {
		t.Errorf("%+v", stats)
	}
}

// TestRemovedFolderLosesNoLine removes the folder while lines are written.
func TestRemovedFolderLosesNoLine(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "spill")
	var asked atomic.Int64
	s := &server{errs: func(stream.Batch) error {
		asked.Add(1)
		return errors.New("down")
	}}
	out := spilled(t, s, stream.Spill{Folder: folder})
	emit(t, out, 100)
	waittest.Await(t, "the lines on the disk", func() bool { n, _ := out.Spilled(); return n == 100 })
	before := asked.Load()
	waittest.Await(t, "the reader, which opens the file", func() bool { return asked.Load() > before })
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	waittest.Await(t, "the folder", func() bool {
		emit(t, out, 1)
		_, err := os.Stat(folder)
		return err == nil
	})
	s.set(nil)
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if stats := checkCounts(t, out, s); stats.Waiting != 0 || stats.Lost() != 0 {
		t.Errorf("%+v", stats) // the reader had the file open
	}
}

// TestUnusableSpillFoldersAreRefused opens folders that cannot be used.
func TestUnusableSpillFoldersAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{file, filepath.Join(file, "below"), "/proc/spill"} {
		if _, err := stream.New(&server{}, stream.Options{Spill: stream.Spill{Folder: folder}}); err == nil {
			t.Errorf("%s is used", folder)
		}
	}
}
