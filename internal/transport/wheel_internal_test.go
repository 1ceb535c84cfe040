package transport

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A testTimer is an owner with one deadline, which records when it was called.
type testTimer struct {
	timer
	deadline int64
	fired    int64
}

func newTestTimer() *testTimer {
	t := &testTimer{}
	t.owner = t
	return t
}

func (t *testTimer) elapse(now int64) (next int64) {
	if t.deadline != 0 && t.deadline <= now {
		t.deadline, t.fired = 0, now
	}
	return t.deadline
}

// TestWheelFiresLikeItsModel sets, moves and removes deadlines at random while the clock
// advances by random steps, long pauses included. After each step exactly those timers
// must have fired whose deadline is at least a tick ago, and none before its deadline.
func TestWheelFiresLikeItsModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWheel()
		timers := make([]*testTimer, 50)
		for i := range timers {
			timers[i] = newTestTimer()
		}
		now := int64(1)
		for range 20_000 {
			c := timers[r.IntN(len(timers))]
			switch r.IntN(8) {
			case 0:
				c.deadline = 0
			case 1:
				c.deadline = 0
				w.stop(&c.timer)
			default:
				c.deadline = now + randomSpan(r)
				w.set(&c.timer, c.deadline)
			}
			now += randomSpan(r) / 50
			before := make([]int64, len(timers))
			for i, c := range timers {
				before[i], c.fired = c.deadline, 0
			}
			w.advance(now)
			for i, c := range timers {
				switch {
				case c.fired == 0 && before[i] != 0 && before[i] <= now-tickLength:
					t.Fatalf("seed %d: deadline %d has not fired at %d", seed, before[i], now)
				case c.fired != 0 && c.fired < before[i]:
					t.Fatalf("seed %d: deadline %d fired early, at %d", seed, before[i], c.fired)
				}
			}
			checkNext(t, w, timers)
		}
	}
}

// randomSpan returns up to a second, a minute or an hour.
func randomSpan(r *rand.Rand) int64 {
	limits := [...]time.Duration{100 * time.Millisecond, time.Second, time.Minute, time.Hour}
	return 1 + r.Int64N(int64(limits[r.IntN(len(limits))]))
}

// checkNext compares next with a search of all timers.
func checkNext(t *testing.T, w *wheel, timers []*testTimer) {
	t.Helper()
	want := int64(0)
	for _, c := range timers {
		if tick := c.tick.Load(); tick != 0 && (want == 0 || tick*tickLength < want) {
			want = tick * tickLength
		}
	}
	if got, ok := w.next(); got != want || ok != (want != 0) {
		t.Fatalf("next = %d, %v; want %d", got, ok, want)
	}
}

// TestWheelMovesLater checks that a deadline that moves later leaves the timer where it
// is, and that it fires once, at the new deadline.
func TestWheelMovesLater(t *testing.T) {
	w, c := newWheel(), newTestTimer()
	c.deadline = int64(time.Second)
	w.set(&c.timer, c.deadline)
	tick := c.tick.Load()
	c.deadline = int64(3 * time.Second)
	w.set(&c.timer, c.deadline)
	if c.tick.Load() != tick {
		t.Error("the timer has moved")
	}
	w.advance(int64(2 * time.Second))
	if c.fired != 0 {
		t.Error("fired at the earlier deadline")
	}
	w.advance(int64(4 * time.Second))
	if c.fired == 0 {
		t.Error("has not fired at the later deadline")
	}
}

// A timer stops others, due in the same tick, while the wheel calls it.
func TestTimerMayStopOthers(t *testing.T) {
	w := newWheel()
	other, last := newTestTimer(), newTestTimer()
	first := &stopper{wheel: w, victim: other}
	first.owner = first
	at := int64(time.Second)
	w.set(&first.timer, at)
	for _, c := range []*testTimer{other, last} {
		c.deadline = at
		w.set(&c.timer, at)
	}
	w.advance(2 * at)
	if other.fired != 0 || last.fired == 0 {
		t.Errorf("fired: stopped %v, other %v; want only the other", other.fired != 0, last.fired != 0)
	}
	if _, ok := w.next(); ok {
		t.Error("a timer is left")
	}
}

type stopper struct {
	timer
	wheel  *wheel
	victim *testTimer
}

func (s *stopper) elapse(int64) int64 {
	s.wheel.stop(&s.victim.timer)
	return 0
}

func BenchmarkWheelSet(b *testing.B) {
	w, c := newWheel(), newTestTimer()
	now := int64(0)
	for b.Loop() {
		now += 1000
		c.deadline = now + int64(30*time.Second)
		w.set(&c.timer, c.deadline)
		if now%tickLength < 1000 {
			w.advance(now)
		}
	}
}
