package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
)

// server holds the listeners of a door and the servers on them.
type server struct {
	door     *Door
	limits   config.Limits
	errorLog *stdlog.Logger // of net/http
	h2       *http.Server   // of the connections that http2 passes on
	http2    *http2Listener
	admin    *http.Server

	listeners     []*listener
	accepting     sync.WaitGroup // the accept loops of the listeners
	serving       sync.WaitGroup // the goroutines of connections
	closing       atomic.Bool    // connections without a request in progress must end
	adminListener *adminListener
	engine        engine
	conns         conns
	rejector      rejector
}

func newServer(d *Door) *server {
	s := &server{door: d, limits: withDefaults(d.cfg.Limits), http2: newHTTP2Listener(), errorLog: stdlog.New(io.Discard, "", 0)}
	log.Capture(s.errorLog, d.log, log.LevelWarn, "http server complaint")
	s.rejector.metrics, s.rejector.log.log = d.metrics, d.log
	s.rejector.lingering = make(chan struct{}, rejectLingering)
	s.conns.most = d.files.Clients
	s.conns.mostOfOne = d.cfg.Limits.ConnectionsPerClient
	s.conns.exempt = d.cfg.TrustedProxies
	s.h2 = newHTTP2Server(s)
	s.admin = newAdminServer(adminPages{
		addr:     d.cfg.Admin,
		draining: d.draining.Load,
		metrics:  d.metrics.handler(),
		log:      logHandler(d.out, d.cost),
		errorLog: s.errorLog,
	})
	return s
}

// Listen binds all addresses of the configuration. On an error it binds none. On
// Linux it takes over the listeners of a draining process of the same user; see
// [Door.Serve].
func (d *Door) Listen() error {
	d.warnOfFiles()
	if err := d.server.listen(d.cfg.Listen, d.cfg.Admin); err != nil {
		d.server.unbind()
		d.server.listeners = nil
		return err
	}
	return nil
}

// listen binds the public addresses and then the admin address.
func (s *server) listen(public []string, admin string) error {
	free := s.door.conns.CloseUnused
	for _, addr := range public {
		l, err := bind(addr)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		public, err := s.door.wrapListener(l)
		if err != nil {
			l.Close()
			return fmt.Errorf("listen: %w", err)
		}
		s.listeners = append(s.listeners, &listener{acceptor: newAcceptor(public, 1, free), server: s})
	}
	if admin == config.AdminOff {
		return nil
	}
	l, err := bind(admin)
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	s.adminListener = newAdminListener(l, free, s.rejector.reject)
	return nil
}

// eventLowered is the event of a configured limit that open files do not allow.
const eventLowered = "limit lowered to what open files allow"

// warnOfFiles logs the limits that open files do not allow.
func (d *Door) warnOfFiles() {
	for _, l := range []struct {
		name            limitName
		wanted, allowed int
	}{
		{limitConnections, d.cfg.Limits.MaxConnections, d.files.Clients},
		{limitInFlight, d.cfg.Limits.InFlight, d.files.Upstreams},
	} {
		if l.wanted > l.allowed {
			d.log.Warn(eventLowered).Str("limit", string(l.name)).Int("wanted", l.wanted).Int("allowed", l.allowed).
				Int("open_files", d.files.Files).Send()
		}
	}
}

// unbind closes the public listeners. No accept loop may be running.
func (s *server) unbind() {
	for _, l := range s.listeners {
		l.close()
	}
}

// Addrs returns the addresses that Listen has bound, with their ports.
func (d *Door) Addrs() []net.Addr {
	var addrs []net.Addr
	for _, l := range d.server.listeners {
		addrs = append(addrs, l.Addr())
	}
	return addrs
}

// AdminAddr returns the address of the admin listener, or nil if there is none.
func (d *Door) AdminAddr() net.Addr {
	if d.server.adminListener == nil {
		return nil
	}
	return d.server.adminListener.Addr()
}

// eventFailed is the event of a front door that stops because of an error.
const eventFailed = "front door failed"

// Serve serves until ctx is done, then drains. From then on, /readyz returns 503,
// every response asks its client to close the connection, and the next process
// can take over the listeners. After drain.delay, Serve stops accepting, closes
// idle connections, lets the requests in flight finish within drain.timeout, and
// cuts those that remain. It returns nil if it has cut none. If a listener fails,
// Serve drains without a delay and returns the error.
func (d *Door) Serve(ctx context.Context) error {
	s := d.server
	var err error
	if s.engine, err = d.newEngine(); err != nil {
		s.unbind()
		return fmt.Errorf("event loops: %w", err)
	}
	failed := make(chan error, len(s.listeners)+1)
	var running sync.WaitGroup
	for _, l := range s.listeners {
		s.accepting.Go(func() {
			if err := l.serve(); !d.draining.Load() {
				failed <- err
			}
		})
	}
	running.Go(func() { s.h2.Serve(s.http2) })
	if s.adminListener != nil {
		running.Go(func() {
			if err := s.admin.Serve(s.adminListener); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	unwatched := make(chan struct{})
	running.Go(func() { s.conns.watchSlow(unwatched, func() bool { return d.metrics.inFlight.Load() > 0 }) })
	delay := d.cfg.Drain.Delay
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
	s.rejector.close()
	return err
}

// drain serves for the delay, then waits for the requests in flight, and cuts them
// after drain.timeout.
func (d *Door) drain(delay time.Duration) error {
	s := d.server
	d.draining.Store(true)
	withdraw := offerListeners(s.offers(), func(err error) {
		d.log.Warn("listener not offered to the next process").Err(err).Send()
	})
	defer withdraw()
	time.Sleep(delay)
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Drain.Timeout)
	defer cancel()
	s.stopAccepting(ctx)
	err := errors.Join(s.h2.Shutdown(ctx), await(ctx, s.quiet))
	left := d.metrics.inFlight.Load()
	d.cutting.Store(left > 0)
	s.h2.Close()
	s.conns.each((*clientConn).cut)
	d.mirrors.end()
	end, cancelEnd := context.WithTimeout(context.Background(), drainCut)
	defer cancelEnd()
	if await(end, s.quiet) == nil {
		d.mirrors.running.Wait()
		s.serving.Wait() // goroutines that do not end, because the log is stalled, are left
		s.engine.close()
	}
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

// offers returns the listeners for the next process. The public ones continue to
// accept here. The admin listener closes once it is taken, so that /readyz is that
// of the next process.
func (s *server) offers() []listenerOffer {
	var offers []listenerOffer
	for i, l := range s.listeners {
		offers = append(offers, listenerOffer{l.TCP(), s.door.cfg.Listen[i], func() {}})
	}
	if l := s.adminListener; l != nil {
		offers = append(offers, listenerOffer{l.TCP(), s.door.cfg.Admin, func() { l.Close() }})
	}
	return offers
}

// quiet reports whether no connection is left, and no request or copy is in flight.
func (s *server) quiet() bool {
	return s.conns.len() == 0 && s.door.metrics.inFlight.Load() == 0 && s.door.mirrors.slots.used.Load() == 0
}

// stopAccepting accepts the connections in the kernel's queue and closes the
// listeners. Then it waits for the first request of new connections, and ends the
// connections that have none in progress.
func (s *server) stopAccepting(ctx context.Context) {
	s.h2.SetKeepAlivesEnabled(false)
	for _, l := range s.listeners {
		l.stop()
	}
	s.accepting.Wait()
	s.unbind()
	ctx, cancel := context.WithTimeout(ctx, firstRequestGrace)
	defer cancel()
	await(ctx, func() bool { return s.conns.fresh.Load() == 0 })
	s.closing.Store(true)
	s.conns.each((*clientConn).interrupt)
}

// hasLoops reports whether the engine is event loops. A log that blocks the request whose
// event does not fit would hold up a whole loop.
func (d *Door) hasLoops() bool {
	return d.cfg.Engine != config.EngineGoroutines && d.cfg.Log.Queue.WhenFull != "block"
}

// wrapListener returns the listener for the engine.
func (d *Door) wrapListener(l *net.TCPListener) (transport.Listener, error) {
	if d.hasLoops() {
		return newLoopListener(l)
	}
	return transport.NewListener(l), nil
}

// newEngine returns the engine of the configuration.
func (d *Door) newEngine() (engine, error) {
	if d.hasLoops() {
		return newLoops(d.server)
	}
	return goroutines{d.server}, nil
}

// panicked logs a panic in a loop that is not one of a request, which only ends the
// connection.
func (s *server) panicked(value any, stack []byte) {
	s.door.log.Error("panic on a connection").Err(fmt.Errorf("%v\n%s", value, stack)).Send()
}

// start serves an accepted connection, or rejects it.
func (s *server) start(a transport.Accepted) {
	c := &clientConn{server: s, peer: a.Remote().Addr().WithZone("").Unmap()}
	if broken := s.conns.admit(c); broken != "" {
		s.rejector.reject(a, broken)
		return
	}
	s.engine.start(c, a)
}

// firstRequestGrace is how long a draining server waits for the first request
// of a connection.
const firstRequestGrace = 250 * time.Millisecond

// drainCut is how long the server waits for the requests that it has cut.
const drainCut = time.Second

// await polls a condition every millisecond until it holds or ctx is done.
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
