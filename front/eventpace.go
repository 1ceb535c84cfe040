package front

import "time"

// An eventPace limits the events about one thing that changes: the first paceBurst immediately, then
// one for each paceInterval.
type eventPace struct {
	left     float64 // events that may be logged now
	at       time.Time
	unlogged int
}

const (
	paceBurst    = 5
	paceInterval = 30 * time.Second
)

// next reports whether to log an event, because there are news or because earlier ones were not
// logged. unlogged is the number of news that were not.
func (p *eventPace) next(now time.Time, news bool) (unlogged int, ok bool) {
	if p.at.IsZero() {
		p.left = paceBurst
	} else {
		p.left = min(paceBurst, p.left+float64(now.Sub(p.at))/float64(paceInterval))
	}
	p.at = now
	switch {
	case !news && p.unlogged == 0:
		return 0, false
	case p.left < 1:
		if news {
			p.unlogged++
		}
		return 0, false
	}
	p.left--
	unlogged, p.unlogged = p.unlogged, 0
	return unlogged, true
}
