package proxying

import "time"

// A State is the state of a server, of which the exchanges that it gets depend.
type State string

// The states. A server that could have several has the first of them.
const (
	Draining  State = "draining"  // gets only exchanges whose sticky cookie names it
	Unhealthy State = "unhealthy" // its health checks fail: gets exchanges if no other server is usable
	Ejected   State = "ejected"   // its responses were worse than those of the others: the same
	Down      State = "down"      // a connection has just failed: gets exchanges if no other server is usable
	Starting  State = "starting"  // in its slow start: gets a part of its share
	Usable    State = "usable"
)

// States are all states.
var States = []State{Draining, Unhealthy, Ejected, Down, Starting, Usable}

// A ServerStatus describes a server of an upstream at one time.
type ServerStatus struct {
	Server      *Server
	Weight      int
	Backup      bool
	State       State
	LastFailure *Failure // nil if there was none
}

// Status returns the status of each server, in their order.
func (u *Upstream) Status(now time.Time) []ServerStatus {
	set := u.now()
	all := make([]ServerStatus, len(set.members))
	for i, m := range set.members {
		all[i] = ServerStatus{Server: m.Server, Weight: m.weight, Backup: m.backup,
			State: m.stateAt(now, u.options.SlowStart), LastFailure: m.lastFailure.Load()}
	}
	return all
}

func (s *Server) stateAt(now time.Time, slowStart time.Duration) State {
	switch {
	case s.state.Draining():
		return Draining
	case s.state.Unhealthy():
		return Unhealthy
	case s.state.Ejected(now):
		return Ejected
	case s.state.Down(now):
		return Down
	case s.state.Grown(now, slowStart) < 1:
		return Starting
	}
	return Usable
}

// SetDraining begins or ends the drain of the server, and reports whether it has changed. A
// server that drains gets no new exchanges, except for those whose sticky cookie names it. If
// the other servers cannot be used, exchanges fail.
func (s *Server) SetDraining(drain bool) (changed bool) { return s.state.SetDraining(drain) }

// Addr returns the host:port, or the path of a socket, that connections are made to.
func (s *Server) Addr() string { return s.conns.Addr }

// noteFailure records a failure of the server.
func (s *Server) noteFailure(err error) {
	if e, ok := err.(*Error); ok && e.ByUpstream() {
		s.lastFailure.Store(&Failure{At: time.Now(), Err: e})
	}
}
