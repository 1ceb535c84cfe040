package log

import "time"

// A timer tells the time at half the price of time.Now, which reads two clocks
// of the system: it reads the monotonic one alone and adds what has passed to
// an instant for which it knows both. The zero value is ready.
//
// The two run alike: what adjusts the speed of one adjusts that of the other.
// When somebody sets the wall clock, a timer follows within syncEvery.
type timer struct {
	base time.Time
}

const (
	syncEvery = time.Second

	// Between the two clocks the system may run something else for
	// milliseconds; what took longer than this to read is no base.
	longestRead = time.Microsecond
)

func (t *timer) now() time.Time {
	// Negative once converted is very large: in tests with a clock of their
	// own (testing/synctest), time does run backwards.
	if passed := time.Since(t.base); uint64(passed) < uint64(syncEvery) {
		return t.base.Add(passed)
	}
	return t.sync()
}

// sync reads both clocks.
func (t *timer) sync() time.Time {
	before := time.Now()
	now := time.Now()
	if now.Sub(before) <= longestRead {
		t.base = now
	}
	return now
}
