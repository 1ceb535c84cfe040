package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/admin"
	"github.com/weirhq/weir/front/internal/takeover"
)

// A listenersChange replaces the listeners of a server by those of another configuration.
// A listener is identified by its key.
type listenersChange struct {
	server    *server
	config    *config.Config
	listeners []*listener                  // in the order of the configuration
	added     []*listener                  // those of listeners that are new
	http3     map[*listener]*http3Listener // those that are new
	admin     *adminServer                 // nil for none
}

// prepare binds the addresses that a configuration adds. The caller then calls apply or
// abandon. After an error, no address is bound that was not before. Door.reloading is
// held here and below.
func (s *server) prepare(cfg *config.Config) (_ *listenersChange, err error) {
	c := &listenersChange{server: s, config: cfg, http3: make(map[*listener]*http3Listener)}
	defer func() {
		if err != nil {
			c.abandon()
		}
	}()
	if err := checkSpares(); err != nil {
		return nil, err
	}
	for _, wanted := range listenAddresses(cfg) {
		key, n := wanted.key(), len(c.listeners)
		for _, l := range s.listeners {
			if l.address.key() == key {
				c.listeners = append(c.listeners, l)
			}
		}
		if len(c.listeners) > n {
			continue
		}
		if err := c.add(wanted); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	for _, l := range c.listeners {
		if hasHTTP3(cfg, l.address) && l.http3.Load() == nil {
			if c.http3[l], err = listenHTTP3(l); err != nil {
				return nil, fmt.Errorf("tls.http3: %w", err)
			}
		}
	}
	switch {
	case cfg.Admin == config.AdminOff:
	case s.admin != nil && s.admin.address == adminAddress(cfg):
		c.admin = s.admin
	default:
		if c.admin, err = s.bindAdmin(adminAddress(cfg)); err != nil {
			return nil, fmt.Errorf("admin: %w", err)
		}
	}
	return c, nil
}

// A listenAddress is an address of the configuration with its use.
type listenAddress struct{ use, text string }

// The uses of addresses.
const (
	usePublic = "listen"
	useTLS    = "tls.listen"
	useAdmin  = "admin"
)

// key identifies the listener of an address. It is the text. If the port is 0, the kernel chooses
// one for each use, and the key has the use too.
func (a listenAddress) key() string {
	if strings.HasSuffix(a.text, ":0") && !strings.HasPrefix(a.text, config.SystemdPrefix) {
		return a.use + " " + a.text
	}
	return a.text
}

// listenAddresses returns the addresses of all public listeners.
func listenAddresses(cfg *config.Config) (all []listenAddress) {
	for _, address := range cfg.Listen {
		all = append(all, listenAddress{usePublic, address})
	}
	if cfg.TLS != nil {
		for _, address := range cfg.TLS.Listen {
			all = append(all, listenAddress{useTLS, address})
		}
	}
	return all
}

func adminAddress(cfg *config.Config) listenAddress { return listenAddress{useAdmin, cfg.Admin} }

// add binds an address.
func (c *listenersChange) add(a listenAddress) error {
	bound, err := c.server.bind(a)
	for _, tcp := range bound {
		public, wrapErr := newListener(tcp)
		if wrapErr != nil {
			tcp.Close()
			err = errors.Join(err, wrapErr)
			continue
		}
		l := &listener{
			acceptor: newAcceptor(public, 1, c.server.door.conns.CloseUnused), server: c.server, address: a,
			ended: make(chan struct{}),
		}
		c.listeners, c.added = append(c.listeners, l), append(c.added, l)
	}
	return err
}

// bind returns the listeners for an address of the configuration.
func (s *server) bind(a listenAddress) ([]*net.TCPListener, error) {
	if adopted := s.adopted[a.key()]; adopted != nil {
		delete(s.adopted, a.key())
		return adopted, nil
	}
	if name, found := strings.CutPrefix(a.text, config.SystemdPrefix); found {
		return nil, fmt.Errorf("systemd has passed no socket with the name %s, or a reload has closed it", name)
	}
	l, err := takeover.Listen(a.text)
	if errors.Is(err, syscall.EADDRINUSE) && s.awaitRemoved() {
		l, err = takeover.Listen(a.text)
	}
	if err != nil {
		return nil, err
	}
	return []*net.TCPListener{l}, nil
}

// awaitRemoved waits until the listeners that earlier reloads have removed are closed, and
// reports whether there were any. That takes up to acceptLimit.
func (s *server) awaitRemoved() bool {
	removed := s.removed
	for _, l := range removed {
		<-l.ended
	}
	s.removed = nil
	return removed != nil
}

// abandon closes the listeners that were bound for nothing.
func (c *listenersChange) abandon() {
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

// apply makes the change. New listeners accept before removed ones end.
func (c *listenersChange) apply() {
	s := c.server
	before, admin := s.listeners, s.admin
	s.listeners, s.admin = c.listeners, c.admin
	for _, l := range c.listeners {
		l.secure.Store(hasTLS(c.config, l.address))
		if h := c.http3[l]; h != nil {
			l.http3.Store(h)
			if s.running {
				h.run()
			}
		} else if !hasHTTP3(c.config, l.address) {
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
			s.remove(l, c.config.Drain.Delay)
		}
	}
	if admin != nil && admin != c.admin {
		s.background.Go(admin.end)
	}
}

// remove ends a listener that is not in s.listeners any more.
func (s *server) remove(l *listener, delay time.Duration) {
	l.retireHTTP3()
	if !s.running {
		l.close()
		return
	}
	l.draining.Store(true)
	s.removed = append(slices.DeleteFunc(s.removed, (*listener).hasEnded), l)
	s.background.Go(func() { l.remove(delay, s.draining) })
}

// An adminServer serves operators at one address.
type adminServer struct {
	*adminListener
	address listenAddress
	http    *http.Server
}

// bindAdmin binds the address of the admin listener.
func (s *server) bindAdmin(address listenAddress) (*adminServer, error) {
	bound, err := s.bind(address)
	if err != nil {
		return nil, err
	}
	for _, more := range bound[1:] {
		more.Close()
	}
	return &adminServer{
		adminListener: newAdminListener(bound[0], s.door.conns.CloseUnused, s.rejector.reject),
		address:       address,
		http:          s.newAdminHTTP(address.text),
	}, nil
}

// newAdminHTTP returns the server of the pages for operators.
func (s *server) newAdminHTTP(addr string) *http.Server {
	d := s.door
	h := admin.NewServer(addr, admin.Pages{
		Draining: d.draining.Load, Metrics: d.metrics.handler(), Log: d.out, Cost: d.cost,
		Upstreams: d.upstreams, Logger: d.logger, ErrorLog: s.errorLog,
	})
	h.ConnState = adminStateChanged
	return h
}

// run starts to serve.
func (a *adminServer) run(s *server) {
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
