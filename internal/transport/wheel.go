package transport

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	tickLength = int64(64 * time.Millisecond) // the resolution of a wheel, in nanoseconds
	wheelTicks = 512                          // a power of two; about 33 seconds
)

// A wheel calls timers at or up to a tick after the time for which they are set. Times
// are nanoseconds since the start of the wheel. Setting, moving and stopping a timer
// takes constant time and no memory.
//
// A deadline moves with almost every request, and almost never passes. The wheel holds
// one time for each timer, and its owner holds the deadline itself. A deadline that moves
// later changes nothing in the wheel: the timer fires at the earlier time, and the owner
// returns the new deadline, at which it fires again. A time beyond the last tick of the
// wheel is treated in the same way.
//
// A wheel belongs to one goroutine, except for [timer.covers].
type wheel struct {
	tick  int64 // the last one that was handled
	lists [wheelTicks]timer
	used  [wheelTicks / 64]uint64 // a bit for each list that has timers
}

// A timer is an entry of a wheel. It is part of its owner.
type timer struct {
	next, prev *timer
	tick       atomic.Int64 // 0 if it is not set
	owner      timed
}

// A timed is the owner of a timer.
type timed interface {
	// elapse handles the deadlines that have passed, and returns the next one, or 0 if
	// there is none.
	elapse(now int64) (next int64)
}

func newWheel() *wheel {
	w := &wheel{}
	for i := range w.lists {
		w.lists[i].next, w.lists[i].prev = &w.lists[i], &w.lists[i]
	}
	return w
}

// covers reports whether the timer fires at the given time or earlier. Any goroutine may
// call it.
func (t *timer) covers(at int64) bool {
	tick := t.tick.Load()
	return tick != 0 && tick <= tickAt(at)
}

// tickAt returns the first tick that is not before the given time.
func tickAt(at int64) int64 { return (at + tickLength - 1) / tickLength }

// set makes the timer fire at the given time, unless it fires earlier.
func (w *wheel) set(t *timer, at int64) {
	if t.covers(at) {
		return
	}
	w.stop(t)
	tick := min(max(tickAt(at), w.tick+1), w.tick+wheelTicks-1)
	t.tick.Store(tick)
	i := tick % wheelTicks
	list := &w.lists[i]
	t.prev, t.next = list.prev, list
	list.prev.next, list.prev = t, t
	w.used[i/64] |= 1 << (i % 64)
}

// stop removes the timer if it is set.
func (w *wheel) stop(t *timer) {
	tick := t.tick.Load()
	if tick == 0 {
		return
	}
	t.next.prev, t.prev.next = t.prev, t.next
	t.next, t.prev = nil, nil
	t.tick.Store(0)
	i := tick % wheelTicks
	if w.lists[i].next == &w.lists[i] {
		w.used[i/64] &^= 1 << (i % 64)
	}
}

// advance calls the timers that are due.
func (w *wheel) advance(now int64) {
	last := now / tickLength
	w.tick = max(w.tick, last-wheelTicks) // after a long pause, each list is handled once
	for w.tick < last {
		w.tick++
		list := &w.lists[w.tick%wheelTicks]
		for list.next != list {
			w.fire(list.next, now)
		}
	}
}

// fire calls a timer, and sets it for its next deadline.
func (w *wheel) fire(t *timer, now int64) {
	// The timer is stopped before its owner reads the deadline. A goroutine that stores an
	// earlier deadline after that sees that the timer does not cover it.
	w.stop(t)
	if next := t.owner.elapse(now); next != 0 {
		w.set(t, next)
	}
}

// next returns when the next timer fires. ok is false if none is set.
func (w *wheel) next() (at int64, ok bool) {
	first := (w.tick + 1) % wheelTicks
	for n := int64(0); n < wheelTicks; {
		i := (first + n) % wheelTicks
		if set := w.used[i/64] >> (i % 64); set != 0 {
			return (w.tick + 1 + n + int64(bits.TrailingZeros64(set))) * tickLength, true
		}
		n += 64 - i%64
	}
	return 0, false
}
