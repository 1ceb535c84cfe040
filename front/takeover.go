package front

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// bind listens on addr. If a draining process has the address, bind takes over
// its listener.
func bind(addr string) (*net.TCPListener, error) {
	l, err := listenTCP(addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		taken, takeErr := takeListener(addr)
		if takeErr == nil {
			return taken, nil
		}
		l, err = listenTCP(addr) // the other process may have ended in the meantime
	}
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// listenTCP listens without Multipath TCP, which has no filters; see transport.IgnoreNew.
func listenTCP(addr string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", addr)
}

// A listenerOffer is a listener that the next process may take over.
type listenerOffer struct {
	listener *net.TCPListener
	addr     string // as configured
	taken    func() // called each time that a process has taken over the listener
}

// offerListeners offers listeners to the next process until withdraw is called.
// It calls failed for each listener that it cannot offer.
func offerListeners(offers []listenerOffer, failed func(error)) (withdraw func()) {
	var ends []func()
	for _, o := range offers {
		end, err := offerListener(o.listener, withPort(o.addr, o.listener), o.taken)
		if err != nil {
			failed(err)
			continue
		}
		ends = append(ends, end)
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// withPort returns a configured address with the port of l.
func withPort(configured string, l *net.TCPListener) string {
	host, _, _ := net.SplitHostPort(configured)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}
