package front

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
)

// conns are the open connections of clients, including tunnels and HTTP/2.
type conns struct {
	fresh atomic.Int64 // number of connections that have not sent a request

	mu        sync.Mutex     // guards the fields below
	most      int            // maximum number of connections; 0 for no limit
	mostOfOne int            // maximum number for one client; 0 for no limit
	exempt    []netip.Prefix // clients without the limit mostOfOne
	set       map[*clientConn]struct{}
	clients   map[netip.Addr]int // number of connections by client, if counted
}

// setLimits sets the limits of new connections. It counts the open ones again, because a
// connection counts for its client only while there is a limit.
func (cs *conns) setLimits(most, mostOfOne int, exempt []netip.Prefix) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.most, cs.mostOfOne, cs.exempt = most, mostOfOne, exempt
	cs.clients = make(map[netip.Addr]int)
	for c := range cs.set {
		if c.counted = (netip.Addr{}); mostOfOne > 0 {
			c.counted = cs.countedFor(c.peer)
		}
		if c.counted.IsValid() {
			cs.clients[c.counted]++
		}
	}
}

// admit adds a connection. If it would exceed a limit, admit returns the limit instead.
func (cs *conns) admit(c *clientConn) (broken limitName) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.most > 0 && len(cs.set) >= cs.most {
		return limitConnections
	}
	if cs.mostOfOne > 0 {
		c.counted = cs.countedFor(c.peer)
		if c.counted.IsValid() && cs.clients[c.counted] >= cs.mostOfOne {
			return limitPerClient
		}
	}
	if cs.set == nil {
		cs.set = make(map[*clientConn]struct{})
	}
	if c.counted.IsValid() {
		cs.clients[c.counted]++
	}
	cs.set[c] = struct{}{}
	cs.fresh.Add(1)
	return ""
}

// countedFor returns the address for which a connection counts: that of the client,
// or the first of its IPv6 /64. It is invalid for a client without a limit.
func (cs *conns) countedFor(addr netip.Addr) netip.Addr {
	for _, p := range cs.exempt {
		if p.Contains(addr) {
			return netip.Addr{}
		}
	}
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}

func (cs *conns) remove(c *clientConn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if _, ok := cs.set[c]; !ok {
		return
	}
	delete(cs.set, c)
	if !c.counted.IsValid() {
		return
	}
	if cs.clients[c.counted]--; cs.clients[c.counted] == 0 {
		delete(cs.clients, c.counted)
	}
}

func (cs *conns) len() int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return len(cs.set)
}

// each calls f for every connection.
func (cs *conns) each(f func(*clientConn)) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.set {
		f(c)
	}
}

// awaitFirst waits until each connection that f selects has carried a request, or ctx is
// done.
func (cs *conns) awaitFirst(ctx context.Context, f func(*clientConn) bool) {
	await(ctx, func() bool {
		fresh := false
		cs.each(func(c *clientConn) { fresh = fresh || f(c) && !c.hasSeen() })
		return !fresh
	})
}
