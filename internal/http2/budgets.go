package http2

import (
	"time"

	"github.com/weirhq/weir/internal/floodbudget"
)

// The quotas of HTTP/2 alone. gRPC measures round trips with one PING for each.
var (
	pingQuota         = floodbudget.Quota{Burst: 2000, PerSecond: 1000}
	settingsQuota     = floodbudget.Quota{Burst: 100, PerSecond: 10}
	windowUpdateQuota = floodbudget.Quota{Burst: 10000, PerSecond: 10000}
)

// DATA that this side sends earns WINDOW_UPDATE and PING frames of the peer, which do not use their quotas. A peer that
// reads fast sends more of them than any fixed rate: x/net/http2 sends two WINDOW_UPDATE frames for each 4 KiB that it
// reads, or for each read if its window is used up, and gRPC a WINDOW_UPDATE and a PING for each round trip with DATA.
const (
	// earningLength is the length of DATA that earns one frame.
	earningLength = 256
	// earnedAtLeast is how many frames a DATA frame earns at least if no window has cut it. One that was cut earns
	// frames by its length only: otherwise a peer could ask for each byte with a WINDOW_UPDATE of its own.
	earnedAtLeast = 4
	// maxEarned is how many earned frames may be left: enough for a peer that reads from a full window of 2 GiB.
	maxEarned = 1 << 20
)

// budgets are the budgets of a connection.
type budgets struct {
	resets, pings, settings, empty, windowUpdates, others floodbudget.Budget

	dataLength int // length of the DATA whose earned frames are left
}

// sentData counts a DATA frame of n bytes that this side sends. cut means that a window has limited n.
func (b *budgets) sentData(n int, cut bool) {
	if !cut {
		n = max(n, earnedAtLeast*earningLength)
	}
	b.dataLength = min(b.dataLength+n, maxEarned*earningLength)
}

// spendAfterData counts a frame of the peer that DATA may have earned, and reports whether it is allowed.
func (b *budgets) spendAfterData(budget *floodbudget.Budget, q floodbudget.Quota) bool {
	if b.dataLength >= earningLength {
		b.dataLength -= earningLength
		return true
	}
	return budget.Spend(q, time.Now())
}
