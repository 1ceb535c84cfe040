package proxy

import "time"

// An order is the order in which one exchange tries the servers of an upstream.
type order struct {
	servers []*Server
	at      uint64
}

// order returns the order for the next exchange. Each one begins with another server.
func (u *Upstream) order() order { return order{u.Servers(), u.turn.Add(1) - 1} }

func (o *order) len() int { return len(o.servers) }

// next returns the next server. It begins anew after the last one.
func (o *order) next() *Server {
	s := o.servers[o.at%uint64(len(o.servers))]
	o.at++
	return s
}

// usable reports whether the server is not passed over while there are others.
func (s *Server) usable(now time.Time) bool { return !s.down(now) }
