package log

import "time"

// A timer tells the time at half the price of time.Now, which reads two clocks
// of the system: it reads the monotonic one alone and adds what has passed to
// an instant for which it knows both. The zero value is ready.
//
// The two run alike: what adjusts the speed of one adjusts that of the other.
// When somebody sets the wall clock, a timer follows within syncEvery.
type timer struct {
	base   time.Time
	second int64 // base, since 1970
	ns     int64 // base, since that second
}

const (
	syncEvery = time.Second // at most: now carries over to the next second once

	// Between the two clocks the system may run something else for
	// milliseconds; what took longer than this to read is no base.
	longestRead = time.Microsecond
)

// now returns the seconds since 1970, and the nanoseconds since that second.
func (t *timer) now() (second int64, ns uint32) {
	passed := time.Since(t.base)
	// Negative once converted is very large: in tests with a clock of their
	// own (testing/synctest), time does run backwards.
	if uint64(passed) >= uint64(syncEvery) {
		return t.sync()
	}
	if since := t.ns + int64(passed); since < int64(time.Second) {
		return t.second, uint32(since)
	} else {
		return t.second + 1, uint32(since - int64(time.Second))
	}
}

// sync reads both clocks.
func (t *timer) sync() (second int64, ns uint32) {
	before := time.Now()
	now := time.Now()
	second, ns = now.Unix(), uint32(now.Nanosecond())
	if now.Sub(before) <= longestRead {
		t.base, t.second, t.ns = now, second, int64(ns)
	}
	return second, ns
}
