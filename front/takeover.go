package front

import (
	"errors"
	"net"
	"syscall"
)

// bind listens on addr. If another process has the address and drains, bind
// takes its listener over.
func bind(addr string) (*net.TCPListener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		taken, takeErr := takeListener(addr)
		if takeErr == nil {
			return taken, nil
		}
		l, err = net.Listen("tcp", addr) // the other process may have ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// offerListeners offers all listeners to the next process until withdraw is
// called. The public ones go on accepting here; the admin listener leaves
// /readyz to the next process once that has taken it.
func (s *server) offerListeners() (withdraw func()) {
	var offers []func()
	offer := func(l *net.TCPListener, configured string, taken func()) {
		end, err := offerListener(l, withPort(configured, l), taken)
		if err != nil {
			s.door.log.Warn("listener not offered to the next process").Err(err).Send()
			return
		}
		offers = append(offers, end)
	}
	for i, l := range s.listeners {
		offer(l.TCPListener, s.door.cfg.Listen[i], func() {})
	}
	if l := s.adminListener; l != nil {
		offer(l.TCPListener, s.door.cfg.Admin, func() { l.Close() })
	}
	return func() {
		for _, end := range offers {
			end()
		}
	}
}

// withPort returns a configured address with the port that l has.
func withPort(configured string, l *net.TCPListener) string {
	host, _, _ := net.SplitHostPort(configured)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}
