package sink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

var (
	_ io.Writer       = (*sink.Queue)(nil)
	_ log.EventWriter = (*sink.Queue)(nil)
)

// A gated writer reports the beginning of a write, and ends it on a signal.
type gated struct {
	began, end chan struct{}

	mu     sync.Mutex
	writes []string
}

func newGated() *gated { return &gated{began: make(chan struct{}), end: make(chan struct{})} }

func (g *gated) Write(p []byte) (int, error) {
	g.began <- struct{}{}
	<-g.end
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes = append(g.writes, string(p))
	return len(p), nil
}

func closeQueue(t *testing.T, q *sink.Queue) {
	t.Helper()
	if err := q.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestQueueWritesBatches adds lines during a write: they go out in one write and in
// order, and Stats counts each line at each stage.
func TestQueueWritesBatches(t *testing.T) {
	w := newGated()
	q := sink.NewQueue(w, sink.QueueOptions{WhenFull: sink.Block})
	q.Write([]byte("first\n"))
	<-w.began
	var more strings.Builder
	for i := range 100 {
		line := fmt.Sprintf("line %d\n", i)
		more.WriteString(line)
		if n, err := q.WriteEvent(log.LevelWarn, []byte(line)); n != len(line) || err != nil {
			t.Fatalf("WriteEvent = %d, %v", n, err)
		}
	}
	if s := q.Stats(); s.Emitted != 101 || s.Waiting != 101 || s.WaitingBytes != uint64(len("first\n")+more.Len()) {
		t.Errorf("while the writer stands still: %+v", s)
	}
	w.end <- struct{}{}
	<-w.began
	w.end <- struct{}{}
	closeQueue(t, q)
	if len(w.writes) != 2 || w.writes[0] != "first\n" || w.writes[1] != more.String() {
		t.Errorf("%d writes: %.40q", len(w.writes), w.writes)
	}
	if s := q.Stats(); s.Written != 101 || s.Waiting != 0 || s.WaitingBytes != 0 || s.Lost() != 0 {
		t.Errorf("at the end: %+v", s)
	}
}

// TestQueueIsBounded lets callers wait for space while the writer blocks, and
// loses none of their lines.
func TestQueueIsBounded(t *testing.T) {
	const size, producers, each = 100, 4, 200
	w := newGated()
	q := sink.NewQueue(w, sink.QueueOptions{Bytes: size, WhenFull: sink.Block})
	var work sync.WaitGroup
	for p := range producers {
		work.Go(func() {
			for i := range each {
				q.Write(fmt.Appendf(nil, "%d of %d\n", i, p))
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		work.Wait()
		closeQueue(t, q)
		close(finished)
	}()
	for {
		select {
		case <-w.began:
			// Each caller may have counted one line that does not fit.
			if s := q.Stats(); s.WaitingBytes > size+producers*uint64(len("199 of 3\n")) {
				t.Fatalf("%d bytes wait in a queue of %d", s.WaitingBytes, size)
			}
			w.end <- struct{}{}
			continue
		case <-finished:
		}
		break
	}
	got := strings.Join(w.writes, "")
	for p := range producers {
		i := 0
		for line := range strings.Lines(got) {
			if strings.HasSuffix(line, fmt.Sprintf(" of %d\n", p)) {
				if want := fmt.Sprintf("%d of %d\n", i, p); line != want {
					t.Fatalf("got %q, want %q", line, want)
				}
				i++
			}
		}
		if i != each {
			t.Errorf("%d lines of producer %d, want %d", i, p, each)
		}
	}
}

// TestQueueTakesLineLongerThanItself queues a line that is longer than the queue.
func TestQueueTakesLineLongerThanItself(t *testing.T) {
	var got bytes.Buffer
	q := sink.NewQueue(&got, sink.QueueOptions{Bytes: 10, WhenFull: sink.Block})
	long := strings.Repeat("x", 100) + "\n"
	q.Write([]byte("short\n"))
	q.Write([]byte(long))
	q.Write([]byte("short\n"))
	closeQueue(t, q)
	if want := "short\n" + long + "short\n"; got.String() != want {
		t.Errorf("got %q", got.String())
	}
}

// TestQueueEndsTornLines makes two writes of a chunk fail, each at every offset and
// in every way, and checks the output as a consumer reads it. Only errors that
// do not pass may lose a line.
func TestQueueEndsTornLines(t *testing.T) {
	lines := []string{"alpha-1\n", "bravo-22\n", "charlie-333\n", "delta-4\n"}
	longest := len(strings.Join(lines, ""))
	for _, errs := range [][2]error{
		{syscall.EPIPE, syscall.EBADF}, {syscall.EPIPE, syscall.ENOSPC}, {syscall.EIO, syscall.EPIPE},
		{syscall.ENOSPC, syscall.EAGAIN}, {nil, syscall.EPIPE}, {syscall.EINTR, syscall.EPIPE},
	} {
		lasting := 0
		for _, err := range errs {
			if err == syscall.EPIPE || err == syscall.EBADF || err == nil { // taking nothing without an error is a fault too
				lasting++
			}
		}
		for first := range longest + 1 {
			for second := range longest + 1 {
				w := &scripted{steps: []step{{first, errs[0]}, {second, errs[1]}}}
				s := writeBatch(t, w, lines)
				whole := wholeLines(t, withoutReports(w.got.String()), lines)
				own := strings.Count(w.got.String(), "log events dropped")
				if err := identity(s); err != nil || s.Waiting != 0 || whole+own != int(s.Written) || s.Lost() > uint64(lasting) {
					t.Fatalf("failing after %d and %d bytes as %v: %v; %d whole lines in %q, Stats say %+v",
						first, second, errs, err, whole, w.got.String(), s)
				}
			}
		}
	}
}

// writeBatch writes lines through a queue in one chunk.
func writeBatch(t *testing.T, w io.Writer, lines []string) (s sink.Stats) {
	synctest.Test(t, func(t *testing.T) {
		q := sink.NewQueue(w, sink.QueueOptions{Linger: time.Hour})
		for _, line := range lines {
			q.WriteEvent(log.LevelWarn, []byte(line))
		}
		closeQueue(t, q)
		s = q.Stats()
	})
	return s
}

// withoutReports returns the output without the queue's own events.
func withoutReports(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "{") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestQueueRejectsLinesAfterClose checks that Close can be called repeatedly, and that lines
// after it are rejected.
func TestQueueRejectsLinesAfterClose(t *testing.T) {
	var got bytes.Buffer
	q := sink.NewQueue(&got, sink.QueueOptions{WhenFull: sink.Block})
	q.Write([]byte("in time\n"))
	closeQueue(t, q)
	closeQueue(t, q)
	if _, err := q.WriteEvent(log.LevelError, []byte("late\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, os.ErrClosed)
	}
	s := q.Stats()
	if got.String() != "in time\n" || s.Emitted != 2 || s.Written != 1 || s.Lost() != 1 || s.Dropped[0].Reason != sink.Closed {
		t.Errorf("got %q, Stats = %+v", got.String(), s)
	}
}

// TestCloseUnderLoadCountsEachLine closes queues of each policy while several goroutines
// log, flush and call Stats, with a writer that fails in every way.
func TestCloseUnderLoadCountsEachLine(t *testing.T) {
	for _, policy := range []sink.Policy{sink.Shed, sink.Drop, sink.Block} {
		t.Run(policy.String(), func(t *testing.T) {
			w := &flaky{}
			q := sink.NewQueue(w, sink.QueueOptions{Bytes: 4 << 10, WhenFull: policy, Heartbeat: time.Millisecond})
			var sent atomic.Int64
			var work sync.WaitGroup
			for p := range 4 {
				work.Go(func() {
					var err error
					for i := 0; !errors.Is(err, os.ErrClosed); i++ {
						_, err = q.WriteEvent(log.Level(i%4-1), fmt.Appendf(nil, "[event %d of producer %d]\n", i, p))
						sent.Add(1)
					}
				})
			}
			work.Go(func() {
				for q.Flush(t.Context()) == nil && sent.Load() < 2000 {
				}
				closeQueue(t, q)
			})
			ended := make(chan struct{})
			go func() {
				work.Wait()
				close(ended)
			}()
			tick := time.NewTicker(100 * time.Microsecond) // the other goroutines need the CPU too
			defer tick.Stop()
			for ; !isClosed(ended); <-tick.C {
				if err := identity(q.Stats()); err != nil {
					t.Fatal(err)
				}
			}
			s := q.Stats()
			whole, own := wholeEvents(t, w.got.String())
			if s.Waiting != 0 || whole+own != s.Written || s.Emitted < uint64(sent.Load())+own {
				t.Errorf("%d sent; %d whole lines and %d of the queue; Stats = %+v", sent.Load(), whole, own, s)
			}
		})
	}
}

func TestQueueAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	line := bytes.Repeat([]byte("x"), 300)
	line[299] = '\n'
	check := func(name string, q *sink.Queue) {
		t.Helper()
		for range 10_000 { // until it has allocated all its memory
			q.WriteEvent(log.LevelInfo, line)
		}
		if n := testing.AllocsPerRun(1000, func() { q.WriteEvent(log.LevelInfo, line) }); n != 0 {
			t.Errorf("%s: WriteEvent allocates %v times", name, n)
		}
	}
	busy := sink.NewQueue(io.Discard, sink.QueueOptions{WhenFull: sink.Block, Heartbeat: time.Hour})
	defer closeQueue(t, busy)
	check("with room", busy)
	small := sink.NewQueue(io.Discard, sink.QueueOptions{Bytes: 1 << 10, WhenFull: sink.Block})
	defer closeQueue(t, small)
	check("with callers that wait", small)
	w := newFaulty()
	w.stall()
	full := sink.NewQueue(w, sink.QueueOptions{Bytes: 1 << 20})
	check("full", full)
	w.goOn()
	closeQueue(t, full)
}

func ExampleNewQueue() {
	out := sink.NewQueue(os.Stdout, sink.QueueOptions{})
	logger := log.New(out, log.Options{Namespace: "front-door"})
	_ = logger // each event costs its caller a copy

	out.WriteEvent(log.LevelInfo, []byte("{\"event\":\"a line\"}\n"))
	if err := out.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: {"event":"a line"}
}
