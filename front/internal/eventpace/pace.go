package eventpace

import "time"

// A Pace limits the events about one thing that changes: the first burst immediately, then
// one for each [Interval]. The zero value is ready; goroutines must not share it.
type Pace struct {
	left     float64 // events that may be logged now
	at       time.Time
	unlogged int
}

const burst = 5

// Interval is the time after which one more event may be logged.
const Interval = 30 * time.Second

// Next reports whether to log an event, because there are news or because earlier ones were not
// logged. unlogged is the number of news that were not.
func (p *Pace) Next(now time.Time, news bool) (unlogged int, ok bool) {
	if p.at.IsZero() {
		p.left = burst
	} else {
		p.left = min(burst, p.left+float64(now.Sub(p.at))/float64(Interval))
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

// Unlogged returns the number of news that were not logged.
func (p *Pace) Unlogged() int { return p.unlogged }
