package log_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/log"
)

// A holdTest has a logger whose events are held, and the names of those that were written.
type holdTest struct {
	t      *testing.T
	base   *log.Logger // holds nothing
	logger *log.Logger
	hold   log.Hold
	counts log.HoldCounts
	out    lineWriter
}

func newHoldTest(t *testing.T, bytes int) *holdTest {
	h := &holdTest{t: t}
	h.base = log.New(&h.out, log.Options{Level: log.LevelDebug})
	h.hold.Bytes, h.hold.Counts = bytes, &h.counts
	h.logger = h.base.With().TraceID("abc").Hold(&h.hold).Logger()
	return h
}

func (h *holdTest) wantWritten(want ...string) {
	h.t.Helper()
	var got []string
	for _, line := range h.out.lines {
		var e struct{ Event string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			h.t.Errorf("%v in %s", err, line)
		}
		got = append(got, e.Event)
	}
	if !slices.Equal(got, want) {
		h.t.Errorf("the written events are %q, want %q", got, want)
	}
}

func (h *holdTest) wantCounts(held, discarded int64) {
	h.t.Helper()
	if h.counts.Held() != held || h.counts.Discarded() != discarded {
		h.t.Errorf("%d events are held, %d discarded, want %d and %d", h.counts.Held(), h.counts.Discarded(), held, discarded)
	}
}

func TestHeldEventsAreWrittenInTheirOrder(t *testing.T) {
	h := newHoldTest(t, 0)
	h.logger.Info("first").Send()
	h.logger.With().Str("part", "b").Logger().Debug("second").Send()
	h.wantWritten()
	h.wantCounts(2, 0)
	if missing := h.hold.Write(); missing != 0 {
		t.Errorf("%d events are missing", missing)
	}
	h.wantWritten("first", "second")
	h.wantCounts(0, 0)
}

func TestDiscardedEventsAreCounted(t *testing.T) {
	h := newHoldTest(t, 0)
	h.logger.Info("first").Send()
	h.logger.Info("second").Send()
	h.hold.Discard()
	h.wantWritten()
	h.wantCounts(0, 2)
	h.hold.Write() // which has no effect any more
	h.wantWritten()
}

// A goroutine may outlive its request. Nothing would decide about its events later.
func TestEventsAfterTheEndAreWritten(t *testing.T) {
	for name, end := range map[string]func(*log.Hold){
		"written": func(h *log.Hold) { h.Write() }, "discarded": (*log.Hold).Discard,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHoldTest(t, 0)
			end(&h.hold)
			h.logger.Info("later").Send()
			h.wantWritten("later")
			h.wantCounts(0, 0)
		})
	}
}

func TestWarningWritesTheEventsThatLedToIt(t *testing.T) {
	h := newHoldTest(t, 0)
	h.logger.Debug("first").Send()
	h.logger.Warn("a warning").Send()
	h.wantWritten("first", "a warning")
	h.logger.Debug("after it").Send()
	h.wantWritten("first", "a warning", "after it")
	h.hold.Discard()
	h.wantCounts(0, 0)
}

func TestEventWithoutItsHoldIsWritten(t *testing.T) {
	h := newHoldTest(t, 0)
	h.logger.Info("held").Send()
	h.logger.Info("completed").Hold(nil).Send()
	h.wantWritten("completed")
	h.base.Info("held too").Hold(&h.hold).Send()
	h.wantCounts(2, 0)
}

// A handler of log/slog belongs to the whole program. The context says which request an event belongs to.
func TestEventsOfSlogAreHeldByTheLoggerInTheirContext(t *testing.T) {
	h := newHoldTest(t, 0)
	program := slog.New(h.base.Handler())
	ctx := log.Into(t.Context(), h.logger)
	program.InfoContext(ctx, "of the request")
	h.base.Info("by its context").Context(ctx).Send()
	program.Info("of the program")
	h.wantWritten("of the program")
	h.wantCounts(2, 0)
	h.hold.Write()
	h.wantWritten("of the program", "of the request", "by its context")
}

// TestFullHoldDiscardsTheOldestEvents sends more than fits. Those nearest to the end are written, without a gap.
func TestFullHoldDiscardsTheOldestEvents(t *testing.T) {
	const limit, events = 2000, 100
	h := newHoldTest(t, limit)
	var names []string
	for n := range events {
		names = append(names, fmt.Sprint("event ", n))
		h.logger.Info(names[n]).Send()
	}
	missing := h.hold.Write()
	h.wantWritten(names[missing:]...)
	h.wantCounts(0, int64(missing))
	if n := len(strings.Join(h.out.lines, "")); n > limit || n < limit/2-200 {
		t.Errorf("%d bytes were held, want at most %d, and about half of it at least", n, limit)
	}
}

func TestEventLongerThanAHoldIsHeldAlone(t *testing.T) {
	h := newHoldTest(t, 100)
	h.logger.Info("first").Send()
	h.logger.Info("long").Str("text", strings.Repeat("x", 1000)).Send()
	h.logger.Info("last").Send()
	h.wantCounts(2, 1)
	h.hold.Write()
	h.wantWritten("long", "last")
}

// TestEveryEventIsCountedOnce logs from several goroutines, while the work ends.
func TestEveryEventIsCountedOnce(t *testing.T) {
	const goroutines, each = 8, 200
	var counts log.HoldCounts
	var written atomic.Int64
	logger := log.New(writerFunc(func(p []byte) (int, error) {
		written.Add(1)
		return len(p), nil
	}), log.Options{})
	for round := range 20 {
		hold := log.Hold{Bytes: 4000, Counts: &counts}
		held := logger.With().Hold(&hold).Logger()
		var all sync.WaitGroup
		for range goroutines {
			all.Add(1)
			go func() {
				defer all.Done()
				for range each {
					held.Info("event").Send()
				}
			}()
		}
		if round%2 == 0 {
			hold.Write()
		} else {
			hold.Discard()
		}
		all.Wait()
	}
	if n := written.Load() + counts.Held() + counts.Discarded(); n != 20*goroutines*each || counts.Held() != 0 {
		t.Errorf("%d of %d events were counted, %d of them as held", n, 20*goroutines*each, counts.Held())
	}
}

// TestHeldEventsAreWholeLines compares a held line with the same event that was written at once, in each format.
func TestHeldEventsAreWholeLines(t *testing.T) {
	for _, format := range []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV, log.FormatHuman} {
		var out lineWriter
		var hold log.Hold
		logger := log.New(&out, log.Options{Format: format})
		for _, h := range []*log.Hold{nil, &hold} {
			logger.Info("event").At(instant).Str("a", "b\n").Hold(h).Send()
		}
		hold.Write()
		if len(out.lines) != 2 || out.lines[0] != out.lines[1] {
			t.Errorf("%v: %q", format, out.lines)
		}
	}
}
