// Package streamtest has a log with a [stream.Destination], for tests with the servers of several
// kinds.
package streamtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// A Log is a log with one destination.
type Log struct {
	Sink   *stream.Sink
	Logger *log.Logger

	t       *testing.T
	mu      sync.Mutex // guards emitted
	emitted int
	stop    chan struct{}
	writers sync.WaitGroup
}

// Open opens a log. The end of the test closes it.
func Open(t *testing.T, to stream.Destination) *Log {
	t.Helper()
	s, err := stream.New(to, stream.Options{Queue: sink.QueueOptions{Bytes: 64 << 20, Linger: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	l := &Log{Sink: s, Logger: log.New(s, log.Options{Namespace: "test"}), t: t, stop: make(chan struct{})}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Close(ctx)
	})
	return l
}

// Emit logs n events, numbered over all calls from 1.
func (l *Log) Emit(n int) {
	for range n {
		l.mu.Lock()
		l.emitted++
		number := l.emitted
		l.mu.Unlock()
		l.Logger.Info("numbered").Int("n", number).Send()
	}
}

// Emitted returns the number of events that Emit and Load have logged.
func (l *Log) Emitted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.emitted
}

// Load logs events from several goroutines until End is called.
func (l *Log) Load() {
	for range 3 {
		l.writers.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				case <-time.After(2 * time.Millisecond):
					l.Emit(5)
				}
			}
		})
	}
}

// End ends the load.
func (l *Log) End() {
	close(l.stop)
	l.writers.Wait()
}

// Check checks the identity of the counts.
func (l *Log) Check() sink.Stats {
	l.t.Helper()
	s := l.Sink.Stats()
	if s.Emitted != s.Written+s.Lost()+s.Waiting {
		l.t.Errorf("%d events emitted, want %d delivered + %d dropped + %d waiting", s.Emitted, s.Written, s.Lost(),
			s.Waiting)
	}
	return s
}

// AwaitDelivery waits until all events are delivered or dropped.
func (l *Log) AwaitDelivery() sink.Stats {
	l.t.Helper()
	testkit.AwaitNil(l.t, "delivery", func() error {
		if s := l.Check(); s.Waiting > 0 {
			return fmt.Errorf("%d of %d events wait; last error: %v", s.Waiting, s.Emitted, s.LastError)
		}
		return nil
	})
	return l.Check()
}

// AwaitReport waits until the event that reports dropped events is delivered. logged is the number
// of events that the test has logged. The queue writes this event in its own time.
func (l *Log) AwaitReport(logged uint64) {
	l.t.Helper()
	testkit.AwaitEqual(l.t, "events with the report of dropped events", func() uint64 { return l.Check().Emitted }, logged+1)
	l.AwaitDelivery()
}

// AwaitError waits until the last error contains a text.
func (l *Log) AwaitError(want string) {
	l.t.Helper()
	testkit.AwaitNil(l.t, "error", func() error {
		if err := l.Check().LastError; err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("%v, want %q", err, want)
		}
		return nil
	})
}
