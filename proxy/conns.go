package proxy

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Conns limits the number of open connections to servers, including unused
// ones. Upstreams share one through [Upstream.Share]. It is safe for concurrent
// use.
//
// At the limit, an exchange that needs a connection closes an unused one of any
// server. It therefore never waits, provided that there are at most as many
// concurrent exchanges as connections. An exchange beyond that fails with kind
// TooManyConns.
type Conns struct {
	freed atomic.Uint64 // counts connections that became unused or were closed

	mu    sync.Mutex // guards the following fields
	max   int
	open  int
	pools map[*pools]struct{} // of all servers
}

// NewConns returns a limit of max connections.
func NewConns(max int) *Conns {
	return &Conns{max: max, pools: make(map[*pools]struct{})}
}

// Stats returns the number of open connections and its limit.
func (c *Conns) Stats() (open, max int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open, c.max
}

// SetMax changes the limit. Connections beyond it stay open until they are closed.
func (c *Conns) SetMax(max int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = max
}

// add adds the pools of a server, from which unused connections are closed.
func (c *Conns) add(p *pools) {
	c.mu.Lock()
	c.pools[p] = struct{}{}
	c.mu.Unlock()
}

// enter counts a connection that is about to be made. At the limit it closes an
// unused one. It searches again if connections were closed or became unused
// during the search, because another exchange may have been faster. If there
// were none, all connections are in use. c is nil without a limit.
func (c *Conns) enter() error {
	if c == nil {
		return nil
	}
	for {
		before := c.freed.Load()
		if c.count() {
			return nil
		}
		if !c.CloseUnused() && c.freed.Load() == before {
			return errTooMany
		}
	}
}

// count counts one more connection unless the limit is reached.
func (c *Conns) count() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.max {
		return false
	}
	c.open++
	return true
}

// noteUnused must be called after a connection became unused.
func (c *Conns) noteUnused() {
	if c != nil {
		c.freed.Add(1)
	}
}

// CloseUnused closes an unused connection to free its file. It reports whether
// there was one.
func (c *Conns) CloseUnused() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.pools))
	c.mu.Unlock()
	for _, p := range all {
		if p.closeOldest() {
			return true
		}
	}
	return false
}

// leave counts a connection that was closed or could not be made.
func (c *Conns) leave() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.open--
	c.mu.Unlock()
	c.freed.Add(1)
}

// forget removes the pools of a server that keeps no unused connections any more.
func (c *Conns) forget(p *pools) {
	if c == nil {
		return
	}
	c.mu.Lock()
	delete(c.pools, p)
	c.mu.Unlock()
}
