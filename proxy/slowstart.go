package proxy

import "time"

// noteUse records whether the server can be used now. If it can be used again, its slow start
// begins.
func (s *Server) noteUse(now time.Time, usable bool) {
	switch away := s.away.Load(); {
	case !usable && !away:
		s.away.Store(true)
	case usable && away && s.away.CompareAndSwap(true, false):
		s.back.Store(now.UnixNano())
	}
}

// grown returns the part of its share that the server gets, from 0 to 1, if a slow start takes
// the given time.
func (s *Server) grown(now time.Time, over time.Duration) float64 {
	back := s.back.Load()
	if back == 0 || over <= 0 {
		return 1
	}
	return min(1, float64(now.UnixNano()-back)/float64(over))
}
