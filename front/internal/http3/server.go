package http3

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Options are the options of a [Server]. Its functions are called concurrently.
type Options struct {
	// TLS returns the configuration of a handshake, to which the version and the protocol of
	// HTTP/3 are added. After the handshake, connected is called, which returns the owner of
	// the connection.
	TLS func(*tls.ClientHelloInfo) (config *tls.Config, connected func(tls.ConnectionState) Owner)

	// Admit is called before the handshake of a new connection. It returns an error to refuse
	// it, or a function that is called at its end. The address of the client may be forged, but
	// only of up to [Unverified] connections at a time.
	Admit func(client netip.Addr) (end func(), err error)

	// Failed is called after a handshake that has failed, or that was refused with [ErrBusy].
	// Its errors are like the errors of a handshake by crypto/tls on a TCP connection.
	Failed func(error)

	// Limits returns the limits that apply now. It must not wait.
	Limits func() Limits
}

const (
	// Unverified is how many handshakes may be in progress with clients whose address may be
	// forged. Others must first prove that they receive packets at their address (RFC 9000,
	// section 8.1.2), which takes a round trip.
	Unverified = 100

	// Handshakes is how many handshakes may be in progress. More are refused.
	Handshakes = 1000
)

const (
	// silence is how long a client may send no packet. Both sides send one after half of it.
	silence = 30 * time.Second

	// streams is the maximum number of requests in progress on a connection.
	streams = 100

	// The windows are how many bytes of request bodies a client may send before they are read. That of a stream grows.
	// That of a connection suffices for all its streams, so that bodies that are not read hold up no others.
	streamWindow, maxStreamWindow = 64 << 10, 256 << 10
	connWindow                    = streams * maxStreamWindow
)

// ErrBusy is the error of a handshake that was refused because too many are in progress.
var ErrBusy = errors.New("too many handshakes")

// A Server serves HTTP/3 on one UDP socket.
type Server struct {
	socket    *Socket
	options   Options
	transport *quic.Transport
	listener  *quic.Listener
	shaking   atomic.Int64 // handshakes in progress
	serving   sync.WaitGroup
	ended     chan struct{} // closed when no connection is left after Drain or Close

	mu       sync.Mutex // guards the fields below
	conns    map[*conn]struct{}
	draining bool
	over     bool // ended is closed
}

// NewServer returns a server that accepts connections on the socket, which it owns. The time of a handshake is the
// present HeaderTimeout; later changes do not apply to it.
func NewServer(socket *Socket, o Options) (*Server, error) {
	s := &Server{socket: socket, options: o, ended: make(chan struct{}), conns: make(map[*conn]struct{})}
	s.transport = &quic.Transport{
		Conn:                  socket.UDPConn,
		ConnectionIDGenerator: socket,
		VerifySourceAddress:   func(net.Addr) bool { return s.shaking.Load() >= Unverified },
		ConnContext:           s.admit,
	}
	config := &quic.Config{
		HandshakeIdleTimeout: o.Limits().HeaderTimeout / 2, // quic-go ends a handshake after twice this time
		MaxIdleTimeout:       silence, KeepAlivePeriod: silence / 2,
		MaxIncomingStreams: streams, MaxIncomingUniStreams: 8,
		InitialStreamReceiveWindow: streamWindow, MaxStreamReceiveWindow: maxStreamWindow,
		InitialConnectionReceiveWindow: connWindow, MaxConnectionReceiveWindow: connWindow,
	}
	var err error
	s.listener, err = s.transport.Listen(&tls.Config{GetConfigForClient: s.configFor}, config)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configFor returns the configuration of a handshake. Data before the end of the handshake
// (0-RTT) is refused, because it can be replayed.
func (s *Server) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	config, connected := s.options.TLS(hello)
	hello.Context().Value(handshakeKey{}).(*handshake).connected = connected
	config = config.Clone()
	config.NextProtos = []string{"h3"}
	config.MinVersion = tls.VersionTLS13
	config.GetConfigForClient = nil // s.options.TLS has chosen
	return config, nil
}

// admit is called by quic-go for each new connection. It counts handshakes in progress.
func (s *Server) admit(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	if s.shaking.Add(1) > Handshakes {
		s.shaking.Add(-1)
		s.options.Failed(ErrBusy)
		return nil, ErrBusy
	}
	end, err := s.options.Admit(addressOf(info.RemoteAddr).Addr())
	if err != nil {
		s.shaking.Add(-1)
		return nil, err
	}
	h := &handshake{server: s}
	context.AfterFunc(ctx, func() {
		if h.end() {
			s.options.Failed(commonError(context.Cause(ctx)))
		}
		end()
	})
	return context.WithValue(ctx, handshakeKey{}, h), nil
}

// A handshake is that of an admitted connection.
type handshake struct {
	server    *Server
	connected func(tls.ConnectionState) Owner // set during the handshake
	ended     atomic.Bool
}

type handshakeKey struct{}

// end ends the handshake. It returns false if it has ended before.
func (h *handshake) end() bool {
	if h.ended.Swap(true) {
		return false
	}
	h.server.shaking.Add(-1)
	return true
}

// Serve serves connections until Drain or Close. It returns an error if the socket has failed.
func (s *Server) Serve() error {
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return nil
	}
	s.serving.Add(1) // before Wait, which follows Close
	s.mu.Unlock()
	defer s.serving.Done()
	for {
		c, err := s.listener.Accept(context.Background())
		switch {
		case errors.Is(err, quic.ErrServerClosed):
			return nil
		case err != nil:
			return err
		}
		h := c.Context().Value(handshakeKey{}).(*handshake)
		h.end()
		s.serving.Go(func() { s.serve(c, h.connected(c.ConnectionState().TLS)) })
	}
}

// serve serves a connection until its end.
func (s *Server) serve(qc *quic.Conn, owner Owner) {
	c := &conn{quic: qc, limits: s.options.Limits, owner: owner}
	var err error
	if c.control, err = qc.OpenUniStream(); err != nil {
		c.close(http3.ErrCodeNoError, "") // a client that allows no stream, or has ended the connection
		return
	}
	c.timer = time.AfterFunc(c.limits().HeaderTimeout, c.expire)
	defer c.timer.Stop()
	s.mu.Lock()
	s.conns[c] = struct{}{}
	if s.draining {
		s.serving.Go(c.goAway)
	}
	s.mu.Unlock()
	c.serve()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.checkEnd()
}

// checkEnd closes ended if no connection is left. The caller holds mu.
func (s *Server) checkEnd() {
	if s.draining && len(s.conns) == 0 && !s.over {
		s.over = true
		close(s.ended)
	}
}

// Drain accepts no new connections, and sends a GOAWAY to the clients of the others. Each
// connection ends after its requests.
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return
	}
	s.draining = true
	s.serving.Go(func() { s.listener.Close() }) // waits for the handshakes in progress
	for c := range s.conns {
		s.serving.Go(c.goAway)
	}
	s.checkEnd()
}

// Ended returns a channel that is closed when no connection is left after Drain.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Close ends all connections, and closes the socket. It does not wait for handlers.
func (s *Server) Close() error {
	s.mu.Lock()
	s.draining = true
	for c := range s.conns {
		c.close(http3.ErrCodeNoError, "")
	}
	s.checkEnd()
	s.mu.Unlock()
	return errors.Join(s.transport.Close(), s.socket.Close())
}

// Wait waits for the goroutines of all connections, after Close.
func (s *Server) Wait() { s.serving.Wait() }
