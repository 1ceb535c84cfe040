package upstream

import (
	"sync"
	"time"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/health"
	"github.com/weirhq/weir/internal/proxying"
)

// stateEvents are the events about the state of one server, or of an upstream.
type stateEvents struct {
	mu   sync.Mutex // guards the fields below
	pace eventpace.Pace
	last health.Change  // of those that were not logged
	from proxying.State // the last state that was logged
}

// note returns the change to log, if there is one. It adds c, if that is not nil, to those that
// were not logged.
func (e *stateEvents) note(c *health.Change) (logged health.Change, unlogged int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c != nil {
		if e.pace.Unlogged() == 0 {
			e.from = c.From
		}
		e.last = *c
	}
	if unlogged, ok = e.pace.Next(time.Now(), c != nil); !ok {
		return logged, 0, false
	}
	logged = e.last
	logged.From = e.from
	return logged, unlogged, true
}
