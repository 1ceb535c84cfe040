package sink_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestQueueChangesSizeAndPolicy makes a full queue larger, then smaller, and changes its policy.
func TestQueueChangesSizeAndPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 16 << 10, WhenFull: sink.Drop})
		line := []byte(strings.Repeat("x", 999) + "\n")
		fill := func() (lines int) {
			for {
				if _, err := q.Write(line); err != nil {
					return lines
				}
				lines++
			}
		}
		small := fill()
		q.Change(sink.QueueOptions{Bytes: 160 << 10, WhenFull: sink.Drop}, log.Options{})
		if more := fill(); more < 8*small {
			t.Errorf("%d lines fit, then %d more in a queue of ten times the size", small, more)
		}
		q.Change(sink.QueueOptions{Bytes: 16 << 10, WhenFull: sink.Block}, log.Options{})
		waits := make(chan error, 1)
		go func() {
			_, err := q.Write(line)
			waits <- err
		}()
		synctest.Wait()
		if len(waits) > 0 {
			t.Error("a line was accepted or dropped by a full queue that blocks")
		}
		w.goOn()
		if err := <-waits; err != nil {
			t.Errorf("the line that waited: %v", err)
		}
		closeQueue(t, q)
		if s := q.Stats(); s.Written+s.Lost() != s.Emitted || s.Lost() != 2 {
			t.Errorf("got %+v, want 2 lines dropped and the others written", s)
		}
	})
}

// TestQueueChangesItsHeartbeat changes the interval, and the form, of the events that a
// sleeping queue writes itself.
func TestQueueChangesItsHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		q := sink.NewQueue(w, sink.QueueOptions{Heartbeat: time.Hour})
		log.New(q, log.Options{Namespace: "before"}).Info("event").Send()
		time.Sleep(time.Second)
		q.Change(sink.QueueOptions{Heartbeat: time.Minute}, log.Options{Namespace: "after"})
		time.Sleep(time.Minute + time.Second)
		if got := w.output(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"namespace":"after","event":"log totals"`) {
			t.Errorf("got\n%swant the event and the totals with the new namespace", got)
		}
		q.Change(sink.QueueOptions{}, log.Options{})
		closeQueue(t, q)
	})
}

// TestRedirectLosesNoLine replaces a queue while goroutines write to it, some of which wait for
// space. Each line is written once and counted once.
func TestRedirectLosesNoLine(t *testing.T) {
	for _, policy := range []sink.Policy{sink.Shed, sink.Block} {
		t.Run(policy.String(), func(t *testing.T) {
			const writers, lines = 8, 2000
			var before, after bytes.Buffer
			q := sink.NewQueue(&before, sink.QueueOptions{WhenFull: policy}) // takes all lines if the writer is late
			if policy == sink.Block {
				q.Change(sink.QueueOptions{Bytes: 4 << 10, WhenFull: policy}, log.Options{})
			}
			next := sink.NewQueue(&after, sink.QueueOptions{WhenFull: policy})
			var running sync.WaitGroup
			half := make(chan struct{}, writers)
			for w := range writers {
				running.Go(func() {
					for i := range lines {
						if i == lines/2 {
							half <- struct{}{}
						}
						if _, err := fmt.Fprintf(q, "%d %d\n", w, i); err != nil {
							t.Errorf("line %d of %d: %v", i, w, err)
						}
					}
				})
			}
			<-half
			q.Redirect(next)
			closeQueue(t, q)
			running.Wait()
			closeQueue(t, next)
			seen := map[string]int{}
			for line := range strings.Lines(before.String() + after.String()) {
				seen[line]++
			}
			for line, n := range seen {
				if n != 1 {
					t.Errorf("%q is written %d times", line, n)
				}
			}
			a, b := q.Stats(), next.Stats()
			if len(seen) != writers*lines || a.Written+b.Written != writers*lines || a.Lost()+b.Lost() != 0 || a.Waiting != 0 {
				t.Errorf("%d lines are written of %d; counts %+v and %+v", len(seen), writers*lines, a, b)
			}
			if b.Written == 0 {
				t.Error("no line went to the next queue")
			}
		})
	}
}

// TestQueueRedirectFreesCallers redirects a queue whose writer has stalled. A caller that
// waits for space goes on, and its line is in the next queue only.
func TestQueueRedirectFreesCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 1, WhenFull: sink.Block})
		q.Write([]byte("first\n"))
		waits := make(chan error, 1)
		go func() {
			_, err := q.Write([]byte("second\n"))
			waits <- err
		}()
		synctest.Wait()
		var text bytes.Buffer
		next := sink.NewQueue(&text, sink.QueueOptions{})
		q.Redirect(next)
		if err := <-waits; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if q.Close(ctx) == nil {
			t.Error("Close returned no error although the first line is lost")
		}
		closeQueue(t, next)
		if text.String() != "second\n" {
			t.Errorf("the next queue wrote %q", text.String())
		}
		if a, b := q.Stats(), next.Stats(); a.Emitted != 1 || a.Lost() != 1 || b.Emitted != 1 || b.Written != 1 {
			t.Errorf("counts %+v and %+v", a, b)
		}
		w.goOn()
	})
}

// TestFileChangesItsRotation turns rotation on and off, and changes the number of kept files.
func TestFileChangesItsRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		f := openFile(t, path, sink.FileOptions{})
		write(t, f, "1234\n", "5678\n")
		do(t, f.Change(sink.FileOptions{MaxBytes: 10}))
		write(t, f, "9012\n", "3456\n", "7890\n")
		if got := len(putAside(t, path)); got != 2 {
			t.Errorf("%d files were rotated, want 2", got)
		}
		do(t, f.Change(sink.FileOptions{MaxBytes: 10, Keep: 1}))
		synctest.Wait()
		if got := len(putAside(t, path)); got != 1 {
			t.Errorf("%d rotated files are kept, want 1", got)
		}
		do(t, f.Change(sink.FileOptions{}))
		write(t, f, "1\n", "2\n", "3\n", "4\n", "5\n", "6\n")
		if got := len(putAside(t, path)); got != 1 || read(t, path) != "7890\n1\n2\n3\n4\n5\n6\n" {
			t.Errorf("%d rotated files, and the file holds %q", got, read(t, path))
		}
		do(t, f.Close())
		if f.Change(sink.FileOptions{}) == nil {
			t.Error("a closed file was changed")
		}
	})
}
