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

// A listener accepts the connections of clients.
type listener struct {
	*acceptor
	server  *server
	closing atomic.Int64 // start of closing, as Unix time in nanoseconds; 0 before
}

// serve accepts connections and starts to serve them, until the listener is closed.
func (l *listener) serve() error {
	for {
		nc, usedSpare, err := l.accept()
		if since := l.closing.Load(); err != nil && since != 0 {
			nc, err = l.acceptLast(time.Unix(0, since))
		}
		switch {
		case err != nil:
			return err
		case usedSpare:
			l.server.rejector.reject(nc, limitFiles)
			l.refill()
		default:
			l.server.start(nc)
		}
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

// stop makes serve return when no connection is left.
func (l *listener) stop() {
	l.closing.CompareAndSwap(0, time.Now().UnixNano())
	l.TCPListener.SetDeadline(past)
}
