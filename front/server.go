package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// server is a door's listeners and what runs on them.
type server struct {
	door   *Door
	public *http.Server
	admin  *http.Server

	listeners     []net.Listener
	adminListener net.Listener
	conns         conns
}

func newServer(d *Door) *server {
	s := &server{door: d}
	s.public = newHTTPServer(s)
	s.admin = newAdminServer(d)
	return s
}

// Listen binds every address of the configuration, or none: on an error
// nothing stays bound.
func (d *Door) Listen() error {
	s := d.server
	for _, addr := range d.cfg.Listen {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			s.unbind()
			return fmt.Errorf("listen: %w", err)
		}
		s.listeners = append(s.listeners, &listener{TCPListener: l.(*net.TCPListener), server: s})
	}
	if d.cfg.Admin == AdminOff {
		return nil
	}
	l, err := net.Listen("tcp", d.cfg.Admin)
	if err != nil {
		s.unbind()
		return fmt.Errorf("admin: %w", err)
	}
	s.adminListener = l
	return nil
}

func (s *server) unbind() {
	for _, l := range s.listeners {
		l.Close()
	}
	s.listeners = nil
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

// Serve serves until ctx is done, then drains: it stops accepting, says on
// /readyz that it does, lets the requests in flight finish within the
// configured time and cuts the rest. It returns nil when none had to be cut.
func (d *Door) Serve(ctx context.Context) error {
	s := d.server
	failed := make(chan error, len(s.listeners)+1)
	var running sync.WaitGroup
	serve := func(hs *http.Server, l net.Listener) {
		running.Go(func() {
			if err := hs.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	for _, l := range s.listeners {
		serve(s.public, l)
	}
	if s.adminListener != nil {
		serve(s.admin, s.adminListener)
	}
	unwatched := make(chan struct{})
	running.Go(func() { s.conns.watch(unwatched, func() bool { return d.metrics.inFlight.Load() > 0 }) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	err = errors.Join(err, d.drain())
	s.admin.Close()
	close(unwatched)
	running.Wait()
	return err
}

// drain waits for the requests in flight, and cuts them when their time is up.
func (d *Door) drain() error {
	d.draining.Store(true)
	s := d.server
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Drain)
	defer cancel()
	err := s.public.Shutdown(ctx)
	if err == nil {
		err = d.awaitTunnels(ctx)
	}
	left := d.metrics.inFlight.Load()
	s.conns.each((*clientConn).leave)
	s.public.Close()
	d.awaitNone(drainCut)
	for _, up := range d.tables.Load().upstreams {
		up.Close()
	}
	if err != nil && left > 0 {
		return fmt.Errorf("%d requests were cut after %v", left, d.cfg.Drain)
	}
	return nil
}

// drainCut is how long requests that were cut may take to end.
const drainCut = time.Second

// awaitTunnels waits for the connections that net/http has let go of.
func (d *Door) awaitTunnels(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for d.metrics.inFlight.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (d *Door) awaitNone(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	d.awaitTunnels(ctx)
}
