package front

import (
	"net"
	"sync/atomic"
	"time"
)

const (
	// acceptGrace is how long a closing listener waits for another connection
	// that the kernel has made or is making: closed at once, it would reset it.
	acceptGrace = 20 * time.Millisecond
	// acceptLimit is how long it takes them in at most.
	acceptLimit = time.Second
)

// listener hands clientConns to net/http.
type listener struct {
	*acceptor
	server  *server
	closing atomic.Int64 // since when, as Unix time in nanoseconds; 0 before
}

// Accept implements net.Listener. Connections that are one too many are told so
// and never seen by net/http.
func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, scarce, err := l.accept()
		if since := l.closing.Load(); err != nil && since != 0 {
			nc, err = l.acceptLast(time.Unix(0, since))
		}
		if err != nil {
			return nil, err
		}
		if scarce {
			l.server.turnAway(nc, limitFiles)
			l.refill()
			continue
		}
		c, broken := l.server.conns.admit(nc, l.server)
		if broken != "" {
			l.server.turnAway(nc, broken)
			continue
		}
		return c, nil
	}
}

// acceptLast accepts what the kernel has left, then closes.
func (l *listener) acceptLast(since time.Time) (*net.TCPConn, error) {
	now := time.Now()
	if now.Sub(since) < acceptLimit {
		l.TCPListener.SetDeadline(now.Add(acceptGrace))
		if nc, err := l.TCPListener.AcceptTCP(); err == nil {
			return nc, nil
		}
	}
	l.close()
	return nil, net.ErrClosed
}

// Close implements net.Listener. The loop that accepts goes on until nothing
// is left to accept.
func (l *listener) Close() error {
	l.closing.CompareAndSwap(0, time.Now().UnixNano())
	return l.TCPListener.SetDeadline(past)
}
