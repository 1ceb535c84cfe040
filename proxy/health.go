package proxy

import "time"

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
func (s *Server) SetUnhealthy(unhealthy bool) { s.unhealthy.Store(unhealthy) }

// Eject gives the server no exchanges until the given time, while others are usable. The zero
// time ends an ejection.
func (s *Server) Eject(until time.Time) {
	if until.IsZero() {
		s.ejectedUntil.Store(0)
		return
	}
	s.ejectedUntil.Store(until.UnixNano())
}

func (s *Server) ejected(now time.Time) bool { return now.UnixNano() < s.ejectedUntil.Load() }
