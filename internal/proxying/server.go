package proxying

import (
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/balance"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
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
	// Context belongs to [Options.Prepare].
	Context any

	url     string
	id      uint64 // a hash of the URL and the address, for the policy Hash
	tlsHost string // the host of an https server; empty otherwise
	conns   pool.Pool

	// An exchange is at a server, and in flight, from its choice until it has ended there, or
	// another server was chosen.
	state balance.Server

	observer    atomic.Pointer[func(Attempt)]
	lastFailure atomic.Pointer[Failure]
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

// InFlight returns the number of exchanges at the server.
func (s *Server) InFlight() int { return int(s.state.InFlight()) }

// URL returns the URL of the server's [Endpoint], with an explicit port and without a slash at
// its end. If the Addr of the endpoint differs, that follows as a fragment, as in
// http://shop.example:8080#10.0.0.5.
func (s *Server) URL() string { return s.url }

// linkBy has new connections use the protocol of an upstream.
func (s *Server) linkBy(o *Options) { s.conns.SetLink(o.link(s.tlsHost)) }

// Up reports whether the last attempt to connect to the server succeeded. It is
// true before the first attempt.
func (s *Server) Up() bool { return s.state.Up() }
