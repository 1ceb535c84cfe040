package front

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
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
		a, usedSpare, err := l.accept()
		if since := l.closing.Load(); err != nil && since != 0 {
			a, err = l.acceptLast(time.Unix(0, since))
		}
		switch {
		case err != nil:
			return err
		case usedSpare:
			l.server.rejector.reject(a, limitFiles)
			l.refill()
		default:
			l.server.start(a)
		}
	}
}

// acceptLast accepts a connection that is left in the kernel's queue. If there is
// none, it closes the listener.
func (l *listener) acceptLast(since time.Time) (transport.Accepted, error) {
	now := time.Now()
	if now.Sub(since) < acceptLimit {
		l.SetDeadline(now.Add(acceptGrace))
		if a, err := l.Listener.Accept(); err == nil {
			return a, nil
		}
	}
	l.close()
	return nil, net.ErrClosed
}

// stop makes serve return when no connection is left.
func (l *listener) stop() {
	l.closing.CompareAndSwap(0, time.Now().UnixNano())
	l.SetDeadline(past)
}
