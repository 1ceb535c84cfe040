package log_test

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
)

// In a synctest bubble, the test controls the seconds.

func TestSamplingWritesTheFirstThenEveryNth(t *testing.T) {
	for _, c := range []struct {
		first, every int
		want         []int // indexes of the written ones of ten events
	}{
		{2, 3, []int{0, 1, 4, 7}},
		{3, 0, []int{0, 1, 2}},
		{3, -1, []int{0, 1, 2}},
		{0, 4, []int{3, 7}},
		{1, 1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{0, 0, nil},
		{100, 2, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		t.Run(fmt.Sprintf("%d then every %d", c.first, c.every), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w lineWriter
				sampling := &log.Sampling{First: c.first, Every: c.every}
				logger := log.New(&w, log.Options{Sampling: sampling})
				for second := range 3 {
					w.lines = nil
					for i := range 10 {
						logger.Info("event").Int("i", i).Send()
					}
					var got []int
					for _, line := range w.lines {
						got = append(got, int(dataOf(t, line)["i"].(float64)))
					}
					if !slices.Equal(got, c.want) {
						t.Errorf("second %d: events %v written, want %v", second, got, c.want)
					}
					if want := uint64((second + 1) * (10 - len(c.want))); sampling.LeftOut() != want {
						t.Errorf("second %d: LeftOut = %d, want %d", second, sampling.LeftOut(), want)
					}
					time.Sleep(time.Second)
				}
			})
		})
	}
}

// TestSamplingRestartsEachSecond logs just before and just after the end of a
// second.
func TestSamplingRestartsEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w lineWriter
		logger := log.New(&w, log.Options{Sampling: &log.Sampling{First: 1}})
		time.Sleep(time.Second - time.Nanosecond)
		logger.Info("event").Send()
		logger.Info("event").Send()
		if len(w.lines) != 1 {
			t.Errorf("%d lines in the first second, want 1", len(w.lines))
		}
		time.Sleep(time.Nanosecond)
		logger.Info("event").Send()
		if len(w.lines) != 2 {
			t.Errorf("%d lines in the next second, want 2", len(w.lines))
		}
	})
}

// TestSamplingCountsEachName accepts that some names share a counter, because
// their number is fixed.
func TestSamplingCountsEachName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const names = 32
		var w lineWriter
		sampling := &log.Sampling{First: 1}
		logger := log.New(&w, log.Options{Sampling: sampling})
		for i := range names {
			logger.Info(fmt.Sprint("event ", i)).Send()
		}
		if len(w.lines) < names-4 {
			t.Errorf("%d of %d names written", len(w.lines), names)
		}
		if got := len(w.lines) + int(sampling.LeftOut()); got != names {
			t.Errorf("%d written or counted, want %d", got, names)
		}
	})
}

func TestErrorsAreNeverLeftOut(t *testing.T) {
	var w lineWriter
	sampling := new(log.Sampling)
	logger := log.New(&w, log.Options{Sampling: sampling, Level: log.LevelDebug})
	std := slog.New(logger.Handler())
	for range 10 {
		logger.Debug("event").Str("a", "b").Send()
		logger.Warn("event").Err(errRefused).Send() // only the level counts, not the error
		logger.Error("event").Send()
		logger.Fatal("event").Send()
		logger.With().Str("a", "b").Logger().Error("event").Send()
		std.Info("event")
		std.Error("event")
	}
	if len(w.lines) != 40 || sampling.LeftOut() != 30 {
		t.Errorf("%d written and %d left out, want 40 and 30", len(w.lines), sampling.LeftOut())
	}
}

// TestSamplingIsShared uses one Sampling in loggers with two outputs. Disabled
// events are not counted.
func TestSamplingIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sampling := &log.Sampling{First: 3}
		var w lineWriter
		one := log.New(&w, log.Options{Sampling: sampling})
		other := log.New(&w, log.Options{Sampling: sampling}).With().Str("a", "b").Logger()
		for range 4 {
			one.Debug("event").Send()
			one.Info("event").Send()
			other.Info("event").Send()
			slog.New(other.Handler()).Info("event")
		}
		if len(w.lines) != 3 || sampling.LeftOut() != 9 {
			t.Errorf("%d written and %d left out, want 3 and 9", len(w.lines), sampling.LeftOut())
		}
	})
}

// TestLeftOutIsExact logs from many goroutines within one second, and in
// several.
func TestLeftOutIsExact(t *testing.T) {
	const goroutines, each, first, every = 8, 1000, 5, 7
	synctest.Test(t, func(t *testing.T) {
		var w lineWriter
		sampling := &log.Sampling{First: first, Every: every}
		logger := log.New(&w, log.Options{Sampling: sampling})
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for range each {
					logger.Info("event").Send()
				}
			})
		}
		wg.Wait()
		const all = goroutines * each
		if want := first + (all-first)/every; len(w.lines) != want {
			t.Errorf("%d written in one second, want %d", len(w.lines), want)
		}
		if got := len(w.lines) + int(sampling.LeftOut()); got != all {
			t.Errorf("%d written or counted, want %d", got, all)
		}

		for range goroutines {
			wg.Go(func() {
				for range each {
					logger.Info("event").Send()
					time.Sleep(9 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		if got := len(w.lines) + int(sampling.LeftOut()); got != 2*all {
			t.Errorf("over seconds, %d written or counted, want %d", got, 2*all)
		}
	})
}
