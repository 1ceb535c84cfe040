package front

import (
	"net"
	"net/http"
	"sync"
)

const (
	// adminConns is how many connections the admin listener has at once.
	adminConns = 16
	// adminSpare is how many of them get through when files are scarce.
	adminSpare = 4
)

// An adminListener takes in a few connections, and these even when as many
// files are open as may be: a health check must not fail for want of one.
type adminListener struct {
	*acceptor
	server *server

	mu  sync.Mutex // guards what follows, and idle of each
	set map[*adminConn]struct{}
}

func newAdminListener(l *net.TCPListener, s *server) *adminListener {
	return &adminListener{acceptor: newAcceptor(l, adminSpare, s.door.shared.CloseUnused), server: s, set: make(map[*adminConn]struct{})}
}

// Accept implements net.Listener. A connection that is one too many takes the
// place of one that is idle.
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
		l.server.turnAway(nc, limitAdmin)
	}
}

// add adds a connection, if there is room for it.
func (l *adminListener) add(c *adminConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.set) >= adminConns && !l.closeIdle() {
		return false
	}
	l.set[c] = struct{}{}
	return true
}

// closeIdle closes a connection that is idle, if there is one. The caller holds
// mu.
func (l *adminListener) closeIdle() bool {
	for c := range l.set {
		if c.idle {
			delete(l.set, c)
			c.TCPConn.Close() // net/http sees it, and closes c
			return true
		}
	}
	return false
}

// Close implements net.Listener.
func (l *adminListener) Close() error { return l.close() }

// An adminConn gives its file back to the listener.
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

// adminStateChanged is told by net/http what a connection is doing.
func adminStateChanged(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*adminConn); ok {
		c.listener.mu.Lock()
		c.idle = state == http.StateIdle
		c.listener.mu.Unlock()
	}
}
