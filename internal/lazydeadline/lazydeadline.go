// Package lazydeadline avoids setting a connection's deadline before each read and
// write. Setting a deadline costs as much as a small read.
package lazydeadline

import "time"

// Next returns the deadline for a connection's next read or write, and reports whether
// the caller has to set it. set is the connection's present deadline. The result is at
// least want, and may be later by an eighth of the timeout, at most a second, so that
// it also serves the reads and writes that follow. A present deadline that is later by spare in
// addition, because other operations have more time, stays too. The zero time is no deadline.
func Next(set, want time.Time, timeout, spare time.Duration) (next time.Time, change bool) {
	slack := min(timeout/8, time.Second)
	switch {
	case want.IsZero():
		return want, !set.IsZero()
	case set.Before(want) || set.Sub(want) > slack+spare:
		return want.Add(slack), true
	}
	return set, false
}
