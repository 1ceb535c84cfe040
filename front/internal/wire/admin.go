package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/transport"
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
	reject func(a transport.Accepted, broken string)

	mu  sync.Mutex // guards set, and idle of each connection
	set map[*adminConn]struct{}
}

// newAdminListener returns a listener that uses free to close an unused file of
// the process, and reject for connections beyond adminConns.
func newAdminListener(l *net.TCPListener, free func() bool, reject func(transport.Accepted, string)) *adminListener {
	a := newAcceptor(transport.NewListener(l), adminSpare, free)
	return &adminListener{acceptor: a, reject: reject, set: make(map[*adminConn]struct{})}
}

// Accept implements net.Listener. A connection beyond adminConns replaces an idle one,
// or is refused if there is none.
func (l *adminListener) Accept() (net.Conn, error) {
	for {
		a, _, err := l.accept()
		if err != nil {
			return nil, err
		}
		if !l.makeRoom() {
			l.reject(a, limitAdmin)
			continue
		}
		if nc, err := a.NetConn(); err == nil {
			return l.add(nc.TCP()), nil
		}
	}
}

// makeRoom closes an idle connection if the limit is reached, and reports whether there is room for another one.
func (l *adminListener) makeRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.set) < adminConns || l.closeIdle()
}

// add adds a connection. Only Accept adds some, so that there is still room.
func (l *adminListener) add(nc *net.TCPConn) *adminConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &adminConn{TCPConn: nc, listener: l}
	l.set[c] = struct{}{}
	return c
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

// An adminServer serves operators at one address.
type adminServer struct {
	*adminListener
	address Address
	http    *http.Server
}

// bindAdmin binds the address of the admin listener.
func (s *Server) bindAdmin(address Address) (*adminServer, error) {
	bound, err := s.bind(address)
	if err != nil {
		return nil, err
	}
	for _, more := range bound[1:] {
		more.Close()
	}
	pages := s.Admin(address.Text)
	pages.ConnState = adminStateChanged
	return &adminServer{
		adminListener: newAdminListener(bound[0], s.CloseUnused, s.rejector.reject),
		address:       address,
		http:          pages,
	}, nil
}

// run starts to serve.
func (a *adminServer) run(s *Server) {
	s.background.Go(func() {
		if err := a.http.Serve(a.adminListener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
}

// adminEnd is how long requests to an admin listener that is removed may take.
const adminEnd = time.Second

// end ends a server that a reload has removed, after its requests.
func (a *adminServer) end() {
	ctx, cancel := context.WithTimeout(context.Background(), adminEnd)
	defer cancel()
	a.http.Shutdown(ctx)
	a.close()
}

func (a *adminServer) close() {
	a.http.Close()
	a.adminListener.Close() // if the server has not been started
}
