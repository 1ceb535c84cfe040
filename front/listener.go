package front

import (
	"net"
	"sync/atomic"
	"time"
)

const (
	// acceptGrace is how long a closing listener waits for another connection
	// that is in the kernel's queue or being set up. Closing the listener would
	// reset it.
	acceptGrace = 20 * time.Millisecond
	// acceptLimit is how long a closing listener accepts connections at most.
	acceptLimit = time.Second
)

// A listener gives net/http its connections, as clientConns.
type listener struct {
	*acceptor
	server  *server
	closing atomic.Int64 // start of closing, as Unix time in nanoseconds; 0 before
}

// Accept implements net.Listener. It rejects connections beyond the limits;
// net/http never gets them.
func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, usedSpare, err := l.accept()
		if since := l.closing.Load(); err != nil && since != 0 {
			nc, err = l.acceptLast(time.Unix(0, since))
		}
		if err != nil {
			return nil, err
		}
		if usedSpare {
			l.server.rejector.reject(nc, limitFiles)
			l.refill()
			continue
		}
		c, broken := l.server.conns.admit(nc, l.server)
		if broken != "" {
			l.server.rejector.reject(nc, broken)
			continue
		}
		return c, nil
	}
}

// acceptLast accepts a connection that is left in the kernel's queue. If there is
// none, it closes the listener.
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

// Close implements net.Listener. The accept loop continues until no connection is
// left.
func (l *listener) Close() error {
	l.closing.CompareAndSwap(0, time.Now().UnixNano())
	return l.TCPListener.SetDeadline(past)
}
