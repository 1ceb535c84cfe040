package balance

import (
	"sync/atomic"
	"time"
)

// downFor is the time for which a server is passed over after a failed attempt to connect, while
// there are others.
const downFor = time.Second

// A Server is the state of a server that choices depend on. The zero value is that of a new
// server without a slow start. It is safe for concurrent use.
type Server struct {
	inFlight atomic.Int64

	draining     atomic.Bool
	unhealthy    atomic.Bool
	ejectedUntil atomic.Int64 // Unix time in nanoseconds
	downUntil    atomic.Int64
	failedFrom   atomic.Int64 // when the last failed attempt to connect began

	away atomic.Bool  // the server could not be used when an exchange last chose
	back atomic.Int64 // when it could be used again: Unix time in nanoseconds; 0 for always
}

// InFlight returns the number of exchanges at the server.
func (s *Server) InFlight() int64 { return s.inFlight.Load() }

// enter counts an exchange at the server. It reports false if there are max, unless max is 0.
func (s *Server) enter(max int) bool {
	if max == 0 {
		s.inFlight.Add(1)
		return true
	}
	for n := s.inFlight.Load(); n < int64(max); n = s.inFlight.Load() {
		if s.inFlight.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// Leave ends the place of an exchange at the server, which [Order.Place] has returned.
func (s *Server) Leave() { s.inFlight.Add(-1) }

// SetDraining begins or ends the drain of the server, and reports whether it has changed. Only an
// order for which the server is its own takes a server that drains.
func (s *Server) SetDraining(drain bool) (changed bool) { return s.draining.Swap(drain) != drain }

// Draining reports whether the server drains.
func (s *Server) Draining() bool { return s.draining.Load() }

// SetUnhealthy sets whether the health checks of the server fail.
func (s *Server) SetUnhealthy(unhealthy bool) { s.unhealthy.Store(unhealthy) }

// Unhealthy reports whether the health checks of the server fail.
func (s *Server) Unhealthy() bool { return s.unhealthy.Load() }

// Eject makes the server unusable until the given time. The zero time ends an ejection.
func (s *Server) Eject(until time.Time) {
	if until.IsZero() {
		s.ejectedUntil.Store(0)
		return
	}
	s.ejectedUntil.Store(until.UnixNano())
}

// Ejected reports whether the server is ejected.
func (s *Server) Ejected(now time.Time) bool { return now.UnixNano() < s.ejectedUntil.Load() }

// NoteConnected records that an attempt to connect has succeeded.
func (s *Server) NoteConnected() { s.downUntil.Store(0) }

// NoteNotConnected records that an attempt to connect has failed. If it took longer than downFor, the server is passed
// over for as long: otherwise a server that does not respond would get every second request.
func (s *Server) NoteNotConnected(began, ended time.Time) {
	s.failedFrom.Store(began.UnixNano())
	s.downUntil.Store(ended.Add(max(downFor, ended.Sub(began))).UnixNano())
}

// Up reports whether the last attempt to connect succeeded. It is true before the first one.
func (s *Server) Up() bool { return s.downUntil.Load() == 0 }

// Down reports whether an attempt to connect has failed in the last downFor, or in as long as it took.
func (s *Server) Down(now time.Time) bool { return now.UnixNano() < s.downUntil.Load() }

// failedAfter reports whether the last attempt to connect failed and began
// after the given time.
func (s *Server) failedAfter(when time.Time) bool {
	return !s.Up() && s.failedFrom.Load() > when.UnixNano()
}

// Usable reports whether the server is not passed over while there are others. A server that drains may be usable.
func (s *Server) Usable(now time.Time) bool {
	return !s.Down(now) && !s.unhealthy.Load() && !s.Ejected(now)
}

// noteUse records whether the server can be used now. If it can be used again, its slow start
// begins.
func (s *Server) noteUse(now time.Time, usable bool) {
	switch away := s.away.Load(); {
	case !usable && !away:
		s.away.Store(true)
	case usable && away && s.away.CompareAndSwap(true, false):
		s.BeginSlowStart(now)
	}
}

// BeginSlowStart begins the slow start of the server.
func (s *Server) BeginSlowStart(now time.Time) { s.back.Store(now.UnixNano()) }

// Grown returns the part of its share that the server gets, from 0 to 1, if a slow start takes
// the given time.
func (s *Server) Grown(now time.Time, over time.Duration) float64 {
	back := s.back.Load()
	if back == 0 || over <= 0 {
		return 1
	}
	return min(1, float64(now.UnixNano()-back)/float64(over))
}
