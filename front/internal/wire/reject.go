package wire

import (
	"io"
	"sync"
	"time"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
)

const (
	// rejectLinger is how long a rejected client may take to close the connection.
	rejectLinger = 50 * time.Millisecond
	// rejectLingering is how many may do so at a time. Other connections are
	// closed immediately.
	rejectLingering = 16
	// rejectDiscard is how many bytes are read from such a client.
	rejectDiscard = 16 << 10
)

// busyResponse is the response to a rejected client, whatever it requests.
var busyResponse = []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Content-Length: 24\r\nRetry-After: 1\r\nConnection: close\r\n\r\n503 Service Unavailable\n")

// A rejector closes the connections that exceed a limit, counts and logs them.
type rejector struct {
	limited   func(limit string)
	log       eventpace.Flood
	lingering chan struct{} // a slot for each client that is waited for
	waiting   sync.WaitGroup
}

// reject sends a 503 and closes the connection. Closing it immediately, with
// unread bytes from the client, would reset it, and the client would lose the
// response. Therefore reject waits for some clients to close it first.
func (r *rejector) reject(a transport.Accepted, broken string) {
	r.note(broken)
	if broken != LimitFiles {
		select {
		case r.lingering <- struct{}{}:
			r.waiting.Go(func() {
				r.linger(a)
				<-r.lingering
			})
			return
		default:
		}
	}
	a.Refuse(busyResponse) // it fits the buffer of a new socket
}

// rejectTLS closes a connection of a TLS listener. A response would need a handshake.
func (r *rejector) rejectTLS(a transport.Accepted, broken string) {
	r.note(broken)
	a.Refuse(nil)
}

// note counts and logs a connection that is rejected.
func (r *rejector) note(broken string) {
	r.limited(broken)
	r.log.Note(broken)
}

// linger sends the response and waits until the client closes the connection.
func (r *rejector) linger(a transport.Accepted) {
	nc, err := a.NetConn()
	if err != nil {
		return
	}
	defer nc.Close()
	nc.Write(busyResponse) // it fits the buffer of a new socket, and has no deadline that a busy machine might miss
	nc.CloseWrite()
	nc.SetReadDeadline(time.Now().Add(rejectLinger))
	io.CopyN(io.Discard, nc, rejectDiscard)
}

// close waits for the clients that were rejected last.
func (r *rejector) close() {
	r.waiting.Wait()
	r.log.Close()
}

// eventTurnedAway is the event of connections that were rejected.
const eventTurnedAway = "connections turned away"

// newRejectionLog returns the log of rejected connections.
func newRejectionLog(logger func() *log.Logger) eventpace.Flood {
	return eventpace.Flood{Log: func() log.Event { return logger().Warn(eventTurnedAway) }, Key: "limit"}
}
