package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weirhq/weir/front/config"
)

// server is a door's listeners and what runs on them.
type server struct {
	door   *Door
	public *http.Server
	admin  *http.Server

	listeners     []*listener
	accepting     sync.WaitGroup // the loops that accept on listeners
	adminListener *adminListener
	conns         conns

	turning chan struct{}  // has a place for each client that is turned away
	turned  sync.WaitGroup // those who wait for them to leave
	crowd   crowd
}

func newServer(d *Door) *server {
	s := &server{door: d, turning: make(chan struct{}, turnedAway), crowd: crowd{log: d.log}}
	s.conns.most = d.files.clients
	s.conns.mostOfOne = d.cfg.Limits.ConnectionsPerClient
	s.conns.exempt = d.cfg.TrustedProxies
	s.public = newHTTPServer(s)
	s.admin = newAdminServer(d)
	return s
}

// Listen binds every address of the configuration, or none: on an error
// nothing stays bound. On Linux it takes over the listeners of a process of the
// same user that drains; see [Door.Serve].
func (d *Door) Listen() error {
	s := d.server
	d.warnOfFiles()
	for _, addr := range d.cfg.Listen {
		l, err := bind(addr)
		if err != nil {
			s.unbind()
			s.listeners = nil
			return fmt.Errorf("listen: %w", err)
		}
		s.listeners = append(s.listeners, &listener{acceptor: newAcceptor(l, 1, d.shared.CloseUnused), server: s})
	}
	if d.cfg.Admin == config.AdminOff {
		return nil
	}
	l, err := bind(d.cfg.Admin)
	if err != nil {
		s.unbind()
		s.listeners = nil
		return fmt.Errorf("admin: %w", err)
	}
	s.adminListener = newAdminListener(l, s)
	return nil
}

// unbind closes the listeners. Nobody accepts on them.
func (s *server) unbind() {
	for _, l := range s.listeners {
		l.close()
	}
}

// Addrs returns the addresses that Listen has bound, ports included.
func (d *Door) Addrs() []net.Addr {
	var addrs []net.Addr
	for _, l := range d.server.listeners {
		addrs = append(addrs, l.Addr())
	}
	return addrs
}

// AdminAddr returns the address of the admin listener, nil without one.
func (d *Door) AdminAddr() net.Addr {
	if d.server.adminListener == nil {
		return nil
	}
	return d.server.adminListener.Addr()
}

// eventFailed says why a door stops that nobody has told to.
const eventFailed = "front door failed"

// Serve serves until ctx is done, then drains. At once /readyz returns 503,
// every response asks its client to close the connection, and the next process
// can take over the listeners. When the configured delay ends, Serve stops
// accepting, closes idle connections, lets the requests in flight finish within
// the configured timeout and cuts the rest. It returns nil when none had to be
// cut. A listener that fails ends it too, without a delay, and is its error.
func (d *Door) Serve(ctx context.Context) error {
	s := d.server
	failed := make(chan error, len(s.listeners)+1)
	var running sync.WaitGroup
	for _, l := range s.listeners {
		s.accepting.Go(func() {
			if err := s.public.Serve(l); !d.draining.Load() {
				failed <- err
			}
		})
	}
	if s.adminListener != nil {
		running.Go(func() {
			if err := s.admin.Serve(s.adminListener); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	unwatched := make(chan struct{})
	running.Go(func() { s.conns.watch(unwatched, func() bool { return d.metrics.inFlight.Load() > 0 }) })
	delay := d.cfg.Drain.Delay
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		d.log.Fatal(eventFailed).Err(err).Send()
		delay = 0
	}
	err = errors.Join(err, d.drain(delay))
	s.admin.Close()
	close(unwatched)
	running.Wait()
	s.turned.Wait()
	s.crowd.end()
	return err
}

// drain serves for the delay, then waits for the requests in flight and cuts
// them when the timeout ends.
func (d *Door) drain(delay time.Duration) error {
	s := d.server
	d.draining.Store(true)
	withdraw := s.offerListeners()
	defer withdraw()
	time.Sleep(delay)
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Drain.Timeout)
	defer cancel()
	s.stopAccepting(ctx)
	err := s.public.Shutdown(ctx)
	if err == nil {
		err = await(ctx, d.idle) // connections that net/http has let go of
	}
	left := d.metrics.inFlight.Load()
	d.cutting.Store(left > 0)
	s.conns.each((*clientConn).leave)
	s.public.Close()
	end, cancelEnd := context.WithTimeout(context.Background(), drainCut)
	defer cancelEnd()
	await(end, d.idle)
	for _, up := range d.tables.Load().upstreams {
		up.Close()
	}
	if err != nil && left > 0 {
		noun := "requests were"
		if left == 1 {
			noun = "request was"
		}
		return fmt.Errorf("%d %s cut after %v", left, noun, d.cfg.Drain.Timeout)
	}
	return nil
}

// idle tells whether no request is in flight.
func (d *Door) idle() bool { return d.metrics.inFlight.Load() == 0 }

// stopAccepting takes what the kernel has already accepted, and no more. From
// Shutdown on, net/http throws away each request that it reads: so the new
// connections come first, and those that stay silent are closed.
func (s *server) stopAccepting(ctx context.Context) {
	s.public.SetKeepAlivesEnabled(false)
	for _, l := range s.listeners {
		l.Close()
	}
	s.accepting.Wait()
	s.unbind()
	ctx, cancel := context.WithTimeout(ctx, firstRequestGrace)
	defer cancel()
	await(ctx, func() bool { return s.conns.fresh.Load() == 0 })
	s.conns.closeFresh()
}

// firstRequestGrace is how long a draining server waits for the first request
// of a connection.
const firstRequestGrace = 250 * time.Millisecond

// drainCut is how long requests that were cut may take to end.
const drainCut = time.Second

// await waits until a condition holds or ctx is done.
func await(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
