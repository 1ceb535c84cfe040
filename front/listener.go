package front

import (
	"context"
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

// A listener accepts the connections of clients. It has the state that its connections
// share.
type listener struct {
	*acceptor
	server   *server
	address  listenAddress                 // as configured first
	secure   atomic.Bool                   // new connections have TLS
	http3    atomic.Pointer[http3Listener] // at the same address; nil for none
	closing  atomic.Int64                  // start of closing, as Unix time in nanoseconds; 0 before
	ignoring atomic.Bool                   // the kernel ignores new connections
	draining atomic.Bool                   // each response asks its client to close the connection
	ending   atomic.Bool                   // connections without a request in progress must end
	ended    chan struct{}                 // closed when the accept loop has ended
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
			l.reject(a, limitFiles)
			l.refill()
		default:
			l.start(a)
		}
	}
}

// start serves an accepted connection, or rejects it.
func (l *listener) start(a transport.Accepted) {
	s := l.server
	remote := a.Remote()
	c := &clientConn{server: s, listener: l, scheme: "http", peer: remote.Addr().WithZone("").Unmap(),
		port: remote.Port()}
	if rule := s.headers.Load(); rule != nil {
		c.header = rule.of(c.peer)
	}
	if l.secure.Load() {
		c.scheme = "https"
	}
	if broken := s.conns.admit(c); broken != "" {
		l.reject(a, broken)
		return
	}
	s.engine.start(c, a)
}

// reject closes a connection because of a limit.
func (l *listener) reject(a transport.Accepted, broken string) {
	if l.secure.Load() {
		l.server.rejector.rejectTLS(a, broken)
	} else {
		l.server.rejector.reject(a, broken)
	}
}

// acceptLast accepts a connection that is left in the kernel's queue. If there is
// none, it closes the listener. If the kernel ignores new connections, acceptLast waits for
// all that are being set up.
func (l *listener) acceptLast(since time.Time) (transport.Accepted, error) {
	now, limit := time.Now(), since.Add(acceptLimit)
	if now.Before(limit) {
		if !l.ignoring.Load() {
			limit = now.Add(acceptGrace)
		}
		l.SetDeadline(limit)
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

// run starts the accept loop.
func (l *listener) run() {
	s := l.server
	s.accepting.Go(func() {
		defer close(l.ended)
		if err := l.serve(); l.closing.Load() == 0 {
			s.fail(err)
		}
	})
}

// remove ends a listener that a reload has removed: it accepts the connections in the
// kernel's queue and drains as [Door.Serve] does, but cuts no request. delay is that of
// the drain. It ends early when cancel is closed, because the whole door drains.
func (l *listener) remove(delay time.Duration, cancel <-chan struct{}) {
	l.ignoring.Store(transport.IgnoreNew(l.TCP()) == nil)
	l.stop()
	<-l.ended
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-cancel:
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), firstRequestGrace)
	defer stop()
	mine := func(c *clientConn) bool { return c.listener == l }
	l.server.conns.awaitFirst(ctx, mine)
	l.ending.Store(true)
	l.server.conns.each(func(c *clientConn) {
		if mine(c) {
			c.interrupt()
		}
	})
}

// hasEnded reports whether the accept loop has ended.
func (l *listener) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}
