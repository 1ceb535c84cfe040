package front

import (
	"net"
	"sync/atomic"
	"time"
)

// acceptGrace is how long a closing listener goes on accepting the connections
// that the kernel has already made: closed at once, it would reset them.
const acceptGrace = 20 * time.Millisecond

// listener hands clientConns to net/http.
type listener struct {
	*net.TCPListener
	server  *server
	closing atomic.Bool
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.TCPListener.AcceptTCP()
	if err != nil {
		if l.closing.Load() {
			l.TCPListener.Close()
			return nil, net.ErrClosed
		}
		return nil, err
	}
	c := newClientConn(nc, l.server)
	l.server.conns.add(c)
	return c, nil
}

// Close implements net.Listener. The loop that accepts goes on for acceptGrace.
func (l *listener) Close() error {
	l.closing.Store(true)
	return l.TCPListener.SetDeadline(time.Now().Add(acceptGrace))
}
