// Package pool keeps the connections to servers. It knows neither requests nor upstreams.
//
// A [Pool] holds the connections to one server. Over HTTP/1, [Pool.Take] returns an unused one or
// [Pool.Dial] makes one, and [Pool.Put] gets it back. Over HTTP/2, [Pool.OpenNow] and [Pool.Dial]
// open a stream on a connection that exchanges share. A [Limit] limits the connections of many
// pools together.
package pool

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

const (
	// longReuseDelay applies after a response without a body by definition (to
	// HEAD, 204, 304), which some servers send with a body by mistake. It also
	// applies after every response of a server until its connections were quiet
	// after that time provenAfter times. This detects a server that always
	// sends surplus bytes before it does harm, and also one that does so in one
	// response of a hundred.
	longReuseDelay = 25 * time.Millisecond
	// provenAfter is how often the connections of a server must be quiet after
	// longReuseDelay before reuseDelay applies.
	provenAfter = 1000
	// surplusFor is the time after surplus bytes from a server in which each
	// connection to it serves only one exchange.
	surplusFor = time.Minute

	// recentFor is the maximum time since the last use of a connection that may
	// carry a request that cannot be repeated. If a server closes connections
	// earlier, half of the observed time applies for learnedFor.
	recentFor  = time.Second
	learnedFor = time.Minute

	// filePause is the time before the first attempt to connect with the file of an unused connection. It doubles up to
	// maxFilePause, because a busy machine takes longer to close one.
	filePause, maxFilePause = time.Millisecond, 64 * time.Millisecond
)

// A Pool holds the connections to one server. It is safe for concurrent use.
type Pool struct {
	Addr string // for transport.Driver.Dial; does not change

	link    atomic.Pointer[Link] // of new connections
	drivers driverPools
	limit   *Limit // nil without a limit

	open atomic.Int64 // connections
	max  atomic.Int64 // the limit of open; 0 for none

	surplusUntil atomic.Int64 // Unix time in nanoseconds
	proven       atomic.Int32 // how often nothing arrived within longReuseDelay of a response; at most provenAfter
	recent       atomic.Int64 // the learned limit, in nanoseconds
	recentUntil  atomic.Int64
}

// Share counts the connections in l. It must be called at most once, before the first connection.
func (p *Pool) Share(l *Limit) {
	p.limit = l
	l.add(&p.drivers)
}

// SetMax limits the connections. An unused one is closed before another one exceeds the limit,
// which is therefore exceeded only while all are in use. 0 is no limit.
func (p *Pool) SetMax(max int) { p.max.Store(int64(max)) }

// SetLink has new connections use a link. Unused ones with another link are closed when they would
// be used again.
func (p *Pool) SetLink(l *Link) { p.link.Store(l) }

// Close closes the unused connections now, and the others after their
// exchanges.
func (p *Pool) Close() {
	p.drivers.close()
	p.limit.forget(&p.drivers)
}

// Take returns an unused connection of the driver on which nothing has arrived,
// or nil. It always returns nil with HTTP/2. If recent is true, its last use must be within recentLimit.
func (p *Pool) Take(driver transport.Driver, now time.Time, recent bool) *Conn {
	link := p.link.Load()
	if link.shared() {
		return nil
	}
	unused := p.drivers.of(driver)
	for {
		limit := idleTimeout
		if recent {
			limit = p.recentLimit(now)
		}
		c := unused.pop(now, limit)
		if c == nil {
			return nil
		}
		quiet, surplus := c.Quiet()
		if quiet && c.link == link {
			p.noteQuiet(now.Sub(c.idle))
			return c
		}
		c.Close()
		switch {
		case quiet: // made with another link
		case surplus:
			p.NoteSurplus(now)
		default:
			p.NoteClosed(c, now)
		}
	}
}

// noteQuiet counts a connection on which nothing arrived for the given time.
func (p *Pool) noteQuiet(quiet time.Duration) {
	if quiet >= longReuseDelay && p.proven.Load() < provenAfter {
		p.proven.Add(1)
	}
}

// NoteSurplus records that the server sent surplus bytes.
func (p *Pool) NoteSurplus(now time.Time) {
	p.proven.Store(0)
	p.surplusUntil.Store(now.Add(surplusFor).UnixNano())
}

// recentLimit returns recentFor or the learned limit.
func (p *Pool) recentLimit(now time.Time) time.Duration {
	if now.UnixNano() < p.recentUntil.Load() {
		return time.Duration(p.recent.Load())
	}
	return recentFor
}

// NoteClosed records that the server closed a connection while it was unused.
func (p *Pool) NoteClosed(c *Conn, now time.Time) {
	if unused := now.Sub(c.idle); unused/2 < p.recentLimit(now) {
		p.recent.Store(int64(unused / 2))
		p.recentUntil.Store(now.Add(learnedFor).UnixNano())
	}
}

// Put keeps a connection for another exchange. bodiless reports whether the
// response had no body by definition.
func (p *Pool) Put(c *Conn, now time.Time, bodiless bool) {
	if now.UnixNano() < p.surplusUntil.Load() || c.link != p.link.Load() {
		c.Close()
		return
	}
	c.Used, c.idle, c.ready = true, now, now.Add(reuseDelay)
	if bodiless || p.proven.Load() < provenAfter {
		c.ready = now.Add(longReuseDelay)
	}
	if p.drivers.of(c.driver).push(c) {
		p.limit.noteUnused()
	} else {
		c.Close()
	}
}

// Dial makes a connection, including the handshake of TLS, or opens a stream for the request. ctx
// limits this. The error is [ErrTooMany], a [HandshakeError], or one of the driver or of HTTP/2.
func (p *Pool) Dial(ctx context.Context, driver transport.Driver, r *Request) (*Conn, error) {
	c, err := p.dialOnce(ctx, driver, r)
	for NoFile(err) && ctx.Err() == nil && p.limit.CloseUnused() {
		// Its loop closes it a moment later, and so does a server in this process.
		for pause := filePause; NoFile(err) && ctx.Err() == nil && pause <= maxFilePause; pause *= 2 {
			driver.Block(func() { time.Sleep(pause) })
			c, err = p.dialOnce(ctx, driver, r)
		}
	}
	return c, err
}

func (p *Pool) dialOnce(ctx context.Context, driver transport.Driver, r *Request) (*Conn, error) {
	l := p.link.Load()
	if l.shared() {
		return p.openStream(ctx, driver, l, r)
	}
	c, err := p.connect(ctx, driver, l)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c, driver: driver, link: l, leave: p.left}, nil
}

// connect makes a connection by a link. The caller calls left when it is closed.
func (p *Pool) connect(ctx context.Context, driver transport.Driver, l *Link) (transport.Conn, error) {
	for most := p.max.Load(); most > 0 && p.open.Load() >= most && p.drivers.closeOldest(); {
	}
	if err := p.limit.enter(); err != nil {
		return nil, err
	}
	p.open.Add(1)
	c, err := driver.Dial(ctx, p.Addr)
	if err == nil && l != nil && l.tls != nil {
		c, err = secure(ctx, driver, c, l)
	}
	if err != nil {
		p.left()
		return nil, err
	}
	return c, nil
}

// left counts a connection that was closed or could not be made.
func (p *Pool) left() {
	p.open.Add(-1)
	p.limit.leave()
}
