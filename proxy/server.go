package proxy

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/proxy/internal/balance"
)

const (
	// connectTimeout limits an attempt to connect.
	connectTimeout = 5 * time.Second

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
)

// An Attempt is the outcome of one attempt to send a request to a server.
type Attempt struct {
	Status  int           // of the final response; 0 without one
	Waited  time.Duration // for the head of the final response, or until the wait for it ended; 0 if it did not begin
	Failure Kind          // of the server; "" if it did not fail
}

// A Server is one address of an upstream, with the connections to it. It is
// safe for concurrent use.
type Server struct {
	// Context belongs to the caller of [Upstream.Prepare].
	Context any

	url  string
	addr string // for transport.Driver.Dial
	id   uint64 // a hash of url and addr, for the policy Hash

	tlsHost string               // the host of an https server; empty otherwise
	link    atomic.Pointer[link] // of new connections

	pools  pools
	shared *Conns // nil without a limit

	// An exchange is at a server, and in flight, from its choice until it has ended there, or
	// another server was chosen.
	state balance.Server

	conns    atomic.Int64 // open connections
	maxConns atomic.Int64 // the limit of conns; 0 for none

	observer    atomic.Pointer[func(Attempt)]
	lastFailure atomic.Pointer[Failure]

	surplusUntil atomic.Int64 // Unix time in nanoseconds
	proven       atomic.Int32 // how often nothing arrived within longReuseDelay of a response; at most provenAfter
	recent       atomic.Int64 // the learned limit, in nanoseconds
	recentUntil  atomic.Int64
}

// Observe calls f after each attempt at the server, in place of an earlier function. nil ends
// that. f must not block. Attempts are not reported if they ended for a reason that is neither
// the server's nor the client's, or because an unused connection was closed.
func (s *Server) Observe(f func(Attempt)) {
	if f == nil {
		s.observer.Store(nil)
		return
	}
	s.observer.Store(&f)
}

// SetUnhealthy sets whether the health checks of the server fail. An unhealthy server gets no
// exchanges while others are usable.
func (s *Server) SetUnhealthy(unhealthy bool) { s.state.SetUnhealthy(unhealthy) }

// Eject gives the server no exchanges until the given time, while others are usable. The zero
// time ends an ejection.
func (s *Server) Eject(until time.Time) { s.state.Eject(until) }

// share counts the connections of the server in c.
func (s *Server) share(c *Conns) {
	s.shared = c
	c.add(&s.pools)
}

// InFlight returns the number of exchanges at the server.
func (s *Server) InFlight() int { return int(s.state.InFlight()) }

// URL returns the URL of the server's [Endpoint], with an explicit port and without a slash at
// its end. If the Addr of the endpoint differs, that follows as a fragment, as in
// http://shop.example:8080#10.0.0.5.
func (s *Server) URL() string { return s.url }

// take returns an unused connection of the driver on which nothing has arrived,
// or nil. If recent is true, its last use must be within recentLimit.
func (s *Server) take(driver transport.Driver, now time.Time, recent bool) *conn {
	p := s.pools.of(driver)
	for {
		limit := idleTimeout
		if recent {
			limit = s.recentLimit(now)
		}
		c := p.pop(now, limit)
		if c == nil {
			return nil
		}
		quiet, surplus := c.Quiet()
		if quiet && c.link == s.link.Load() {
			s.noteQuiet(now.Sub(c.idle))
			return c
		}
		c.Close()
		switch {
		case quiet: // made with another configuration
		case surplus:
			s.noteSurplus(now)
		default:
			s.noteClosed(now, now.Sub(c.idle))
		}
	}
}

// noteQuiet counts a connection on which nothing arrived for the given time.
func (s *Server) noteQuiet(quiet time.Duration) {
	if quiet >= longReuseDelay && s.proven.Load() < provenAfter {
		s.proven.Add(1)
	}
}

// noteSurplus records that the server sent surplus bytes.
func (s *Server) noteSurplus(now time.Time) {
	s.proven.Store(0)
	s.surplusUntil.Store(now.Add(surplusFor).UnixNano())
}

// recentLimit returns recentFor or the learned limit.
func (s *Server) recentLimit(now time.Time) time.Duration {
	if now.UnixNano() < s.recentUntil.Load() {
		return time.Duration(s.recent.Load())
	}
	return recentFor
}

// noteClosed records that the server closed a connection that was unused for
// the given time.
func (s *Server) noteClosed(now time.Time, unused time.Duration) {
	if unused/2 < s.recentLimit(now) {
		s.recent.Store(int64(unused / 2))
		s.recentUntil.Store(now.Add(learnedFor).UnixNano())
	}
}

// put keeps a connection for another exchange. bodiless reports whether the
// response had no body by definition.
func (s *Server) put(c *conn, now time.Time, bodiless bool) {
	if now.UnixNano() < s.surplusUntil.Load() || c.link != s.link.Load() {
		c.Close()
		return
	}
	c.used, c.idle, c.ready = true, now, now.Add(reuseDelay)
	if bodiless || s.proven.Load() < provenAfter {
		c.ready = now.Add(longReuseDelay)
	}
	if c.pool.push(c) {
		s.shared.noteUnused()
	} else {
		c.Close()
	}
}

// close closes the unused connections now, and the others after their
// exchanges.
func (s *Server) close() {
	s.pools.close()
	s.shared.forget(&s.pools)
}

// dial makes a connection, including the handshake of TLS.
func (s *Server) dial(ctx context.Context, driver transport.Driver) (*conn, error) {
	l := s.link.Load()
	c, err := s.dialBy(ctx, driver, l)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, link: l, pool: s.pools.of(driver), leave: s.left}, nil
}

// dialBy makes a connection by a link. The caller calls left when it is closed.
func (s *Server) dialBy(ctx context.Context, driver transport.Driver, l *link) (transport.Conn, error) {
	for most := s.maxConns.Load(); most > 0 && s.conns.Load() >= most && s.pools.closeOldest(); {
	}
	if err := s.shared.enter(); err != nil {
		return nil, err
	}
	s.conns.Add(1)
	c, err := driver.Dial(ctx, s.addr)
	if err == nil && l != nil && l.tls != nil {
		c, err = secure(ctx, driver, c, l)
	}
	if err != nil {
		s.left()
		return nil, err
	}
	return c, nil
}

// left counts a connection that was closed or could not be made.
func (s *Server) left() {
	s.conns.Add(-1)
	s.shared.leave()
}

// linkBy has new connections use a protocol. Unused ones with another protocol are closed when
// they would be used again.
func (s *Server) linkBy(p *Protocol) { s.link.Store(p.link(s.tlsHost)) }

// Up reports whether the last attempt to connect to the server succeeded. It is
// true before the first attempt.
func (s *Server) Up() bool { return s.state.Up() }
