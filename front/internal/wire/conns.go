package wire

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// conns are the open connections of clients, including tunnels and HTTP/2.
type conns struct {
	fresh atomic.Int64 // number of connections that have not sent a request

	mu        sync.Mutex     // guards the fields below
	most      int            // maximum number of connections; 0 for no limit
	mostOfOne int            // maximum number for one client; 0 for no limit
	exempt    []netip.Prefix // clients without the limit mostOfOne
	set       map[*clientConn]struct{}
	of        [len(protocols)]int // number of connections in set by protocol
	clients   map[netip.Addr]int  // number of connections by client, if counted
}

// A httpVersion is the version of HTTP of a connection, an index into protocols.
type httpVersion uint8

const (
	version1 httpVersion = iota
	version2
	version3
)

// protocols are the names of versions.
var protocols = [...]string{"http/1", "http/2", "http/3"}

// setVersion sets the version of a connection.
func (cs *conns) setVersion(c *clientConn, v httpVersion) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if _, ok := cs.set[c]; ok {
		cs.of[c.version]--
		cs.of[v]++
	}
	c.version = v
}

// byProtocol returns the number of connections by protocol.
func (cs *conns) byProtocol() map[string]int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	all := make(map[string]int, len(protocols))
	for i, name := range protocols {
		all[name] = cs.of[i]
	}
	return all
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
			c.counted = cs.countedFor(c)
		}
		if c.counted.IsValid() {
			cs.clients[c.counted]++
		}
	}
}

// admit adds a connection. If it would exceed a limit, admit returns the limit instead.
func (cs *conns) admit(c *clientConn) (broken string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.most > 0 && len(cs.set) >= cs.most {
		return LimitConnections
	}
	if !cs.count(c) {
		return LimitPerClient
	}
	if cs.set == nil {
		cs.set = make(map[*clientConn]struct{})
	}
	cs.set[c] = struct{}{}
	cs.of[c.version]++
	cs.fresh.Add(1)
	return ""
}

// identify sets the client of a connection that was admitted before its client was known. It
// returns false if the client has as many connections as it may.
func (cs *conns) identify(c *clientConn, client netip.AddrPort) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	trusted := c.header.trusted()
	c.peer, c.port, c.header = client.Addr(), client.Port(), headerDone
	return !trusted || cs.count(c)
}

// count counts a connection for its client, unless that has as many as it may. The caller
// holds mu.
func (cs *conns) count(c *clientConn) bool {
	if cs.mostOfOne == 0 {
		return true
	}
	counted := cs.countedFor(c)
	if counted.IsValid() {
		if cs.clients[counted] >= cs.mostOfOne {
			return false
		}
		cs.clients[counted]++
	}
	c.counted = counted
	return true
}

// countedFor returns the address for which a connection counts: that of the client,
// or the first of its IPv6 /64. It is invalid for a client without a limit, and for one that
// is not known yet.
func (cs *conns) countedFor(c *clientConn) netip.Addr {
	if c.header.trusted() {
		return netip.Addr{}
	}
	addr := c.peer
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
	cs.of[c.version]--
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
		cs.each(func(c *clientConn) { fresh = fresh || f(c) && !c.hasRequested() })
		return !fresh
	})
}

// await polls a condition every millisecond until it holds or ctx is done.
func await(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
