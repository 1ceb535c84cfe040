package load

import "time"

// demand is that of the open loop for more connections. The zero demand is for
// when nothing waits.
type demand struct {
	since, grown time.Duration
}

// What was due while the generator was held up finds all connections in use for
// as long as the server takes to answer. More of them would make that worse.
const (
	demandLasts = 2 * time.Millisecond
	growEvery   = time.Millisecond
)

// growth is how many connections may be opened now, when so many requests wait
// and so many are open: an eighth more each millisecond, once some have waited
// for longer than a moment. So there are soon enough for a server that stands
// still, and not thousands when it was the generator that did.
func (d *demand) growth(now time.Duration, waiting int64, open int) int64 {
	if open == 0 {
		return waiting
	}
	if d.since == 0 {
		d.since = now
	}
	if now-d.since < demandLasts || now-d.grown < growEvery {
		return 0
	}
	d.grown = now
	return min(waiting, int64(1+open/8))
}
