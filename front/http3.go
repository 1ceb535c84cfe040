package front

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/http3"
)

// An http3Listener serves HTTP/3 at the address of a TLS listener, over UDP.
type http3Listener struct {
	listener *listener
	altSvc   string        // the value of Alt-Svc (RFC 7838) by which clients find it
	socket   *http3.Socket // owned by server once that exists
	server   *http3.Server // nil before run
}

// http3Listeners are the listeners of HTTP/3 that serve, including those that end.
type http3Listeners struct {
	mu  sync.Mutex // guards set
	set map[*http3Listener]struct{}
}

func (hs *http3Listeners) add(h *http3Listener) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.set == nil {
		hs.set = make(map[*http3Listener]struct{})
	}
	hs.set[h] = struct{}{}
}

func (hs *http3Listeners) remove(h *http3Listener) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	delete(hs.set, h)
}

func (hs *http3Listeners) all() []*http3Listener {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return slices.Collect(maps.Keys(hs.set))
}

// hasHTTP3 reports whether an address of the configuration is one with HTTP/3.
func hasHTTP3(cfg *config.Config, a listenAddress) bool { return hasTLS(cfg, a) && cfg.TLS.HTTP3 }

// listenHTTP3 binds the address of l over UDP.
func listenHTTP3(l *listener) (*http3Listener, error) {
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	socket, err := http3.Listen(addr)
	if err != nil {
		return nil, err
	}
	altSvc := `h3=":` + strconv.Itoa(int(addr.Port())) + `"; ma=86400`
	return &http3Listener{listener: l, altSvc: altSvc, socket: socket}, nil
}

// eventBuffer is the event of a UDP socket with a small buffer.
const eventBuffer = "udp receive buffer is small"

// run starts to serve.
func (h *http3Listener) run() {
	s := h.listener.server
	server, err := http3.NewServer(h.socket, http3.Options{
		TLS: func(hello *tls.ClientHelloInfo) (*tls.Config, func(tls.ConnectionState) http3.Owner) {
			config, client := s.handshakes.ConfigFor(hello)
			return config, func(state tls.ConnectionState) http3.Owner { return h.connected(client(state)) }
		},
		Admit:  h.admit,
		Failed: h.failed,
		Limits: func() http3.Limits {
			l := s.limits()
			return http3.Limits{Header: l.Headers, HeaderTimeout: l.HeaderTimeout, IdleTimeout: l.IdleTimeout}
		},
	})
	if err != nil {
		s.fail(err)
		return
	}
	h.server = server
	s.http3.add(h)
	if size, wanted, err := h.socket.BufferSize(); err == nil && size < wanted {
		s.door.logger().Warn(eventBuffer).Int("bytes", size).Int("wanted", wanted).Send()
	}
	s.background.Go(func() {
		if err := server.Serve(); err != nil && !errors.Is(err, net.ErrClosed) {
			s.fail(err)
		}
	})
}

// retire sends a GOAWAY to the clients and ends the listener after its last request, or when
// the drain of the door closes it. A later reload may open another listener at its address.
func (h *http3Listener) retire() {
	if h.server == nil {
		h.socket.Close()
		return
	}
	h.noteHandOver(h.handOver())
	h.listener.server.background.Go(func() {
		h.server.Drain()
		<-h.server.Ended()
		h.server.Close()
		h.listener.server.http3.remove(h)
	})
}

// retireHTTP3 ends the listener of HTTP/3, if there is one.
func (l *listener) retireHTTP3() {
	if h := l.http3.Swap(nil); h != nil {
		h.retire()
	}
}

// handOver prepares for the next socket at the address.
func (h *http3Listener) handOver() error {
	err := h.socket.HandOver()
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return fmt.Errorf("handing over the address %v of HTTP/3: %w", h.listener.Addr(), err)
}

// noteHandOver logs an address that the next listener cannot have.
func (h *http3Listener) noteHandOver(err error) {
	if err != nil {
		h.listener.server.door.logger().Warn("udp address not handed over").Err(err).Send()
	}
}

// altSvc returns the value of Alt-Svc for responses of the listener, or "".
func (l *listener) altSvc() string {
	if l == nil { // of weir check --explain
		return ""
	}
	if h := l.http3.Load(); h != nil {
		return h.altSvc
	}
	return ""
}

// admit counts a connection as one of the client, for the limits of connections.
func (h *http3Listener) admit(client netip.Addr) (end func(), err error) {
	s := h.listener.server
	c := &clientConn{server: s, listener: h.listener, scheme: "https", peer: client}
	if broken := s.conns.admit(c); broken != "" {
		s.rejector.note(broken)
		return nil, errConnections
	}
	c.mu.Lock()
	c.see() // a drain does not wait for its first request
	c.mu.Unlock()
	return c.finish, nil
}

var errConnections = errors.New("too many connections")

// failed counts and logs a handshake that has failed.
func (h *http3Listener) failed(err error) {
	result := handshake.Refused
	if !errors.Is(err, http3.ErrBusy) {
		result = handshake.ResultOf(nil, err)
	}
	s := h.listener.server
	s.door.metrics.handshakes.count(result)
	s.handshakeLog.Note(string(result))
}

// connected counts a handshake, and returns the owner of the connection.
func (h *http3Listener) connected(client *handshake.Client) http3.Owner {
	s := h.listener.server
	s.door.metrics.handshakes.count(handshake.ResultOf(client, nil))
	s.door.metrics.handshakes.countClient(client)
	return &http3Client{h.listener, client}
}

// An http3Client is a connection over HTTP/3. It is the owner of the connection of package http3.
type http3Client struct {
	listener *listener
	tls      *handshake.Client
}

// Serve implements http3.Owner.
func (c *http3Client) Serve(s *http3.Stream) {
	x := streamExchanges.Get().(*streamExchange)
	x.HTTP3, x.Scheme = true, "https"
	peer := s.Peer()
	x.Peer, x.PeerPort, x.tls = peer.Addr(), peer.Port(), c.tls
	x.pacer.NoRoom = true
	x.fill(c.listener, s, &s.Request)
	x.Run()
}

// Failed implements http3.Owner.
func (c *http3Client) Failed(e *http3.Error, client netip.Addr, connection bool) {
	d := c.listener.server.door
	d.noteStreamError(&streamError{
		errors: d.metrics.http3, event: "http/3 connection failed", client: client, connection: connection,
		reason: string(e.Reason), code: e.Code.String(), detail: e.Detail,
	})
}
