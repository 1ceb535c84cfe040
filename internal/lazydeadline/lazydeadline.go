// Package lazydeadline saves the system's work for deadlines that move with each read
// and write: setting one costs as much as a small read.
package lazydeadline

import "time"

// Next returns the deadline to have on a connection for which one is set and
// another one is wanted, and reports whether it has to be set. The deadline may be
// later than wanted by an eighth of the timeout, at most a second, so that it also
// serves the reads and writes that follow. The zero time is no deadline.
func Next(set, want time.Time, timeout time.Duration) (next time.Time, change bool) {
	slack := min(timeout/8, time.Second)
	switch {
	case want.IsZero():
		return want, !set.IsZero()
	case set.Before(want) || set.Sub(want) > slack:
		return want.Add(slack), true
	}
	return set, false
}
