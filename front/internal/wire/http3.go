package wire

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

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/http3"
)

// An http3Listener serves HTTP/3 at the address of a TLS listener, over UDP.
type http3Listener struct {
	owner  *Server
	state  *listenerState // of the TLS listener
	addr   netip.AddrPort
	socket *http3.Socket // owned by server once that exists
	server *http3.Server // nil before run
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

// listenHTTP3 binds the address of l over UDP.
func listenHTTP3(l *listener) (*http3Listener, error) {
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	socket, err := http3.Listen(addr)
	if err != nil {
		return nil, err
	}
	return &http3Listener{owner: l.server, state: &l.listenerState, addr: addr, socket: socket}, nil
}

// eventBuffer is the event of a UDP socket with a small buffer.
const eventBuffer = "udp receive buffer is small"

// run starts to serve.
func (h *http3Listener) run() {
	s := h.owner
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
		s.Log().Warn(eventBuffer).Int("bytes", size).Int("wanted", wanted).Send()
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
	h.owner.background.Go(func() {
		h.server.Drain()
		<-h.server.Ended()
		h.server.Close()
		h.owner.http3.remove(h)
	})
}

// handOver prepares for the next socket at the address.
func (h *http3Listener) handOver() error {
	err := h.socket.HandOver()
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return fmt.Errorf("handing over the address %v of HTTP/3: %w", h.addr, err)
}

// noteHandOver logs an address that the next listener cannot have.
func (h *http3Listener) noteHandOver(err error) {
	if err != nil {
		h.owner.Log().Warn("udp address not handed over").Err(err).Send()
	}
}

// altSvc returns the value of Alt-Svc (RFC 7838) by which clients find the listener.
func (h *http3Listener) altSvc() string {
	return `h3=":` + strconv.Itoa(int(h.addr.Port())) + `"; ma=86400`
}

// admit counts a connection as one of the client, for the limits of connections.
func (h *http3Listener) admit(client netip.Addr) (end func(), err error) {
	s := &h.owner.shared
	c := &clientConn{server: s, listener: h.state, scheme: "https", peer: client, version: version3}
	if broken := s.conns.admit(c); broken != "" {
		s.rejector.note(broken)
		return nil, errConnections
	}
	c.mu.Lock()
	c.noteRequest() // a drain does not wait for its first request
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
	s := h.owner
	s.Counts.Handshake(result)
	s.handshakeLog.Note(string(result))
}

// connected counts a handshake, and returns the owner of the connection.
func (h *http3Listener) connected(client *handshake.Client) http3.Owner {
	s := &h.owner.shared
	s.Counts.Handshake(handshake.ResultOf(client, nil))
	s.Counts.Connected(client)
	return &http3Client{s, h.state, client}
}

// An http3Client is a connection over HTTP/3. It is the owner of the connection of package http3.
type http3Client struct {
	server   *shared
	listener *listenerState
	tls      *handshake.Client
}

// Serve implements http3.Owner.
func (c *http3Client) Serve(s *http3.Stream) {
	x := c.server.streamExchanges.Get().(*streamExchange)
	x.HTTP3, x.Scheme = true, "https"
	peer := s.Peer()
	x.Peer, x.PeerPort, x.TLS = peer.Addr(), peer.Port(), c.tls
	x.Pacer.NoRoom = true
	x.fill(c.server, c.listener, s, &s.Request)
	x.Run()
}

// Failed implements http3.Owner.
func (c *http3Client) Failed(e *http3.Error, client netip.Addr, connection bool) {
	c.server.noteStreamError(&streamError{
		count: c.server.Counts.HTTP3Error, event: "http/3 connection failed", client: client, connection: connection,
		reason: string(e.Reason), code: e.Code.String(), detail: e.Detail,
	})
}
