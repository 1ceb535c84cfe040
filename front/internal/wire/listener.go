package wire

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

// A listener accepts the connections of clients.
type listener struct {
	*acceptor
	listenerState
	server   *Server
	address  Address        // as configured first
	tls      atomic.Bool    // new connections have TLS
	http3    *http3Listener // at the same address; nil for none. The caller's lock guards it, see Server.
	closing  atomic.Int64   // start of closing, as Unix time in nanoseconds; 0 before
	ignoring atomic.Bool    // the kernel ignores new connections
	ended    chan struct{}  // closed when the accept loop has ended
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
			l.reject(a, LimitFiles)
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
	c := &clientConn{server: &s.shared, listener: &l.listenerState, scheme: "http",
		peer: remote.Addr().WithZone("").Unmap(), port: remote.Port()}
	if rule := s.limits().ProxyHeader; rule != nil {
		c.header = rule.of(c.peer)
	}
	if l.tls.Load() {
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
	if l.tls.Load() {
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
// kernel's queue and drains as a whole server does, but cuts no request. delay is that of
// the drain. It ends early when cancel is closed, because the whole server drains.
func (l *listener) remove(delay time.Duration, cancel <-chan struct{}) {
	if l.address.Systemd == "" { // systemd keeps its socket for the next process, which serves the connections in the queue
		l.ignoring.Store(transport.IgnoreNew(l.TCP()) == nil)
	}
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
	mine := func(c *clientConn) bool { return c.listener == &l.listenerState }
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

// setHTTP3 sets the listener of HTTP/3 at the same address.
func (l *listener) setHTTP3(h *http3Listener) {
	l.http3 = h
	altSvc := h.altSvc()
	l.altSvc.Store(&altSvc)
}

// retireHTTP3 ends the listener of HTTP/3, if there is one.
func (l *listener) retireHTTP3() {
	if h := l.http3; h != nil {
		l.http3 = nil
		l.altSvc.Store(nil)
		h.retire()
	}
}
