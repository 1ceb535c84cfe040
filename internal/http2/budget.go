package http2

import "time"

// A budget bounds how often a peer may do something that costs more than it is worth. It
// allows a burst, and then so many in a second.
type budget struct {
	spent     int // decreases with time, not below 0
	refreshed time.Time
}

// A quota is the size of a budget.
type quota struct{ burst, perSecond int }

// The quotas are far above those that a peer needs: browsers cancel up to a page of
// requests at a time, and gRPC measures round trips with one PING for each.
var (
	resetQuota        = quota{burst: 500, perSecond: 50}
	pingQuota         = quota{burst: 2000, perSecond: 1000}
	settingsQuota     = quota{burst: 100, perSecond: 10}
	emptyQuota        = quota{burst: 500, perSecond: 50}
	windowUpdateQuota = quota{burst: 10000, perSecond: 10000}
	otherQuota        = quota{burst: 2000, perSecond: 500}
)

// spend counts one use, and reports whether it is within the quota.
func (b *budget) spend(q quota, now time.Time) bool {
	b.spent++
	if b.spent <= q.burst {
		return true
	}
	if b.refreshed.IsZero() {
		b.refreshed = now.Add(-time.Second)
	}
	if back := int(now.Sub(b.refreshed) * time.Duration(q.perSecond) / time.Second); back > 0 {
		b.spent = max(b.spent-min(back, q.burst), 0)
		b.refreshed = now
	}
	return b.spent <= q.burst
}

// earn takes back one use.
func (b *budget) earn() { b.spent = max(b.spent-1, 0) }

// budgets are the budgets of a connection.
type budgets struct {
	resets, pings, settings, empty, windowUpdates, others budget
}
