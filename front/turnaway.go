package front

import (
	"io"
	"net"
	"time"
)

const (
	// turnAwayLinger is how long a client that is turned away may take to close
	// the connection.
	turnAwayLinger = 50 * time.Millisecond
	// turnedAway is how many may do so at once; others are not waited for.
	turnedAway = 16
	// turnAwayDrain is how much of what such a client sends is read.
	turnAwayDrain = 16 << 10
)

// answerBusy is what a client gets that is turned away, whatever it asks for.
var answerBusy = []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Content-Length: 24\r\nRetry-After: 1\r\nConnection: close\r\n\r\n503 Service Unavailable\n")

// turnAway tells a client that its connection is one too many, and closes it.
// Closed at once, with what the client sends unread, it would be reset and the
// answer lost; so that is waited for, though not by too many at once.
func (s *server) turnAway(nc *net.TCPConn, broken limitName) {
	s.door.metrics.refusal(broken, allRoutes).Inc()
	s.crowd.note(broken)
	nc.SetDeadline(time.Now().Add(turnAwayLinger))
	nc.Write(answerBusy) // fits the buffer of a new socket
	nc.CloseWrite()
	if broken != limitFiles {
		select {
		case s.turning <- struct{}{}:
			s.turned.Go(func() {
				io.CopyN(io.Discard, nc, turnAwayDrain)
				nc.Close()
				<-s.turning
			})
			return
		default:
		}
	}
	nc.Close()
}
