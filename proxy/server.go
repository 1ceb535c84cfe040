package proxy

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxIdle is how many unused connections to a server are kept.
	maxIdle = 256
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 60 * time.Second
	// connectTimeout bounds the making of a connection.
	connectTimeout = 5 * time.Second

	// rest is how long a connection is left alone before it carries another
	// exchange. What an upstream sends beyond its answer, in a packet of its
	// own, arrives in that time and is seen; the price is a few more
	// connections (one for every 1/rest exchanges a second).
	reuseDelay = 5 * time.Millisecond
	// longRest is the same behind an answer without a body by definition (to
	// HEAD, 204, 304), where the mistake is to send one, and behind every
	// answer of a server until its connections were found quiet after so long
	// provenAfter times. A server that always errs is caught before it does
	// harm, and one that does so in one answer of a hundred, too.
	longReuseDelay = 25 * time.Millisecond
	provenAfter    = 1000
	// untidyFor is how long the connections to a server that was caught
	// sending surplus bytes carry one exchange each.
	surplusFor = time.Minute

	// freshFor is how long ago a connection must have been in use to carry a
	// request that cannot be sent twice. A server that closes sooner lowers it
	// to half of what was seen, for learnedFor.
	recentFor  = time.Second
	learnedFor = time.Minute
)

// A Server is one address of an upstream, with the connections to it. It is
// safe for use by several goroutines.
type Server struct {
	url  string
	addr string

	mu    sync.Mutex
	conns []*conn // unused, guarded by mu: the one that waits longest comes first
	sweep *time.Timer
	done  bool // guarded by mu: closed

	shared *Conns // nil without a bound

	surplusUntil atomic.Int64 // Unix time in nanoseconds
	proven       atomic.Int32 // how often a connection was quiet after longRest, to provenAfter
	downUntil    atomic.Int64
	recent       atomic.Int64 // the learned freshFor, in nanoseconds
	recentUntil  atomic.Int64
}

// newServer parses "http://host:port".
func newServer(rawURL string) (*Server, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", rawURL, err)
	}
	switch {
	case u.Scheme != "http":
		return nil, fmt.Errorf("server %q: its scheme must be http", rawURL)
	case u.Hostname() == "":
		return nil, fmt.Errorf("server %q: it names no host", rawURL)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/":
		return nil, fmt.Errorf("server %q: it must be http://host:port and no more", rawURL)
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	return &Server{url: "http://" + addr, addr: addr}, nil
}

// URL returns the server's address as "http://host:port".
func (s *Server) URL() string { return s.url }

// take returns an unused connection that was quiet until now, or nil. With
// fresh it must have been in use a moment ago.
func (s *Server) take(now time.Time, recent bool) *conn {
	for {
		c := s.pop(now, recent)
		if c == nil {
			return nil
		}
		quiet, surplus := c.quiet(now)
		if quiet {
			s.noteQuiet(now.Sub(c.idle))
			return c
		}
		c.Close()
		if surplus {
			s.noteSurplus(now)
		} else {
			s.noteClosed(now, now.Sub(c.idle))
		}
	}
}

// prove counts that a connection was quiet for the given time.
func (s *Server) noteQuiet(quiet time.Duration) {
	if quiet >= longReuseDelay && s.proven.Load() < provenAfter {
		s.proven.Add(1)
	}
}

// caught notes that the server sent surplus bytes.
func (s *Server) noteSurplus(now time.Time) {
	s.proven.Store(0)
	s.surplusUntil.Store(now.Add(surplusFor).UnixNano())
}

// pop removes the youngest connection that has rested.
func (s *Server) pop(now time.Time, recent bool) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	// All rest for as long as rest says, so the last ones cannot be ready.
	rested := now.Add(-reuseDelay)
	for i := sort.Search(len(s.conns), func(i int) bool { return s.conns[i].idle.After(rested) }) - 1; i >= 0; i-- {
		c := s.conns[i]
		if now.Before(c.ready) {
			continue
		}
		if recent && now.Sub(c.idle) > s.recentLimit(now) {
			return nil
		}
		copy(s.conns[i:], s.conns[i+1:])
		s.conns[len(s.conns)-1] = nil
		s.conns = s.conns[:len(s.conns)-1]
		return c
	}
	return nil
}

// freshness is freshFor, or what was learned.
func (s *Server) recentLimit(now time.Time) time.Duration {
	if now.UnixNano() < s.recentUntil.Load() {
		return time.Duration(s.recent.Load())
	}
	return recentFor
}

// learn remembers that the server closed a connection that was unused for the
// given time.
func (s *Server) noteClosed(now time.Time, unused time.Duration) {
	if unused/2 < s.recentLimit(now) {
		s.recent.Store(int64(unused / 2))
		s.recentUntil.Store(now.Add(learnedFor).UnixNano())
	}
}

// put keeps a connection for another exchange. bodiless tells that the answer
// had no body by definition.
func (s *Server) put(c *conn, now time.Time, bodiless bool) {
	if now.UnixNano() < s.surplusUntil.Load() {
		c.Close()
		return
	}
	c.used, c.idle, c.ready = true, now, now.Add(reuseDelay)
	if bodiless || s.proven.Load() < provenAfter {
		c.ready = now.Add(longReuseDelay)
	}
	s.mu.Lock()
	kept := !s.done && len(s.conns) < maxIdle
	if kept {
		s.conns = append(s.conns, c)
		s.startSweep()
	}
	s.mu.Unlock()
	if kept {
		s.shared.noteUnused()
	} else {
		c.Close()
	}
}

// startSweep has the unused connections looked through when the first of them
// has waited for long enough. The caller holds mu.
func (s *Server) startSweep() {
	if s.sweep == nil {
		s.sweep = time.AfterFunc(idleTimeout, s.closeIdle)
	}
}

func (s *Server) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := time.Now().Add(-idleTimeout)
	n := 0
	for n < len(s.conns) && !s.conns[n].idle.After(oldest) {
		s.conns[n].Close()
		n++
	}
	kept := copy(s.conns, s.conns[n:])
	clear(s.conns[kept:])
	s.conns = s.conns[:kept]
	s.sweep = nil
	if kept > 0 {
		s.sweep = time.AfterFunc(s.conns[0].idle.Sub(oldest), s.closeIdle)
	}
}

// close closes the unused connections, and from now on each one after its
// exchange.
func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.sweep != nil {
		s.sweep.Stop()
	}
	for _, c := range s.conns {
		c.Close()
	}
	s.conns = nil
	s.shared.forget(s)
}

// connect takes an unused connection, as far as the policy allows, or makes one
// for the exchange within the timeout.
func (s *Server) connect(x *Exchange, now time.Time, reuse reusePolicy, timeout time.Duration) (*conn, *Error) {
	if reuse != newConnOnly {
		if c := s.take(now, reuse == recentConn); c != nil {
			return c, nil
		}
	}
	ctx, end := x.beginDial(min(timeout, connectTimeout))
	defer end()
	c, err := s.dial(ctx)
	if noFile(err) && s.shared.CloseUnused() {
		c, err = s.dial(ctx)
	}
	if err == nil {
		s.downUntil.Store(0)
		return c, nil
	}
	if x.cancelled.Load() {
		return nil, &Error{Kind: ClientGone, Server: s.addr, Step: "connecting", Err: errGone}
	}
	failed := &Error{Kind: dialKind(err), Server: s.addr, Step: "connecting", Err: err}
	if failed.ByUpstream() {
		s.downUntil.Store(now.Add(downFor).UnixNano())
	}
	return nil, failed
}

// dial makes a connection.
func (s *Server) dial(ctx context.Context) (*conn, error) {
	if err := s.shared.enter(); err != nil {
		return nil, err
	}
	dialer := net.Dialer{KeepAlive: 30 * time.Second}
	nc, err := dialer.DialContext(ctx, "tcp", s.addr)
	if err == nil {
		var c *conn
		if c, err = newConn(nc.(*net.TCPConn), s); err == nil {
			return c, nil
		}
		nc.Close()
	}
	s.shared.leave()
	return nil, err
}

// Up reports whether the last attempt to connect to the server succeeded. It is
// true before the first attempt.
func (s *Server) Up() bool { return s.downUntil.Load() == 0 }

// failedAfter reports whether the last attempt to connect failed, and began after
// the given time.
func (s *Server) failedAfter(when time.Time) bool {
	return s.downUntil.Load() > when.Add(downFor).UnixNano()
}

// down tells whether the server could not be connected to a moment ago.
func (s *Server) down(now time.Time) bool { return now.UnixNano() < s.downUntil.Load() }
