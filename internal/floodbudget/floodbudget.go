// Package floodbudget bounds how often a peer may do something that costs more than it is worth.
package floodbudget

import "time"

// A Budget is what a peer has used of a [Quota]. The zero value is unused. Goroutines must not share one without a
// lock.
type Budget struct {
	spent     int // decreases with time, not below 0
	refreshed time.Time
}

// A Quota allows a burst, and then so many in a second.
type Quota struct{ Burst, PerSecond int }

// Spend counts one use, and reports whether it is within the quota.
func (b *Budget) Spend(q Quota, now time.Time) bool {
	b.spent++
	if b.spent <= q.Burst {
		return true
	}
	if b.refreshed.IsZero() {
		b.refreshed = now.Add(-time.Second)
	}
	if back := int(now.Sub(b.refreshed) * time.Duration(q.PerSecond) / time.Second); back > 0 {
		b.spent = max(b.spent-min(back, q.Burst), 0)
		b.refreshed = now
	}
	return b.spent <= q.Burst
}

// Earn takes back one use.
func (b *Budget) Earn() { b.spent = max(b.spent-1, 0) }

// The quotas of streams and frames. They are far above the numbers that a peer needs: browsers cancel up to a
// page of requests at a time.
var (
	Resets = Quota{Burst: 500, PerSecond: 50}   // of streams, by the peer or because of it
	Empty  = Quota{Burst: 500, PerSecond: 50}   // frames of a body without data
	Others = Quota{Burst: 2000, PerSecond: 500} // frames that have no effect
)
