package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// A server is a Destination that stores lines, and fails as errs say.
type server struct {
	mu     sync.Mutex
	errs   func(b stream.Batch) error
	ids    []string
	lines  [][]byte
	closed bool
}

func (s *server) Deliver(ctx context.Context, b stream.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.errs(b)
	var rejected *stream.RejectedError
	stored := b.Count
	switch {
	case errors.As(err, &rejected):
		stored -= rejected.Lines
	case err != nil:
		return err
	}
	for i, line := range slices.Collect(bytes.Lines(b.Lines))[:stored] {
		s.ids = append(s.ids, string(b.AppendID(nil, i)))
		s.lines = append(s.lines, bytes.Clone(line))
	}
	return err
}

// set sets the error of later deliveries.
func (s *server) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = always(err)
}

func (s *server) Close() error {
	s.closed = true
	return nil
}

func open(t *testing.T, to stream.Destination) *stream.Sink {
	t.Helper()
	out, err := stream.New(to, stream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEachLineHasOneOutcome delivers lines to a server that is sometimes not available and rejects some
// lines. Each line has one outcome, and a number of its own.
func TestEachLineHasOneOutcome(t *testing.T) {
	attempts, rejected := 0, 0
	s := &server{errs: func(b stream.Batch) error {
		switch attempts++; attempts % 4 {
		case 1:
			return errors.New("connection refused")
		case 2:
			return &stream.UnavailableError{After: time.Millisecond, Err: errors.New("429")}
		case 3:
			rejected++
			return &stream.RejectedError{Lines: 1, Err: errors.New("too long")}
		}
		return nil
	}}
	out := open(t, s)
	const lines = 100
	for i := range lines {
		if _, err := out.WriteEvent(log.LevelWarn, fmt.Appendf(nil, "{\"n\":%d}\n", i)); err != nil {
			t.Fatal(err)
		}
		if i%40 == 0 {
			if err := out.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	stats := out.Stats()
	want := []sink.Loss{{Level: log.LevelWarn, Reason: sink.Rejected, Events: uint64(rejected)}}
	if stats.Emitted < lines || stats.Written != uint64(len(s.lines)) || !slices.Equal(stats.Dropped, want) ||
		stats.Waiting != 0 ||
		stats.Emitted != stats.Written+stats.Lost() {
		t.Errorf("the counts are %+v, want %d stored and %v", stats, len(s.lines), want)
	}
	slices.Sort(s.ids)
	if ids := slices.Compact(slices.Clone(s.ids)); len(ids) != len(s.lines) {
		t.Errorf("%d ids for %d lines", len(ids), len(s.lines))
	}
	if rejected == 0 || !s.closed {
		t.Errorf("rejected %d, closed %v", rejected, s.closed)
	}
}

// TestCloseGivesUpOnStalledServer closes a Sink whose server does not respond.
func TestCloseGivesUpOnStalledServer(t *testing.T) {
	s := &stalled{began: make(chan struct{}, 1)}
	out := open(t, s)
	for range 3 {
		out.WriteEvent(log.LevelInfo, []byte("{}\n"))
	}
	<-s.began
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := out.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close returns %v, want %v", err, context.DeadlineExceeded)
	}
	if stats := out.Stats(); stats.Emitted != 3 || stats.Lost() != 3 || stats.Waiting != 0 {
		t.Errorf("the counts are %+v, want 3 lost", stats)
	}
}

// TestCloseTriesAgain closes a Sink that waits for a server which is available again. The lines are
// delivered now, and not dropped at the end of the time for Close.
func TestCloseTriesAgain(t *testing.T) {
	for name, spill := range map[string]bool{"memory": false, "spill": true} {
		t.Run(name, func(t *testing.T) {
			var o stream.Options
			if spill {
				o.Spill.Folder = t.TempDir()
			}
			failed := make(chan struct{})
			s := &server{}
			s.errs = func(stream.Batch) error {
				s.errs = always(nil)
				close(failed)
				return &stream.UnavailableError{After: time.Hour, Err: errors.New("503")}
			}
			out, err := stream.New(s, o)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteEvent(log.LevelInfo, []byte("{}\n"))
			<-failed
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := out.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if len(s.lines) != 1 {
				t.Errorf("%d lines are delivered, want 1", len(s.lines))
			}
		})
	}
}

// A stalled is a Destination whose server does not respond.
type stalled struct{ began chan struct{} }

func (s *stalled) Deliver(ctx context.Context, _ stream.Batch) error {
	select {
	case s.began <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s *stalled) Close() error { return nil }

// TestUseReplacesTheDestination replaces a server that refuses everything. The new one gets the lines that wait.
func TestUseReplacesTheDestination(t *testing.T) {
	denied := make(chan struct{}, 1)
	before := &server{errs: func(stream.Batch) error {
		select {
		case denied <- struct{}{}:
		default:
		}
		return &stream.UnavailableError{Err: errors.New("401")}
	}}
	after := &server{errs: func(stream.Batch) error { return nil }}
	out := open(t, before)
	out.WriteEvent(log.LevelInfo, []byte("{}\n"))
	<-denied
	if err := out.Use(after); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !before.closed || len(before.lines) != 0 || len(after.lines) != 1 || !after.closed {
		t.Errorf("before: %+v, after: %+v", before, after)
	}
}

// TestUseEndsTheWait replaces a server that must not be asked again for an hour. The new one gets the line now.
func TestUseEndsTheWait(t *testing.T) {
	for name, spill := range map[string]bool{"memory": false, "spill": true} {
		t.Run(name, func(t *testing.T) {
			var o stream.Options
			if spill {
				o.Spill.Folder = t.TempDir()
			}
			failed := make(chan struct{})
			out, err := stream.New(&server{errs: func(stream.Batch) error {
				close(failed)
				return &stream.UnavailableError{After: time.Hour, Err: errors.New("401")}
			}}, o)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteEvent(log.LevelInfo, []byte("{}\n"))
			<-failed
			after := &server{errs: always(nil)}
			if err := out.Use(after); err != nil {
				t.Fatal(err)
			}
			waittest.Await(t, "the line", func() bool { return out.Stats().Written > 0 })
			if err := out.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkCounts(t, out, after)
		})
	}
}

// TestPanicOfDestinationRejectsLines delivers to a Destination that panics.
func TestPanicOfDestinationRejectsLines(t *testing.T) {
	out := open(t, &server{errs: func(stream.Batch) error { panic("index out of range") }})
	out.WriteEvent(log.LevelInfo, []byte("{}\n"))
	if err := out.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := out.Stats(); s.Written != 0 || s.Lost() == 0 || s.Dropped[0].Reason != sink.Rejected {
		t.Errorf("the counts are %+v, want a rejected line", s)
	}
	out.Close(t.Context())
}
