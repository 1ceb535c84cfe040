package wire

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/weirhq/weir/front/internal/takeover"
)

// A Change replaces the listeners of a server by the listeners of another configuration. A
// listener is identified by its key. The caller calls Apply or Abandon.
type Change struct {
	server    *Server
	listeners []*listener                  // in the order of the configuration
	uses      []Address                    // of listeners
	added     []*listener                  // those of listeners that are new
	http3     map[*listener]*http3Listener // those that are new
	admin     *adminServer                 // nil for none
}

// Prepare binds the addresses that a configuration adds. A zero admin means no admin listener. After
// an error, no address is bound that was not before.
func (s *Server) Prepare(public []Address, admin Address) (_ *Change, err error) {
	c := &Change{server: s, http3: make(map[*listener]*http3Listener)}
	defer func() {
		if err != nil {
			c.Abandon()
		}
	}()
	if err := checkSpares(); err != nil {
		return nil, err
	}
	for _, wanted := range public {
		if err := c.listen(wanted); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	for i, l := range c.listeners {
		if c.uses[i].HTTP3 && l.http3 == nil && c.http3[l] == nil {
			if c.http3[l], err = listenHTTP3(l); err != nil {
				return nil, fmt.Errorf("tls.http3: %w", err)
			}
		}
	}
	switch {
	case admin == Address{}:
	case s.admin != nil && s.admin.address == admin:
		c.admin = s.admin
	default:
		if c.admin, err = s.bindAdmin(admin); err != nil {
			return nil, fmt.Errorf("admin: %w", err)
		}
	}
	return c, nil
}

// listen adds the listeners of an address: those that the server has, or new ones, for which it binds the address.
func (c *Change) listen(a Address) error {
	found := false
	for _, l := range c.server.listeners {
		if l.address.key() == a.key() {
			c.listeners, c.uses, found = append(c.listeners, l), append(c.uses, a), true
		}
	}
	if found {
		return nil
	}
	if a.HTTP3 && a.anyPort() && c.server.adopted[a.key()] == nil {
		return c.addBoth(a)
	}
	return c.add(a)
}

// portTries is how many ports of the kernel's choice are tried.
const portTries = 20

// addBoth binds a port that the kernel chooses over TCP and UDP. Another program may have the same port over UDP: then it
// binds another one, before it gives the first one back.
func (c *Change) addBoth(a Address) error {
	for tries := 1; ; tries++ {
		if err := c.add(a); err != nil {
			return err
		}
		last := len(c.added) - 1
		l := c.added[last]
		h, err := listenHTTP3(l)
		if err == nil {
			c.http3[l] = h
			return nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) || tries == portTries {
			return fmt.Errorf("tls.http3: %w", err)
		}
		defer l.close()
		c.listeners, c.uses, c.added = c.listeners[:len(c.listeners)-1], c.uses[:len(c.uses)-1], c.added[:last]
	}
}

// add binds an address.
func (c *Change) add(a Address) error {
	bound, err := c.server.bind(a)
	for _, tcp := range bound {
		public, wrapErr := newListener(tcp)
		if wrapErr != nil {
			tcp.Close()
			err = errors.Join(err, wrapErr)
			continue
		}
		l := &listener{
			acceptor: newAcceptor(public, 1, c.server.CloseUnused), server: c.server, address: a,
			ended: make(chan struct{}),
		}
		c.listeners, c.uses, c.added = append(c.listeners, l), append(c.uses, a), append(c.added, l)
	}
	return err
}

// bind returns the listeners for an address of the configuration.
func (s *Server) bind(a Address) ([]*net.TCPListener, error) {
	if adopted := s.adopted[a.key()]; adopted != nil {
		delete(s.adopted, a.key())
		return adopted, nil
	}
	if a.Systemd != "" {
		return nil, fmt.Errorf("systemd has passed no socket with the name %s, or a reload has closed it", a.Systemd)
	}
	l, err := takeover.Listen(a.Text)
	if errors.Is(err, syscall.EADDRINUSE) && s.awaitRemoved() {
		l, err = takeover.Listen(a.Text)
	}
	if err != nil {
		return nil, err
	}
	return []*net.TCPListener{l}, nil
}

// awaitRemoved waits until the listeners that earlier reloads have removed are closed, and
// reports whether there were any. That takes up to acceptLimit.
func (s *Server) awaitRemoved() bool {
	removed := s.removed
	for _, l := range removed {
		<-l.ended
	}
	s.removed = nil
	return removed != nil
}

// Abandon closes the listeners that were bound for nothing.
func (c *Change) Abandon() {
	for _, l := range c.added {
		l.close()
	}
	for _, h := range c.http3 {
		if h != nil {
			h.retire()
		}
	}
	if c.admin != nil && c.admin != c.server.admin {
		c.admin.close()
	}
}

// Apply makes the change. New listeners accept before removed ones end. delay is the delay of a
// drain.
func (c *Change) Apply(delay time.Duration) {
	s := c.server
	before, admin := s.listeners, s.admin
	s.listeners, s.admin = c.listeners, c.admin
	for i, l := range c.listeners {
		l.tls.Store(c.uses[i].TLS)
		if h := c.http3[l]; h != nil {
			l.setHTTP3(h)
			if s.running {
				h.run()
			}
		} else if !c.uses[i].HTTP3 {
			l.retireHTTP3()
		}
	}
	if s.running {
		for _, l := range c.added {
			l.run()
		}
		if c.admin != nil && c.admin != admin {
			c.admin.run(s)
		}
	}
	for _, l := range before {
		if !slices.Contains(c.listeners, l) {
			s.remove(l, delay)
		}
	}
	if admin != nil && admin != c.admin {
		s.background.Go(admin.end)
	}
}

// remove ends a listener that is not in s.listeners any more.
func (s *Server) remove(l *listener, delay time.Duration) {
	l.retireHTTP3()
	if !s.running {
		l.close()
		return
	}
	l.draining.Store(true)
	s.removed = append(slices.DeleteFunc(s.removed, (*listener).hasEnded), l)
	s.background.Go(func() { l.remove(delay, s.draining) })
}
