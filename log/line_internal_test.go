package log

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// timeOf returns the time of t.
func timeOf(t *timer) time.Time {
	second, ns := t.now()
	return time.Unix(second, int64(ns))
}

// setClock changes the base of t as if the wall clock had been set ahead since.
func (t *timer) setClock(ahead time.Duration) {
	at := time.Unix(t.second, t.ns).Add(-ahead)
	t.second, t.ns = at.Unix(), int64(at.Nanosecond())
}

// TestTimerReturnsTheCurrentTime reads the time up to and across the end of a second, and of
// syncEvery.
func TestTimerReturnsTheCurrentTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer timer
		for i := range 5000 {
			if got, want := timeOf(&timer), time.Now(); !got.Equal(want) {
				t.Fatalf("call %d: got %v, want %v", i, got, want)
			}
			time.Sleep([]time.Duration{0, 1, 999, 999 * time.Millisecond, time.Second - 1, time.Second, time.Hour}[i%7])
		}
	})
}

func TestTimerFollowsTheWallClock(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 400 * time.Millisecond, -1,
		10 * 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			for _, later := range []time.Duration{time.Second, time.Second + 1, time.Hour} {
				var timer timer
				timeOf(&timer)
				timer.setClock(ahead)
				if off := time.Until(timeOf(&timer)); off != -ahead {
					t.Fatalf("off by %v, the test wants %v", off, -ahead)
				}
				time.Sleep(later)
				if got, want := timeOf(&timer), time.Now(); !got.Equal(want) {
					t.Errorf("set by %v, %v later: got %v, want %v", ahead, later, got, want)
				}
			}
		})
	}
}

// TestTimerNeverRunsBackwards reads a timer with the real clocks, whose base
// expires now and then.
func TestTimerNeverRunsBackwards(t *testing.T) {
	var timer timer
	last := timeOf(&timer)
	for i := range 300_000 {
		if i%1000 == 0 {
			timer.base = timer.base.Add(-syncEvery)
			timer.second -= int64(syncEvery / time.Second)
		}
		now := timeOf(&timer)
		if now.Before(last) {
			t.Fatalf("call %d: %v after %v", i, now, last)
		}
		last = now
	}
}

// TestTimersAgree reads two timers in turn, as events from the pool do. Their
// times must not differ by more than the error of a base.
func TestTimersAgree(t *testing.T) {
	var timers [2]timer
	last := timeOf(&timers[0])
	for i := range 200_000 {
		if i%50_000 == 0 {
			timers[i/50_000%2] = timer{} // takes a new base
		}
		now := timeOf(&timers[i%2])
		if behind := last.Sub(now); behind > longestRead {
			t.Fatalf("%v before the time of the other", behind)
		}
		last = now
	}
}

// TestTimerFollowsTheTimeOfBubbles moves a timer, as the pool does, from the real clock to
// synctest bubbles and back. The time in a bubble begins anew, far in the past.
func TestTimerFollowsTheTimeOfBubbles(t *testing.T) {
	var timer timer
	outside := func() {
		t.Helper()
		before := time.Now()
		got := timeOf(&timer)
		if after := time.Now(); got.Before(before.Add(-longestRead)) || got.After(after) {
			t.Errorf("outside: %v is not between %v and %v", got, before, after)
		}
	}
	for _, sleep := range []time.Duration{0, time.Millisecond, 999 * time.Millisecond, time.Minute} {
		outside()
		for range 2 { // the second begins before the base of the first
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(sleep)
				if got, want := timeOf(&timer), time.Now(); !got.Equal(want) {
					t.Errorf("after %v: got %v, want %v", sleep, got, want)
				}
			})
		}
		outside()
	}
}

// TestCreatedAtFollowsTheTimeOfBubbles is TestTimerFollowsTheTimeOfBubbles with whole events.
func TestCreatedAtFollowsTheTimeOfBubbles(t *testing.T) {
	var line []byte
	logger := New(lastLine{&line}, Options{})
	check := func(t *testing.T) {
		t.Helper()
		before := time.Now()
		logger.Info("event").Send()
		after := time.Now()
		var event struct {
			At time.Time `json:"created_at"`
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if event.At.Before(before.Add(-longestRead)) || event.At.After(after) {
			t.Errorf("created_at %v is not between %v and %v", event.At, before, after)
		}
	}
	for range 3 {
		check(t)
		synctest.Test(t, func(t *testing.T) {
			for range 3 {
				check(t)
				time.Sleep(300 * time.Millisecond)
			}
		})
	}
}

// A lastLine keeps the last line written.
type lastLine struct{ to *[]byte }

func (w lastLine) Write(p []byte) (int, error) {
	*w.to = append((*w.to)[:0], p...)
	return len(p), nil
}
