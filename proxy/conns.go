package proxy

import (
	"sync"
	"sync/atomic"
)

// Conns bounds the connections to servers, those that wait for another exchange
// included. Upstreams share one by [Upstream.Share]. It is safe for use by
// several goroutines.
//
// At the bound an exchange that needs a connection has an unused one closed, of
// whichever server. So it never waits, provided that there are no more exchanges
// at once than connections may be; the one that is too many fails with kind
// TooManyConns.
type Conns struct {
	max   int
	freed atomic.Uint64 // counts connections that became unused or were closed

	mu      sync.Mutex // guards what follows
	open    int
	servers map[*Server]struct{}
}

// NewConns returns a bound of max connections.
func NewConns(max int) *Conns {
	return &Conns{max: max, servers: make(map[*Server]struct{})}
}

// Stats returns how many connections are open, and how many may be.
func (c *Conns) Stats() (open, max int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open, c.max
}

// Share has the connections of u count for c. It is called before the first
// request, once.
func (u *Upstream) Share(c *Conns) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range u.servers {
		s.shared = c
		c.servers[s] = struct{}{}
	}
}

// enter counts a connection that is about to be made. At the bound it closes an
// unused one. It searches again as long as connections become unused or are
// closed meanwhile: another exchange may have been faster. If none were, all of
// them are in use. c is nil without a bound.
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

// count counts one more connection unless as many are open as may be.
func (c *Conns) count() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.max {
		return false
	}
	c.open++
	return true
}

// noteUnused is called after a connection became unused.
func (c *Conns) noteUnused() {
	if c != nil {
		c.freed.Add(1)
	}
}

// CloseUnused closes an unused connection and tells whether there was one: its
// file is free for something else.
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
		if s.closeOldest() {
			return true
		}
	}
	return false
}

// leave counts a connection that was closed, or not made.
func (c *Conns) leave() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.open--
	c.mu.Unlock()
	c.freed.Add(1)
}

// forget drops a server that keeps no unused connections any more.
func (c *Conns) forget(s *Server) {
	if c == nil {
		return
	}
	c.mu.Lock()
	delete(c.servers, s)
	c.mu.Unlock()
}

// closeOldest closes the unused connection that waits longest, if there is one.
func (s *Server) closeOldest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == 0 {
		return false
	}
	s.conns[0].Close()
	last := copy(s.conns, s.conns[1:])
	s.conns[last] = nil
	s.conns = s.conns[:last]
	return true
}
