package proxy

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/lazydeadline"
	"github.com/weirhq/weir/internal/transport"
)

const (
	// maxIdle is the number of unused connections that each driver keeps for a
	// server. At 40,000 exchanges per second, longReuseDelay needs so many. If
	// too few are kept, an exchange without a body takes three times as long,
	// because most of them make a connection.
	maxIdle = 1024
	// idleTimeout is the time for which an unused connection is kept.
	idleTimeout = 60 * time.Second

	// reuseDelay is the time before a connection is used for another exchange.
	// If an upstream sends surplus bytes after its response, in a packet of
	// their own, they arrive within this time and are detected. The cost is a
	// few more connections: one for every 1/reuseDelay exchanges per second.
	reuseDelay = 5 * time.Millisecond
	// longReuseDelay applies after a response without a body by definition (to
	// HEAD, 204, 304), which some servers send with a body by mistake. It also
	// applies after every response of a server until its connections were quiet
	// after that time provenAfter times. This detects a server that always
	// sends surplus bytes before it does harm, and also one that does so in one
	// response of a hundred.
	longReuseDelay = 25 * time.Millisecond
)

// A conn is a connection to a server. At most one exchange uses it at a time.
type conn struct {
	transport.Conn
	link  *link  // that it was made by
	pool  *pool  // that keeps it while it is unused
	leave func() // called when it is closed

	stream   *http2.Stream    // instead of Conn, with HTTP/2
	driver   transport.Driver // of stream
	response http2.Response   // the last head of stream
	headRead bool

	ready time.Time // when it may be used again
	idle  time.Time // since when it is unused
	used  bool      // it has served an exchange before

	closed atomic.Bool

	mu       sync.Mutex // a request body and a response may be in transit at the same time
	deadline time.Time  // as set on the connection, guarded by mu
}

// Close closes the connection. It may be called more than once.
func (c *conn) Close() error {
	if c.stream != nil {
		c.closeStream()
		return nil
	}
	if c.closed.Swap(true) {
		return nil
	}
	defer c.leave()
	return c.Conn.Close()
}

// arm sets the deadline to timeout from now, or later as [lazydeadline.Next]
// allows.
func (c *conn) arm(now time.Time, timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, change := lazydeadline.Next(c.deadline, now.Add(timeout), timeout)
	if change {
		c.deadline = next
		c.setDeadline(next) // an error appears in the next read or write
	}
}

// interrupt makes a blocked Read or Write return. Any goroutine may call it.
func (c *conn) interrupt() {
	if c.stream != nil {
		c.interruptStream()
	} else {
		c.SetDeadline(transport.Past)
	}
}

func (c *conn) setDeadline(t time.Time) {
	if c.stream != nil {
		c.stream.SetReadDeadline(t)
		c.stream.SetWriteDeadline(t)
	} else {
		c.SetDeadline(t)
	}
}

// receive reads a head, or a part of the body, for await.
func (c *conn) receive(s transport.Space) (int, error) {
	switch {
	case c.stream == nil:
		return c.Conn.ReadInto(s)
	case c.headRead:
		return c.stream.ReadInto(s)
	}
	var err error
	c.response, err = c.stream.ReadHead()
	c.headRead = err == nil
	return 0, err
}

// tryReceive is receive for a body, without a wait.
func (c *conn) tryReceive(p []byte) (n int, ok bool, err error) {
	if c.stream != nil {
		return c.stream.TryRead(p)
	}
	return c.Conn.TryRead(p)
}

// sendPart sends a part of the body of a request, immediately.
func (c *conn) sendPart(p []byte) error {
	if c.stream == nil {
		_, err := c.Conn.Write(p)
		return err
	}
	if _, err := c.stream.Write(p, false); err != nil {
		return err
	}
	return c.stream.Flush()
}

// endStream ends the request with its trailers.
func (c *conn) endStream(trailers []Field) error {
	if len(trailers) == 0 {
		_, err := c.stream.Write(nil, true)
		return err
	}
	h := http2.NewHead()
	for _, f := range trailers {
		h.Add(f.Name, f.Value)
	}
	return c.stream.SendHead(h, true)
}

// interruptStream is interrupt for a stream, whose methods must be called on its driver.
func (c *conn) interruptStream() {
	onDriver(c.driver, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed.Load() {
			c.stream.SetReadDeadline(transport.Past)
			c.stream.SetWriteDeadline(transport.Past)
		}
	})
}

// closeStream resets a stream that has not ended. Only the upload may use it afterwards, until
// freeStream.
func (c *conn) closeStream() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed.Swap(true) {
		c.stream.Cancel()
	}
}

// freeStream ends the use of a closed stream.
func (c *conn) freeStream() {
	c.stream.Close()
	c.stream = nil
}

// A pool holds the unused connections of one driver to a server. Only exchanges
// of this driver take them. The zero value is ready to use.
type pool struct {
	mu    sync.Mutex // guards the following fields
	conns []*conn    // longest unused first
	sweep *time.Timer

	shared     []*sharedConn     // with HTTP/2; also those in use
	connecting *connectingShared // nil if none is being made

	done bool // the server is closed
}

// pop removes the most recently used connection whose reuse delay is over, if
// its last use is within the limit.
func (p *pool) pop(now time.Time, limit time.Duration) *conn {
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
func (p *pool) push(c *conn) bool {
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
func (p *pool) closeIdle() {
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
func (p *pool) first(n int) []*conn {
	first := slices.Clone(p.conns[:n])
	p.conns = slices.Delete(p.conns, 0, n)
	return first
}

// closeAll closes connections. Its callers hold no lock, because exchanges of a
// loop must not wait for system calls of other threads.
func closeAll(conns []*conn) {
	for _, c := range conns {
		c.Close()
	}
}

// oldest returns the time since which a connection is unused, or the zero time
// without one.
func (p *pool) oldest() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) == 0 {
		return time.Time{}
	}
	return p.conns[0].idle
}

// closeOldest closes the connection that has been unused for longest, and
// reports whether there was one.
func (p *pool) closeOldest() bool {
	p.mu.Lock()
	first := p.first(min(1, len(p.conns)))
	p.mu.Unlock()
	closeAll(first)
	return len(first) > 0
}

// close closes the connections, and those that come later.
func (p *pool) close() {
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

// pools are the pools of a server, by the indexes of their drivers. The zero
// value is ready to use.
type pools struct {
	all  atomic.Pointer[[]*pool]
	mu   sync.Mutex // held to replace the slice
	done bool       // guarded by mu
}

func (ps *pools) list() []*pool {
	if all := ps.all.Load(); all != nil {
		return *all
	}
	return nil
}

// of returns the pool of a driver.
func (ps *pools) of(d transport.Driver) *pool {
	i := d.Index()
	if all := ps.list(); i < len(all) {
		return all[i]
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	all := slices.Clone(ps.list())
	for len(all) <= i {
		all = append(all, &pool{done: ps.done})
	}
	ps.all.Store(&all)
	return all[i]
}

// closeOldest closes the connection that has been unused for longest, and
// reports whether there was one.
func (ps *pools) closeOldest() bool {
	for {
		var first *pool
		var since time.Time
		for _, p := range ps.list() {
			if t := p.oldest(); !t.IsZero() && (first == nil || t.Before(since)) {
				first, since = p, t
			}
		}
		if first == nil {
			return slices.ContainsFunc(ps.list(), (*pool).closeUnusedShared)
		}
		if first.closeOldest() {
			return true
		}
	}
}

func (ps *pools) close() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.done = true
	for _, p := range ps.list() {
		p.close()
	}
}
