package front

import (
	"net"
	"net/http"
	"sync"
)

const (
	// adminConns is the maximum number of connections to the admin listener.
	adminConns = 16
	// adminSpare is how many of them are accepted when no files are left.
	adminSpare = 4
)

// An adminListener accepts a few connections, adminSpare of them even when the
// process has as many open files as it may, so that health checks still work.
type adminListener struct {
	*acceptor
	reject func(nc *net.TCPConn, broken limitName)

	mu  sync.Mutex // guards set, and idle of each connection
	set map[*adminConn]struct{}
}

// newAdminListener returns a listener that uses free to close an unused file of
// the process, and reject for connections beyond adminConns.
func newAdminListener(l *net.TCPListener, free func() bool, reject func(*net.TCPConn, limitName)) *adminListener {
	return &adminListener{acceptor: newAcceptor(l, adminSpare, free), reject: reject, set: make(map[*adminConn]struct{})}
}

// Accept implements net.Listener. A connection beyond adminConns replaces an idle
// one, or is rejected if there is none.
func (l *adminListener) Accept() (net.Conn, error) {
	for {
		nc, _, err := l.accept()
		if err != nil {
			return nil, err
		}
		c := &adminConn{TCPConn: nc, listener: l}
		if l.add(c) {
			return c, nil
		}
		l.reject(nc, limitAdmin)
	}
}

// add adds a connection and reports whether the limit allows it.
func (l *adminListener) add(c *adminConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.set) >= adminConns && !l.closeIdle() {
		return false
	}
	l.set[c] = struct{}{}
	return true
}

// closeIdle closes an idle connection and reports whether there was one. The
// caller holds mu.
func (l *adminListener) closeIdle() bool {
	for c := range l.set {
		if c.idle {
			delete(l.set, c)
			c.TCPConn.Close() // net/http notices and closes c
			return true
		}
	}
	return false
}

// Close implements net.Listener.
func (l *adminListener) Close() error { return l.close() }

// An adminConn reopens a spare file of its listener when it is closed.
type adminConn struct {
	*net.TCPConn
	listener *adminListener
	idle     bool
}

// Close implements net.Conn.
func (c *adminConn) Close() error {
	err := c.TCPConn.Close()
	c.listener.mu.Lock()
	delete(c.listener.set, c)
	c.listener.mu.Unlock()
	c.listener.refill()
	return err
}

// adminStateChanged is the ConnState hook of the admin server.
func adminStateChanged(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*adminConn); ok {
		c.listener.mu.Lock()
		c.idle = state == http.StateIdle
		c.listener.mu.Unlock()
	}
}
