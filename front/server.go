package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/takeover"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/log"
)

// server holds the listeners of a door and the servers on them.
type server struct {
	door         *Door
	errorLog     *stdlog.Logger // of net/http
	inUse        atomic.Pointer[config.Limits]
	headers      atomic.Pointer[headerRule] // of the PROXY protocol; nil for none
	engine       engine
	conns        conns
	http3        http3Listeners
	rejector     rejector
	handshakes   *handshake.Server
	handshakeLog eventpace.Flood
	clientRules  atomic.Pointer[handshake.Policy] // nil if no host has a rule for client certificates
	failed       chan error                       // has the error of the first listener that failed
	ready        chan struct{}                    // closed when Serve accepts connections
	draining     chan struct{}                    // closed when the drain begins
	accepting    sync.WaitGroup                   // the accept loops of all listeners
	serving      sync.WaitGroup                   // the goroutines of connections

	// Door.reloading guards the following fields, except after the drain has begun.
	listeners  []*listener
	admin      *adminServer
	adopted    map[string][]*net.TCPListener // that listen uses instead of binding, by key
	removed    []*listener                   // by reloads; some may not be closed yet
	running    bool                          // Serve has started
	handedOver bool                          // the next process has the listeners
	background sync.WaitGroup                // servers of net/http, and listeners that end

}

func newServer(d *Door) *server {
	s := &server{
		door: d, errorLog: stdlog.New(io.Discard, "", 0),
		failed: make(chan error, 1), ready: make(chan struct{}), draining: make(chan struct{}),
	}
	s.rejector.metrics, s.rejector.log = d.metrics, newRejectionLog(d.logger)
	s.handshakes, s.handshakeLog = handshake.NewServer(d.certs.store.Get, machine.Processors()), newHandshakeLog(d.logger)
	s.rejector.lingering = make(chan struct{}, rejectLingering)
	s.use(d.tables.Load())
	s.useTLS(d.tables.Load().config)
	return s
}

// use applies the limits of connections and the log of a configuration.
func (s *server) use(t *tables) {
	limits := withDefaults(t.config.Limits)
	s.inUse.Store(&limits)
	s.headers.Store(newHeaderRule(t.config.ProxyProtocol))
	s.conns.setLimits(t.files.Clients, limits.ConnectionsPerClient, t.config.TrustedProxies)
	log.Capture(s.errorLog, t.events.log, log.LevelWarn, "http server complaint")
}

// limits returns the limits of the configuration in use. The caller must not change them.
func (s *server) limits() *config.Limits { return s.inUse.Load() }

// fail makes Serve return an error.
func (s *server) fail(err error) {
	select {
	case s.failed <- err:
	default: // another listener has failed
	}
}

// Listen reads the certificates and binds all addresses of the configuration. On an error it binds none. On
// Linux it takes over the listeners of a draining process of the same user; see
// [Door.Serve].
func (d *Door) Listen() error {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	t := d.tables.Load()
	d.logLimits(t)
	certificates, err := d.certs.prepare(t.config)
	if err != nil {
		return err
	}
	c, err := d.server.prepare(t.config)
	if err != nil {
		certificates.abandon()
		return err
	}
	certificates.apply()
	c.apply()
	d.server.closeAdopted()
	return nil
}

// The events of a configured limit that open files or the memory do not allow.
const (
	eventLowered   = "limit lowered to what open files allow"
	eventMemoryLow = "limit above what the memory allows"
)

// logLimits logs the limits that open files or the memory do not allow. A configured limit has precedence over the
// memory, which slow clients need and others do not.
func (d *Door) logLimits(t *tables) {
	for _, l := range []struct {
		name            string
		wanted, allowed int
	}{
		{limitConnections, t.config.Limits.MaxConnections, t.files.Clients},
		{limitInFlight, t.config.Limits.InFlight, t.files.Upstreams},
	} {
		switch logger := t.events.log; {
		case l.wanted > l.allowed:
			logger.Warn(eventLowered).Str("limit", string(l.name)).Int("wanted", l.wanted).Int("allowed", l.allowed).
				Int("open_files", t.files.Files).Send()
		case t.fitting > 0 && l.wanted > t.fitting:
			logger.Warn(eventMemoryLow).Str("limit", string(l.name)).Int("wanted", l.wanted).Int("allowed", t.fitting).
				Int64("memory", d.memory).Send()
		}
	}
}

// Addrs returns the addresses of the public listeners, with their ports, in the order of
// the configuration.
func (d *Door) Addrs() []net.Addr {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	var addrs []net.Addr
	for _, l := range d.server.listeners {
		addrs = append(addrs, l.Addr())
	}
	return addrs
}

// URLs returns the addresses of the public listeners with their schemes, in the order of
// Addrs.
func (d *Door) URLs() []string {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	var urls []string
	for _, l := range d.server.listeners {
		scheme := "http"
		if l.secure.Load() {
			scheme = "https"
		}
		urls = append(urls, scheme+"://"+l.Addr().String())
	}
	return urls
}

// AdminAddr returns the address of the admin listener, or nil if there is none.
func (d *Door) AdminAddr() net.Addr {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if d.server.admin == nil {
		return nil
	}
	return d.server.admin.Addr()
}

// Ready returns a channel that is closed when Serve accepts connections.
func (d *Door) Ready() <-chan struct{} { return d.server.ready }

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
	if err := s.run(); err != nil {
		return err
	}
	watched, unwatch := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { s.conns.watchSlow(watched.Done(), func() bool { return d.metrics.inFlight.Load() > 0 }) })
	watching.Go(func() { d.certs.run(watched) })
	var err error
	delayed := true
	select {
	case <-ctx.Done():
	case err = <-s.failed:
		d.logger().Fatal(eventFailed).Err(err).Send()
		delayed = false
	}
	err = errors.Join(err, d.drain(delayed))
	unwatch()
	watching.Wait()
	s.background.Wait()
	s.rejector.close()
	s.handshakeLog.Close()
	s.handshakes.Close()
	d.stores.Stop()
	return err
}

// run starts the engine and the listeners.
func (s *server) run() error {
	s.door.reloading.Lock()
	defer s.door.reloading.Unlock()
	var err error
	if s.engine, err = s.newEngine(); err != nil {
		for _, l := range s.listeners {
			l.close()
		}
		return fmt.Errorf("event loops: %w", err)
	}
	s.running = true
	for _, l := range s.listeners {
		l.run()
		if h := l.http3.Load(); h != nil {
			h.run()
		}
	}
	if s.admin != nil {
		s.admin.run(s)
	}
	s.door.upstreams().Start()
	s.door.stores.Start()
	close(s.ready)
	return nil
}

// drain serves for drain.delay if delayed, then waits for the requests in flight, and
// cuts them after drain.timeout. No reload can follow.
func (d *Door) drain(delayed bool) error {
	s := d.server
	d.reloading.Lock()
	d.draining.Store(true)
	close(s.draining)
	for _, l := range s.listeners {
		l.draining.Store(true)
	}
	if !s.handedOver {
		for _, h := range s.http3.all() {
			h.noteHandOver(h.handOver())
		}
	}
	offers, limits := s.offers(), d.tables.Load().config.Drain
	d.reloading.Unlock()
	withdraw := takeover.OfferAll(offers, func(err error) {
		d.logger().Warn("listener not offered to the next process").Err(err).Send()
	})
	defer withdraw()
	if delayed {
		time.Sleep(limits.Delay)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.Timeout)
	defer cancel()
	s.stopAccepting(ctx)
	d.upstreams().Stop()
	err := await(ctx, s.quiet)
	left := d.metrics.inFlight.Load()
	d.cutting.Store(left > 0)
	for _, h := range s.http3.all() {
		h.server.Close()
	}
	s.conns.each((*clientConn).cut)
	d.features.mirror.End()
	end, cancelEnd := context.WithTimeout(context.Background(), drainCut)
	defer cancelEnd()
	if await(end, s.quiet) == nil {
		d.features.mirror.Wait()
		for _, h := range s.http3.all() {
			h.server.Wait()
		}
		s.serving.Wait() // goroutines that do not end, because the log is stalled, are left
		s.engine.close()
	}
	d.upstreams().Close()
	if s.admin != nil {
		s.admin.close()
	}
	if err != nil && left > 0 {
		noun := "requests were"
		if left == 1 {
			noun = "request was"
		}
		return fmt.Errorf("%d %s cut after %v", left, noun, limits.Timeout)
	}
	return nil
}

// offers returns the listeners for the next process. The public ones continue to
// accept here. The admin listener closes once it is taken, so that /readyz is that
// of the next process.
func (s *server) offers() []takeover.Offer {
	var offers []takeover.Offer
	if s.handedOver {
		return nil
	}
	for _, l := range s.listeners {
		if strings.HasPrefix(l.address.text, config.SystemdPrefix) {
			continue // systemd passes it to the next process
		}
		offers = append(offers, takeover.Offer{Listener: l.TCP(), Addr: l.address.text, Taken: func() {}})
	}
	if a := s.admin; a != nil && !strings.HasPrefix(a.address.text, config.SystemdPrefix) {
		offers = append(offers, takeover.Offer{Listener: a.TCP(), Addr: a.address.text, Taken: func() { a.Close() }})
	}
	return offers
}

// quiet reports whether no connection is left, and no request or copy is in flight.
func (s *server) quiet() bool {
	return s.conns.len() == 0 && s.door.metrics.inFlight.Load() == 0 && s.door.features.mirror.InFlight() == 0
}

// stopAccepting accepts the connections in the kernel's queue and closes the
// listeners. Then it waits for the first request of new connections, and ends the
// connections that have none in progress.
func (s *server) stopAccepting(ctx context.Context) {
	for _, h := range s.http3.all() {
		h.server.Drain()
	}
	for _, l := range s.listeners {
		l.stop()
	}
	s.accepting.Wait()
	for _, l := range s.listeners {
		l.close() // also if it has failed
	}
	ctx, cancel := context.WithTimeout(ctx, firstRequestGrace)
	defer cancel()
	await(ctx, func() bool { return s.conns.fresh.Load() == 0 })
	s.conns.each(func(c *clientConn) {
		c.listener.ending.Store(true)
		c.interrupt()
	})
}

// hasLoops reports whether the engine is event loops. A log that blocks the request whose
// event does not fit would hold up a whole loop.
func hasLoops(cfg *config.Config) bool {
	return cfg.Engine != config.EngineGoroutines && cfg.Log.Queue.WhenFull != "block"
}

// newEngine returns the engine of the configuration.
func (s *server) newEngine() (engine, error) {
	if hasLoops(s.door.tables.Load().config) {
		return newLoops(s)
	}
	return goroutines{s}, nil
}

// panicked logs a panic in a loop that is not one of a request, which only ends the
// connection.
func (s *server) panicked(value any, stack []byte) {
	s.door.logger().Error("panic on a connection").Err(fmt.Errorf("%v\n%s", value, stack)).Send()
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
