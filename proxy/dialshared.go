package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// shares reports whether exchanges share the connections to the server.
func (s *Server) shares() bool {
	l := s.link.Load()
	return l != nil && l.http2
}

// A streamRequest is a request that needs a stream.
type streamRequest struct {
	head           func(l *link) *http2.Head
	ends, headOnly bool // as in http2.Conn.Open
	recent         bool // only on a connection that is known to work
}

// openNow opens a stream on a shared connection of the driver without a wait. It returns nil if there
// is none that has room, or if it must be tested first.
func (s *Server) openNow(driver transport.Driver, l *link, r *streamRequest) *conn {
	sc := s.pools.of(driver).findShared(l, !r.ends)
	if sc == nil {
		return nil
	}
	if now := time.Now(); r.recent && sc.SilentFor(now) > s.recentLimit(now) {
		return nil
	}
	return sc.open(driver, l, r)
}

// open opens a stream for a request. It returns nil if there is no room.
func (c *sharedConn) open(driver transport.Driver, l *link, r *streamRequest) *conn {
	used := c.used.Swap(true)
	stream := c.Open(r.head(l), r.ends, r.headOnly)
	if stream == nil {
		return nil
	}
	return &conn{stream: stream, driver: driver, link: l, used: used, leave: func() {}}
}

// openStream opens a stream on a shared connection of the driver, and makes the connection if
// there is none that has room. ctx limits this.
func (s *Server) openStream(
	ctx context.Context, driver transport.Driver, l *link, r *streamRequest,
) (*conn, error) {
	p := s.pools.of(driver)
	for {
		now := time.Now()
		sc, dialled := p.findShared(l, !r.ends), false
		if sc == nil {
			var err error
			if sc, err = s.dialShared(ctx, driver, p, l); err == nil {
				dialled = true
			} else if sc = p.findShared(l, false); sc == nil {
				return nil, err
			}
		}
		if sc == nil {
			continue // another exchange has made one
		}
		if silent := sc.SilentFor(now); !dialled && r.recent && silent > s.recentLimit(now) &&
			sc.Ping(pingLimit(ctx)) != nil {
			p.removeShared(sc) // its exchanges in progress continue
			sc.Retire()
			continue
		}
		if c := sc.open(driver, l, r); c != nil {
			return c, nil
		}
	}
}

// pingLimit returns how long a PING may take.
func pingLimit(ctx context.Context) time.Duration {
	limit := pingTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end))
	}
	return limit
}

// dialShared makes a connection. If another exchange is doing so, it waits for that instead, and
// returns neither a connection nor an error.
func (s *Server) dialShared(ctx context.Context, driver transport.Driver, p *pool, l *link) (*sharedConn, error) {
	p.mu.Lock()
	if other := p.connecting; other != nil {
		signal := transport.NewSignal()
		other.waiting = append(other.waiting, signal)
		p.mu.Unlock()
		end, _ := ctx.Deadline()
		driver.Wait(signal, max(time.Until(end), 1))
		if other.over {
			return nil, other.err
		}
		return nil, context.DeadlineExceeded
	}
	attempt := new(connectingShared)
	p.connecting = attempt
	p.mu.Unlock()
	c, err := s.connectShared(ctx, driver, p, l)
	p.mu.Lock()
	if p.connecting = nil; err == nil {
		p.shared = append(p.shared, c)
	}
	done := p.done
	attempt.err, attempt.over = err, true
	p.mu.Unlock()
	for _, signal := range attempt.waiting {
		signal.Send()
	}
	if done && err == nil {
		c.retire()
	}
	return c, err
}

// connectShared makes a connection and waits for the settings of the server, so that a server
// that does not speak HTTP/2 is one that does not accept the connection.
func (s *Server) connectShared(ctx context.Context, driver transport.Driver, p *pool, l *link) (*sharedConn, error) {
	plain, err := s.dialBy(ctx, driver, l)
	if err != nil {
		return nil, err
	}
	c := &sharedConn{driver: driver, pool: p, link: l, leave: sync.OnceFunc(s.left)}
	c.Conn = http2.NewClient(plain, driver, c)
	end, _ := ctx.Deadline()
	if err := c.AwaitSettings(time.Until(end)); err != nil {
		c.Abort()
		return nil, err
	}
	return c, nil
}
