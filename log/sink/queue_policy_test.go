package sink_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

func TestPoliciesHaveNames(t *testing.T) {
	for _, p := range []sink.Policy{sink.Shed, sink.Drop, sink.Block} {
		if got, err := sink.ParsePolicy(p.String()); got != p || err != nil {
			t.Errorf("ParsePolicy(%q) = %v, %v", p, got, err)
		}
	}
	_, err := sink.ParsePolicy("wait")
	if want := `unknown policy "wait": want one of shed, drop, block`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if got := sink.Policy(7).String(); got != "policy(7)" {
		t.Errorf("got %q", got)
	}
}

// TestShedDropsLowLevelsFirst fills a queue whose writer blocks, and finds the fill level from
// which each log level is dropped. The line that is being written counts as
// taken.
func TestShedDropsLowLevelsFirst(t *testing.T) {
	const size = 1 << 20
	for level, eighths := range map[log.Level]int{
		log.LevelDebug - 1: 4, log.LevelDebug: 4, log.LevelInfo: 6, log.LevelWarn: 7, log.LevelError: 8, log.LevelFatal + 1: 8,
	} {
		t.Run(level.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFaulty()
				w.stall()
				q := sink.NewQueue(w, sink.QueueOptions{Bytes: size})
				line := []byte(strings.Repeat("x", 399) + "\n")
				for {
					if _, err := q.WriteEvent(level, line); errors.Is(err, sink.ErrFull) {
						break
					} else if err != nil {
						t.Fatal(err)
					}
				}
				full := q.Stats().WaitingBytes
				if want := uint64(size / 8 * eighths); full > want || full < want*85/100 {
					t.Errorf("dropped with %d bytes waiting, want up to %d, but for what their ends take", full, want)
				}
				_, err := q.WriteEvent(level+1, line)
				if higher := min(level+1, log.LevelError); higher > level && level >= log.LevelDebug && err != nil {
					t.Errorf("the level above: %v", err)
				}
				w.goOn()
				closeQueue(t, q)
				checkLines(t, w.output(), q.Stats())
			})
		})
	}
}

// TestShedKeepsErrors floods a queue with all levels: no error may be lost to a
// less important line.
func TestShedKeepsErrors(t *testing.T) {
	w := newFaulty()
	w.stall()
	q := sink.NewQueue(w, sink.QueueOptions{Bytes: 1 << 20})
	line := []byte(strings.Repeat("x", 399) + "\n")
	for range 10_000 {
		for _, level := range []log.Level{log.LevelDebug, log.LevelInfo, log.LevelWarn} {
			q.WriteEvent(level, line)
		}
	}
	for range 250 { // 100 KB
		if _, err := q.WriteEvent(log.LevelError, line); err != nil {
			t.Fatal(err)
		}
	}
	w.goOn()
	closeQueue(t, q)
	checkLines(t, w.output(), q.Stats())
}

// TestDropDropsOnlyNewLines checks that a full queue drops new lines, and no others.
func TestDropDropsOnlyNewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 4000, WhenFull: sink.Drop})
		kept := 0
		for i := range 100 {
			_, err := q.WriteEvent(log.Level(i%5-1), fmt.Appendf(nil, "line %2d %s\n", i, strings.Repeat("x", 90)))
			switch {
			case err == nil && kept == i:
				kept++
			case !errors.Is(err, sink.ErrFull):
				t.Fatalf("line %d after %d were kept: %v", i, kept, err)
			}
		}
		if kept < 25 || kept > 40 {
			t.Errorf("%d lines of 98 bytes fit into 4000", kept)
		}
		w.goOn()
		closeQueue(t, q)
		for i := range kept {
			if !strings.Contains(w.output(), fmt.Sprintf("line %2d ", i)) {
				t.Errorf("line %d is missing", i)
			}
		}
		checkLines(t, w.output(), q.Stats())
	})
}

// TestBlockWaitsForSpace checks that callers wait for the time of Wait, or until there
// is space.
func TestBlockWaitsForSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 10, WhenFull: sink.Block, Wait: time.Second})
		q.Write([]byte("first line\n"))
		synctest.Wait()
		began := time.Now()
		if _, err := q.WriteEvent(log.LevelFatal, []byte("second line\n")); !errors.Is(err, sink.ErrFull) {
			t.Errorf("behind a writer that stands still: %v, want %v", err, sink.ErrFull)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it waited for %v, want 1s", took)
		}
		time.AfterFunc(300*time.Millisecond, w.goOn)
		began = time.Now()
		if _, err := q.Write([]byte("third line\n")); err != nil {
			t.Errorf("with room after 0.3 s: %v", err)
		}
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("it waited for %v, want 0.3 s", took)
		}
		closeQueue(t, q)
		s := q.Stats()
		if want := []sink.Loss{{Level: log.LevelFatal, Reason: sink.Full, Events: 1}}; !slices.Equal(s.Dropped, want) {
			t.Errorf("Dropped = %+v, want %+v", s.Dropped, want)
		}
		if s.LongestWrite != 1300*time.Millisecond {
			t.Errorf("LongestWrite = %v, want 1.3s", s.LongestWrite)
		}
		checkLines(t, w.output(), s)
	})
}

// TestCloseFreesCallers closes a queue while callers wait for space.
func TestCloseFreesCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 10, WhenFull: sink.Block})
		q.Write([]byte("first line\n"))
		said := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := q.Write([]byte("second line\n"))
				said <- err
			}()
		}
		synctest.Wait()
		if s := q.Stats(); s.Waiting != 4 || identity(s) != nil {
			t.Errorf("Stats = %+v, want 4 waiting", s)
		}
		time.AfterFunc(time.Second, w.goOn)
		closeQueue(t, q)
		for range 3 {
			if err := <-said; err == nil {
				t.Error("a line was taken after Close")
			}
		}
		checkLines(t, w.output(), q.Stats())
	})
}

// checkLines compares the lines of a closed queue with its Stats.
func checkLines(t *testing.T, output string, s sink.Stats) {
	t.Helper()
	if err := identity(s); err != nil || s.Waiting != 0 {
		t.Errorf("%v, %d waiting", err, s.Waiting)
	}
	if lines := strings.Count(output, "\n"); uint64(lines) != s.Written {
		t.Errorf("%d lines, Stats say %d were written", lines, s.Written)
	}
}
