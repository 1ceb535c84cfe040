package sink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log/sink"
)

// over returns a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// wantLeft checks that Close gave up with so many events, and that Stats count
// them as closed.
func wantLeft(t *testing.T, q *sink.Queue, err error, left uint64) {
	t.Helper()
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fmt.Sprintf(" %d events", left)) {
		t.Errorf("Close = %v, want %v and %d events", err, context.Canceled, left)
	}
	s := q.Stats()
	if err := identity(s); err != nil || s.Waiting != 0 || s.WaitingBytes != 0 || s.Lost() != left {
		t.Errorf("%v, Stats = %+v, want %d lost and none waiting", err, s, left)
	}
}

// TestQueueCloseIsFinal closes a queue during a write that blocks, and then
// lets the write end: Stats must not change, and no other write may begin.
func TestQueueCloseIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGated()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 1 << 10, WhenFull: sink.Block})
		q.Write([]byte("one\n"))
		<-w.began
		accepted := make(chan uint64)
		go func() {
			n := uint64(1)
			for ; ; n++ { // until Close, it waits for space
				if _, err := q.Write([]byte(strings.Repeat("x", 99) + "\n")); err != nil {
					break
				}
			}
			accepted <- n
		}()
		flushed := make(chan error)
		go func() { flushed <- q.Flush(context.Background()) }()
		synctest.Wait()

		err := q.Close(over())
		s := q.Stats()
		left := <-accepted
		if err := <-flushed; err != nil {
			t.Errorf("Flush = %v after every event was dropped", err)
		}
		message := fmt.Sprintf(" %d events", left)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), message) {
			t.Errorf("Close = %v, want %v and%s", err, context.Canceled, message)
		}
		if identity(s) != nil || s.Lost() != left+1 || s.Waiting != 0 || s.Written != 0 {
			t.Errorf("Stats = %+v, want %d lost and the one that waited for room", s, left)
		}
		time.Sleep(time.Minute)
		if later := q.Stats(); !reflect.DeepEqual(later, s) {
			t.Errorf("a minute later, Stats = %+v, want %+v", later, s)
		}
		w.end <- struct{}{}
		synctest.Wait()
		if later := q.Stats(); !reflect.DeepEqual(later, s) {
			t.Errorf("after the write, Stats = %+v, want %+v", later, s)
		}
		if err := q.Close(context.Background()); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("a second Close = %v, want an error with%s", err, message)
		}
	})
}

// TestQueueCloseCountsTheLastWrite closes a queue during a write that ends soon
// after the context of Close: its line counts as written.
func TestQueueCloseCountsTheLastWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got bytes.Buffer
		w := writerFunc(func(p []byte) (int, error) {
			time.Sleep(200 * time.Millisecond)
			return got.Write(p)
		})
		q := sink.NewQueue(w, sink.QueueOptions{Heartbeat: time.Second})
		q.Write([]byte("one\n"))
		synctest.Wait() // in a write
		for range 10 {
			q.Write([]byte("more\n"))
		}
		wantLeft(t, q, q.Close(over()), 10)
		if q.Stats().Written != 1 || got.String() != "one\n" {
			t.Errorf("Stats = %+v, the writer has %q; want one line", q.Stats(), &got)
		}
	})
}

// TestQueueCloseEndsWaits closes a queue whose writer waits for space in a
// pipe.
func TestQueueCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := sink.NewQueue(writerFunc(func([]byte) (int, error) { return 0, syscall.EAGAIN }), sink.QueueOptions{})
		q.Write([]byte("one\n"))
		synctest.Wait()
		q.Write([]byte("two\n"))
		began := time.Now()
		wantLeft(t, q, q.Close(over()), 2)
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v, though nothing was written", took)
		}
	})
}
