package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/takeover"
	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/machine"
)

// A Server has listeners and serves their connections. Make it with [New]. The methods that use or
// change the set of listeners must not be called concurrently: the caller has a lock for them.
type Server struct {
	shared
	engine    engine
	http3     http3Listeners
	failed    chan error     // has the error of the first listener that failed
	ready     chan struct{}  // closed when the server accepts connections
	draining  chan struct{}  // closed when the drain begins
	ended     chan struct{}  // closed by Close
	accepting sync.WaitGroup // the accept loops of all listeners

	// The caller's lock guards the following fields, except after the drain has begun.
	listeners  []*listener
	admin      *adminServer
	adopted    map[string][]*net.TCPListener // that bind returns instead of binding, by key
	removed    []*listener                   // by changes; some may not be closed yet
	running    bool                          // Start has succeeded
	handedOver bool                          // the next process has the listeners
	background sync.WaitGroup                // other servers and listeners that end, and the watch of clients
}

// New returns a server without listeners. Call Use before Prepare.
func New(settings Settings) *Server {
	s := &Server{
		failed: make(chan error, 1), ready: make(chan struct{}), draining: make(chan struct{}), ended: make(chan struct{}),
	}
	s.Settings = settings
	s.rejector.limited, s.rejector.log = settings.Counts.Limited, newRejectionLog(settings.Log)
	s.rejector.lingering = make(chan struct{}, rejectLingering)
	s.handshakes = handshake.NewServer(settings.Certificate, machine.Processors())
	s.handshakeLog = newHandshakeLog(settings.Log)
	s.exchanges.New, s.streamExchanges.New = s.newHTTP1Exchange, s.newStreamExchange
	return s
}

// Use applies limits. Connections that exceed them stay.
func (s *Server) Use(l Limits) {
	s.inUse.Store(&l)
	s.conns.setLimits(l.Connections, l.ConnectionsPerClient, l.Exempt)
}

// UseTLS applies the options of handshakes, and returns the policy that follows from them. It sets
// the protocols.
func (s *Server) UseTLS(o handshake.Options) *handshake.Policy {
	o.Protocols = alpn
	s.handshakes.Use(o)
	return s.handshakes.Policy()
}

// fail makes a listener's error that of the server.
func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default: // another listener has failed
	}
}

// Failed returns a channel with the error of the first listener that has failed.
func (s *Server) Failed() <-chan error { return s.failed }

// Ready returns a channel that is closed when the server accepts connections.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Running reports whether the server has been started.
func (s *Server) Running() bool { return s.running }

// Connections returns the number of open connections of clients.
func (s *Server) Connections() int { return s.conns.len() }

// ConnectionsByProtocol returns the number of open connections of clients by the version of HTTP. Connections without a
// request yet count as HTTP/1.
func (s *Server) ConnectionsByProtocol() map[string]int { return s.conns.byProtocol() }

// LoopCPU returns the CPU time of each event loop. There is none with the engine of goroutines.
func (s *Server) LoopCPU() []time.Duration {
	if s.engine == nil { // before Start
		return nil
	}
	return s.engine.cpu()
}

// Adopt gives the server listeners that Prepare uses instead of binding an address, by its text, or
// by its use and its text if the port is 0.
func (s *Server) Adopt(listeners map[string][]*net.TCPListener) { s.adopted = listeners }

// CloseAdopted closes the adopted listeners that no address has used.
func (s *Server) CloseAdopted() {
	for _, list := range s.adopted {
		for _, l := range list {
			l.Close()
		}
	}
	s.adopted = nil
}

// Addrs returns the addresses of the public listeners, with their ports, in the order of the
// configuration.
func (s *Server) Addrs() []net.Addr {
	var addrs []net.Addr
	for _, l := range s.listeners {
		addrs = append(addrs, l.Addr())
	}
	return addrs
}

// URLs returns the addresses of the public listeners with their schemes, in the order of Addrs.
func (s *Server) URLs() []string {
	var urls []string
	for _, l := range s.listeners {
		scheme := "http"
		if l.tls.Load() {
			scheme = "https"
		}
		urls = append(urls, scheme+"://"+l.Addr().String())
	}
	return urls
}

// AdminAddr returns the address of the admin listener, or nil if there is none.
func (s *Server) AdminAddr() net.Addr {
	if s.admin == nil {
		return nil
	}
	return s.admin.Addr()
}

// Listeners returns the listeners for the next process, with the keys by which it adopts them.
func (s *Server) Listeners() (keys []string, listeners []*net.TCPListener) {
	for _, l := range s.listeners {
		keys, listeners = append(keys, l.address.key()), append(listeners, l.TCP())
	}
	if a := s.admin; a != nil {
		keys, listeners = append(keys, a.address.key()), append(listeners, a.TCP())
	}
	return keys, listeners
}

// Parse returns an exchange that has the head of a request, given as text of HTTP/1.1 with its empty line, but
// neither a body nor a connection. The error says why the head is not accepted. The exchange is not of a pool.
func (s *Server) Parse(scheme string, head []byte, client netip.Addr) (*Exchange, error) {
	in := newInput() // not of the pool, because the strings of the exchange are views of it
	in.begin(s.limits().Headers)
	in.add(head)
	n, failure := in.parser.Parse(in.unread())
	if refused, ok := failure.(*http1.Error); ok {
		return nil, fmt.Errorf("the front door would respond with %d: %s", refused.Status, refused.Reason)
	}
	if n == 0 {
		return nil, errors.New("the head is not complete")
	}
	x := new(Exchange)
	x.read(in, scheme)
	x.Peer = client
	s.Attach(x)
	return x, nil
}

// Start starts the engine and the listeners. If loops is false, or the system has none, the engine is
// goroutines.
func (s *Server) Start(loops bool) (err error) {
	s.engine = goroutines{&s.shared}
	if loops {
		s.engine, err = newLoops(&s.shared)
	}
	if err != nil {
		for _, l := range s.listeners {
			l.close()
		}
		return fmt.Errorf("event loops: %w", err)
	}
	s.running = true
	for _, l := range s.listeners {
		l.run()
		if l.http3 != nil {
			l.http3.run()
		}
	}
	if s.admin != nil {
		s.admin.run(s)
	}
	s.background.Go(func() { s.conns.watchSlow(s.ended, s.Busy) })
	close(s.ready)
	return nil
}

// HandOver prepares for the next process, which may bind the addresses of HTTP/3.
func (s *Server) HandOver() error {
	for _, h := range s.http3.all() {
		if err := h.handOver(); err != nil {
			return err
		}
	}
	return nil
}

// HandedOver records that the next process has the listeners, and ends the admin listener: the next
// process serves its pages.
func (s *Server) HandedOver() {
	s.handedOver = true
	if a := s.admin; a != nil {
		s.admin = nil
		s.background.Go(a.end)
	}
}

// BeginDrain makes every response ask its client to close the connection. It returns the listeners for
// the next process, unless that has them already. The public ones continue to accept here until StopAccepting. The
// admin listener closes once it is taken, so that the next process serves its pages.
func (s *Server) BeginDrain() (public, admin []takeover.Offer) {
	close(s.draining)
	for _, l := range s.listeners {
		l.draining.Store(true)
	}
	if s.handedOver {
		return nil, nil
	}
	for _, h := range s.http3.all() {
		h.noteHandOver(h.handOver())
	}
	for _, l := range s.listeners {
		if l.address.Systemd == "" { // systemd passes the others to the next process
			public = append(public, takeover.Offer{Listener: l.TCP(), Addr: l.address.Text})
		}
	}
	if a := s.admin; a != nil && a.address.Systemd == "" {
		admin = append(admin, takeover.Offer{Listener: a.TCP(), Addr: a.address.Text, Taken: func() { a.Close() }})
	}
	return public, admin
}

// StopAccepting accepts the connections in the kernel's queue and closes the
// listeners.
func (s *Server) StopAccepting() {
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
}

// EndIdle waits for the first request of new connections, and ends the
// connections that have none in progress.
func (s *Server) EndIdle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstRequestGrace)
	defer cancel()
	await(ctx, func() bool { return s.conns.fresh.Load() == 0 })
	s.conns.each(func(c *clientConn) {
		c.listener.ending.Store(true)
		c.interrupt()
	})
}

// Await waits until no connection is left and idle returns true.
func (s *Server) Await(ctx context.Context, idle func() bool) error {
	return await(ctx, func() bool { return s.conns.len() == 0 && idle() })
}

// Cut ends all connections.
func (s *Server) Cut() {
	for _, h := range s.http3.all() {
		h.server.Close()
	}
	s.conns.each((*clientConn).cut)
}

// End ends the engine, after the last connection.
func (s *Server) End() {
	for _, h := range s.http3.all() {
		h.server.Wait()
	}
	s.serving.Wait()
	s.engine.close()
}

// CloseAdmin closes the admin listener.
func (s *Server) CloseAdmin() {
	if s.admin != nil {
		s.admin.close()
	}
}

// Close waits for everything else that the server has started, after a drain.
func (s *Server) Close() {
	close(s.ended)
	s.background.Wait()
	s.rejector.close()
	s.handshakeLog.Close()
	s.handshakes.Close()
}
