package front

import (
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// A crowd tells the log of connections that are turned away: of the first at
// once, then of how many there were, at most once a crowdPause. Who accepts
// connections does no more than count: the log may stand still, and then a
// goroutine that has nothing else to do waits for it.
type crowd struct {
	log *log.Logger

	mu     sync.Mutex        // guards what follows; not held while the log is written
	counts map[limitName]int // not told yet
	teller *teller           // nil when nothing was turned away for a while
	over   bool              // end was called
}

// A teller is the goroutine that tells.
type teller struct {
	hurry chan struct{} // closed when it is not to wait for more
	done  chan struct{} // closed when it has ended
}

const (
	eventTurnedAway = "connections turned away"
	crowdPause      = time.Second
	// lastTold is how long the end waits for the log.
	lastTold = 250 * time.Millisecond
)

// note counts a connection.
func (c *crowd) note(broken limitName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[limitName]int)
	}
	c.counts[broken]++
	if c.teller == nil && !c.over {
		c.teller = &teller{hurry: make(chan struct{}), done: make(chan struct{})}
		go c.tell(c.teller)
	}
}

// tell tells until there is nothing to tell.
func (c *crowd) tell(t *teller) {
	defer close(t.done)
	for counts := c.take(); counts != nil; counts = c.take() {
		for broken, n := range counts {
			c.log.Warn(eventTurnedAway).Str("limit", string(broken)).Int("count", n).Send()
		}
		select {
		case <-time.After(crowdPause):
		case <-t.hurry:
		}
	}
}

// take returns what there is to tell. With nil the teller is dismissed.
func (c *crowd) take() map[limitName]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = nil
	if counts == nil {
		c.teller = nil
	}
	return counts
}

// end has the rest told. When the log stands still, it waits no longer than
// lastTold: the teller ends once the log takes its events or, closed, drops and
// counts them.
func (c *crowd) end() {
	c.mu.Lock()
	t := c.teller
	c.over = true
	c.mu.Unlock()
	if t == nil {
		return
	}
	close(t.hurry)
	select {
	case <-t.done:
	case <-time.After(lastTold):
	}
}
