package pool

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

const (
	// maxIdle is the number of unused connections that each driver keeps for a
	// server. At 40,000 exchanges per second, longReuseDelay needs so many. If
	// too few are kept, an exchange without a body takes three times as long,
	// because most of them make a connection.
	maxIdle = 1024
	// reuseDelay is the time before a connection is used for another exchange.
	// If an upstream sends surplus bytes after its response, in a packet of
	// their own, they arrive within this time and are detected. The cost is a
	// few more connections: one for every 1/reuseDelay exchanges per second.
	reuseDelay = 5 * time.Millisecond
)

// A driverPool holds the unused connections of one driver to a server. Only exchanges
// of this driver take them. The zero value is ready to use.
type driverPool struct {
	mu    sync.Mutex // guards the following fields
	conns []*Conn    // longest unused first
	sweep *time.Timer

	shared     []*sharedConn     // with HTTP/2; also those in use
	connecting *connectingShared // nil if none is being made

	done bool // the server is closed
}

// pop removes the most recently used connection whose reuse delay is over, if
// its last use is within the limit.
func (p *driverPool) pop(now time.Time, limit time.Duration) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The reuse delay is at least reuseDelay, so later connections cannot be
	// ready.
	rested := now.Add(-reuseDelay)
	for i := sort.Search(len(p.conns), func(i int) bool { return p.conns[i].idle.After(rested) }) - 1; i >= 0; i-- {
		c := p.conns[i]
		if now.Before(c.ready) {
			continue
		}
		if now.Sub(c.idle) > limit {
			return nil
		}
		p.conns = slices.Delete(p.conns, i, i+1)
		return c
	}
	return nil
}

// push keeps a connection. It reports false if there are too many, or the
// server is closed.
func (p *driverPool) push(c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || len(p.conns) >= maxIdle {
		return false
	}
	p.conns = append(p.conns, c)
	if p.sweep == nil {
		p.sweep = time.AfterFunc(idleTimeout, p.closeIdle)
	}
	return true
}

// closeIdle closes the connections that have been unused for idleTimeout, and
// schedules the next call.
func (p *driverPool) closeIdle() {
	limit := time.Now().Add(-idleTimeout)
	p.mu.Lock()
	n := sort.Search(len(p.conns), func(i int) bool { return p.conns[i].idle.After(limit) })
	old := p.first(n)
	p.sweep = nil
	if len(p.conns) > 0 {
		p.sweep = time.AfterFunc(p.conns[0].idle.Sub(limit), p.closeIdle)
	}
	p.mu.Unlock()
	closeAll(old)
}

// first removes the n connections that have been unused for longest. The caller
// holds mu.
func (p *driverPool) first(n int) []*Conn {
	first := slices.Clone(p.conns[:n])
	p.conns = slices.Delete(p.conns, 0, n)
	return first
}

// closeAll closes connections. Its callers hold no lock, because exchanges of a
// loop must not wait for system calls of other threads.
func closeAll(conns []*Conn) {
	for _, c := range conns {
		c.Close()
	}
}

// oldest returns the time since which a connection is unused, or the zero time
// without one.
func (p *driverPool) oldest() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) == 0 {
		return time.Time{}
	}
	return p.conns[0].idle
}

// closeOldest closes the connection that has been unused for longest, and
// reports whether there was one.
func (p *driverPool) closeOldest() bool {
	p.mu.Lock()
	first := p.first(min(1, len(p.conns)))
	p.mu.Unlock()
	closeAll(first)
	return len(first) > 0
}

// close closes the connections, and those that come later.
func (p *driverPool) close() {
	p.mu.Lock()
	p.done = true
	if p.sweep != nil {
		p.sweep.Stop()
	}
	all, shared := p.first(len(p.conns)), slices.Clone(p.shared)
	p.mu.Unlock()
	closeAll(all)
	for _, c := range shared {
		c.retire()
	}
}

// closed reports whether the server is closed.
func (p *driverPool) closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// driverPools are those of a server, by the indexes of their drivers. The zero
// value is ready to use.
type driverPools struct {
	all  atomic.Pointer[[]*driverPool]
	mu   sync.Mutex // held to replace the slice
	done bool       // guarded by mu
}

func (ps *driverPools) list() []*driverPool {
	if all := ps.all.Load(); all != nil {
		return *all
	}
	return nil
}

// of returns the pool of a driver.
func (ps *driverPools) of(d transport.Driver) *driverPool {
	i := d.Index()
	if all := ps.list(); i < len(all) {
		return all[i]
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	all := slices.Clone(ps.list())
	for len(all) <= i {
		all = append(all, &driverPool{done: ps.done})
	}
	ps.all.Store(&all)
	return all[i]
}

// closeOldest closes the connection that has been unused for longest, and
// reports whether there was one.
func (ps *driverPools) closeOldest() bool {
	for {
		var first *driverPool
		var since time.Time
		for _, p := range ps.list() {
			if t := p.oldest(); !t.IsZero() && (first == nil || t.Before(since)) {
				first, since = p, t
			}
		}
		if first == nil {
			return slices.ContainsFunc(ps.list(), (*driverPool).closeUnusedShared)
		}
		if first.closeOldest() {
			return true
		}
	}
}

func (ps *driverPools) close() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.done = true
	for _, p := range ps.list() {
		p.close()
	}
}

// A connectingShared is an attempt to make a shared connection. Other exchanges wait for its result. The mutex of the
// driverPool guards it.
type connectingShared struct {
	waiting []*transport.Signal // complete when over is true
	err     error               // that also holds for the exchanges that wait
	over    bool
}

// findShared returns a connection that has room for a stream, or nil. withBody leaves out those that would hold up the
// body of a request.
func (p *driverPool) findShared(l *Link, withBody bool) *sharedConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.shared {
		if usable, _ := c.Usable(); usable && c.link == l && !(withBody && c.HoldsUp()) {
			return c
		}
	}
	return nil
}

// removeShared removes a connection that takes no more streams.
func (p *driverPool) removeShared(c *sharedConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shared = slices.DeleteFunc(p.shared, func(other *sharedConn) bool { return other == c })
}

// closeUnusedShared closes a connection without streams, and reports whether there was one.
func (p *driverPool) closeUnusedShared() bool {
	p.mu.Lock()
	i := slices.IndexFunc(p.shared, func(c *sharedConn) bool {
		_, unused := c.Usable()
		return unused
	})
	if i < 0 {
		p.mu.Unlock()
		return false
	}
	c := p.shared[i]
	p.shared = slices.Delete(p.shared, i, i+1)
	p.mu.Unlock()
	c.Abort() // closes it if no stream was opened since
	c.leave()
	return true
}
