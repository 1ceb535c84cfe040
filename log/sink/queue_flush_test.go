package sink_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestFlushWaitsOnlyForEarlierLines checks that Flush waits only for lines that were queued before it.
func TestFlushWaitsOnlyForEarlierLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		q := sink.NewQueue(w, sink.QueueOptions{})
		if err := q.Flush(t.Context()); err != nil {
			t.Errorf("with nothing to write: %v", err)
		}
		w.stall()
		q.Write([]byte("before\n"))
		time.AfterFunc(time.Second, w.goOn)
		began := time.Now()
		if err := q.Flush(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("Flush: %v after %v, want nil after 1s", err, time.Since(began))
		}
		if got := w.output(); got != "before\n" {
			t.Errorf("got %q", got)
		}

		w.stall()
		q.Write([]byte("one\n"))
		q.Write([]byte("two\n"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "with 2 events to write") {
			t.Errorf("behind a writer that stands still: %v", err)
		}
		w.goOn()
		closeQueue(t, q)
		if err := q.Flush(t.Context()); err != nil {
			t.Errorf("after Close: %v", err)
		}
		checkLines(t, w.output(), q.Stats())
	})
}

// TestFatalIsFlushed checks that a fatal event, and all events before it, are
// written when its call returns, unless the writer blocks for more than a
// second.
func TestFatalIsFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		q := sink.NewQueue(w, sink.QueueOptions{Linger: time.Minute})
		logger := log.New(q, log.Options{})
		logger.Info("before").Send()
		logger.Fatal("the end").Send()
		if got := w.output(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "the end") {
			t.Errorf("got %q", got)
		}
		w.stall()
		began := time.Now()
		logger.Fatal("the very end").Send()
		if took := time.Since(began); took != time.Second {
			t.Errorf("a fatal event held its caller up for %v, want 1s", took)
		}
		w.goOn()
		closeQueue(t, q)
		checkLines(t, w.output(), q.Stats())
	})
}

// TestLingerCollectsLines checks that the writer waits for more lines for the time of
// Linger, and stops waiting when there are enough or a caller flushes.
func TestLingerCollectsLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 400 << 10, Linger: time.Second})
		write := func(n int) {
			q.Write([]byte(strings.Repeat("x", n) + "\n"))
			synctest.Wait()
		}
		written := func(when string, want uint64) {
			t.Helper()
			synctest.Wait()
			if got := q.Stats().Written; got != want {
				t.Errorf("%s: %d lines are written, want %d", when, got, want)
			}
		}
		write(10)
		time.Sleep(999 * time.Millisecond)
		write(10)
		written("after 0.999 s", 0)
		time.Sleep(time.Millisecond)
		written("after 1 s", 2)

		write(10)
		written("at once", 2)
		if err := q.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		written("after Flush", 3)

		for range 4 {
			write(15_000)
		}
		written("with more than an eighth of the queue", 6)

		write(10)
		closeQueue(t, q)
		written("after Close", 8)
		checkLines(t, w.output(), q.Stats())
	})
}

// TestQueueWaitsForPassingErrors simulates a disk that is full for ten seconds, and
// other errors that pass: no line is lost or repeated, and writing continues
// within 0.5 s.
func TestQueueWaitsForPassingErrors(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.ENOBUFS, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN} {
		t.Run(fault.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFaulty()
				var full atomic.Bool
				var calls atomic.Int64
				q := sink.NewQueue(writerFunc(func(p []byte) (int, error) {
					if calls.Add(1); full.Load() {
						return 0, fault
					}
					return w.Write(p)
				}), sink.QueueOptions{})
				want := "before\nwhile it fails\nwhile it fails\nwhile it fails\nafter\n"
				q.Write([]byte("before\n"))
				synctest.Wait()
				w.fail(step{3, fault})
				for range 3 {
					q.Write([]byte("while it fails\n"))
				}
				synctest.Wait() // three bytes of the first of them were written
				full.Store(true)
				time.Sleep(10 * time.Second)
				if s := q.Stats(); s.Waiting != 3 || fault != syscall.EAGAIN && s.LastError != fault {
					t.Errorf("Stats = %+v, want 3 waiting for %v", s, fault)
				}
				if fault != syscall.EAGAIN && calls.Load() > 50 {
					t.Errorf("%d attempts in ten seconds", calls.Load())
				}
				full.Store(false)
				time.Sleep(500 * time.Millisecond)
				if s := q.Stats(); s.Waiting != 0 {
					t.Errorf("%d events wait 0.5 s later", s.Waiting)
				}
				q.Write([]byte("after\n"))
				closeQueue(t, q)
				if got := w.output(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				checkLines(t, w.output(), q.Stats())
			})
		})
	}
}
