package proxy

import (
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
	max   int
	freed atomic.Uint64 // counts connections that became unused or were closed

	mu      sync.Mutex // guards the following fields
	open    int
	servers map[*Server]struct{}
}

// NewConns returns a limit of max connections.
func NewConns(max int) *Conns {
	return &Conns{max: max, servers: make(map[*Server]struct{})}
}

// Stats returns the number of open connections and its limit.
func (c *Conns) Stats() (open, max int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open, c.max
}

// Share counts the connections of u in c. It must be called once, before the
// first request.
func (u *Upstream) Share(c *Conns) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range u.servers {
		s.shared = c
		c.servers[s] = struct{}{}
	}
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
	servers := make([]*Server, 0, len(c.servers))
	for s := range c.servers {
		servers = append(servers, s)
	}
	c.mu.Unlock()
	for _, s := range servers {
		if s.pools.closeOldest() {
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

// forget removes a server that keeps no unused connections any more.
func (c *Conns) forget(s *Server) {
	if c == nil {
		return
	}
	c.mu.Lock()
	delete(c.servers, s)
	c.mu.Unlock()
}
