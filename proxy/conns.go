package proxy

import (
	"runtime"
	"sync"
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
	max int

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

// enter counts a connection that is about to be made. Without a bound, c is nil.
func (c *Conns) enter() error {
	if c == nil {
		return nil
	}
	// A connection that is neither in use nor unused is on its way from one to
	// the other, which takes no longer than a few turns.
	for range 100 {
		c.mu.Lock()
		room := c.open < c.max
		if room {
			c.open++
		}
		c.mu.Unlock()
		if room {
			return nil
		}
		if !c.CloseUnused() {
			runtime.Gosched()
		}
	}
	return errTooMany
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
	rest := copy(s.conns, s.conns[1:])
	s.conns[rest] = nil
	s.conns = s.conns[:rest]
	return true
}
