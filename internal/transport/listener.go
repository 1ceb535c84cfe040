package transport

import (
	"net"
	"net/netip"
	"time"
)

// A Listener accepts connections. It waits in the poller of package net.
type Listener interface {
	// Accept waits for the next connection. It returns the errors of
	// [net.TCPListener.AcceptTCP].
	Accept() (Accepted, error)

	// SetDeadline sets the deadline of Accept.
	SetDeadline(t time.Time) error

	// Close closes the listener. Accept then fails with net.ErrClosed.
	Close() error

	// TCP returns the listener of package net that is used.
	TCP() *net.TCPListener
}

// An Accepted is a connection that has no driver yet. The caller of Accept passes it to one.
type Accepted interface {
	// Remote returns the address of the peer.
	Remote() netip.AddrPort

	// NetConn returns the connection for the driver of goroutines. If it fails, the
	// connection is closed.
	NetConn() (*NetConn, error)

	// Refuse sends a response, as much as the socket takes immediately, and closes the
	// connection. It needs no other descriptor.
	Refuse(response []byte)
}

// NewListener returns a Listener for the driver of goroutines. It owns l.
func NewListener(l *net.TCPListener) Listener { return tcpListener{l} }

type tcpListener struct{ *net.TCPListener }

func (l tcpListener) TCP() *net.TCPListener { return l.TCPListener }

func (l tcpListener) Accept() (Accepted, error) {
	nc, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return tcpAccepted{nc}, nil
}

type tcpAccepted struct{ tcp *net.TCPConn }

func (a tcpAccepted) Remote() netip.AddrPort { return a.tcp.RemoteAddr().(*net.TCPAddr).AddrPort() }

func (a tcpAccepted) NetConn() (*NetConn, error) {
	c, err := NewConn(a.tcp)
	if err != nil {
		a.tcp.Close()
	}
	return c, err
}

func (a tcpAccepted) Refuse(response []byte) {
	a.tcp.SetWriteDeadline(time.Now().Add(refuseTimeout))
	a.tcp.Write(response)
	a.tcp.CloseWrite()
	a.tcp.Close()
}

// refuseTimeout limits a write that a new socket usually takes immediately.
const refuseTimeout = 10 * time.Millisecond
