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
	// maxIdle is the number of unused connections that are kept for a server.
	maxIdle = 256
	// idleTimeout is the time for which an unused connection is kept.
	idleTimeout = 60 * time.Second
	// connectTimeout limits an attempt to connect.
	connectTimeout = 5 * time.Second

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
	provenAfter    = 1000
	// surplusFor is the time after surplus bytes from a server in which each
	// connection to it serves only one exchange.
	surplusFor = time.Minute

	// recentFor is the maximum time since the last use of a connection that may
	// carry a request that cannot be repeated. If a server closes connections
	// earlier, half of the observed time applies for learnedFor.
	recentFor  = time.Second
	learnedFor = time.Minute
)

// A Server is one address of an upstream, with the connections to it. It is
// safe for concurrent use.
type Server struct {
	url  string
	addr string

	mu    sync.Mutex
	conns []*conn // unused ones, longest unused first, guarded by mu
	sweep *time.Timer
	done  bool // closed; guarded by mu

	shared *Conns // nil without a limit

	surplusUntil atomic.Int64 // Unix time in nanoseconds
	proven       atomic.Int32 // how often nothing arrived within longReuseDelay of a response; at most provenAfter
	downUntil    atomic.Int64
	recent       atomic.Int64 // the learned limit, in nanoseconds
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

// take returns an unused connection on which nothing has arrived, or nil. If
// recent is true, its last use must be within recentLimit.
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

// pop removes the most recently used connection whose reuse delay is over.
func (s *Server) pop(now time.Time, recent bool) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The reuse delay is at least reuseDelay, so later connections cannot be
	// ready.
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

// startSweep schedules the removal of unused connections for when the first one
// reaches idleTimeout. The caller holds mu.
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

// close closes the unused connections now, and the others after their
// exchanges.
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

// connect takes an unused connection, if the policy allows it, or makes one
// within the timeout.
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

// failedAfter reports whether the last attempt to connect failed and began
// after the given time.
func (s *Server) failedAfter(when time.Time) bool {
	return s.downUntil.Load() > when.Add(downFor).UnixNano()
}

// down reports whether an attempt to connect has failed in the last downFor.
func (s *Server) down(now time.Time) bool { return now.UnixNano() < s.downUntil.Load() }
