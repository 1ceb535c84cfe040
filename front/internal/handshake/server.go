package handshake

import (
	"crypto/tls"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

// A Server does the server's side of handshakes. Goroutines may share it.
type Server struct {
	certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	policy      atomic.Pointer[Policy]

	running transport.Handshakes
	slots   chan struct{} // one for each computation
	waiting atomic.Int64  // computations that wait for a slot

	rotateAt atomic.Int64 // Unix time in nanoseconds
	mu       sync.Mutex   // guards the fields below
	keys     ticketKeys
}

// NewServer returns a server that computes the parts of at most most handshakes at a time.
// certificate is [tls.Config.GetCertificate].
func NewServer(certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error), most int) *Server {
	s := &Server{certificate: certificate, slots: make(chan struct{}, most)}
	s.Use(Options{MinVersion: tls.VersionTLS12})
	return s
}

// Use sets the options of the handshakes that begin from now on.
func (s *Server) Use(o Options) {
	p := newPolicy(o, s.certificate)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = s.keys.install(p)
	s.policy.Store(p)
	s.rotateAt.CompareAndSwap(0, time.Now().Add(keyLifetime).UnixNano())
}

// rotate adds a key for session tickets when the lifetime of the newest one is over.
func (s *Server) rotate(now time.Time) {
	due := s.rotateAt.Load()
	if now.UnixNano() < due || !s.rotateAt.CompareAndSwap(due, now.Add(keyLifetime).UnixNano()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys.rotate(s.Policy())
}

// Policy returns the policy of the handshakes that begin now.
func (s *Server) Policy() *Policy { return s.policy.Load() }

// maxWaiting is how many handshakes wait for a processor. They need less than the time that
// a client waits: a handshake computes for a fraction of a millisecond.
const maxWaiting = 1024

// ErrBusy is the error of a handshake that was refused because too many wait.
var ErrBusy = errors.New("too many handshakes")

// Do does the handshake on a connection that the driver d serves, within the deadlines of the
// connection. received are bytes that were read from it before. After an error, the caller
// closes the connection that is returned.
func (s *Server) Do(c transport.Carrier, received []byte, d transport.Driver) (*transport.TLSConn, *Client, error) {
	s.rotate(time.Now())
	p := s.Policy()
	t := transport.NewTLSServer(c, received, p.base)
	if s.waiting.Load() >= maxWaiting {
		return t, nil, ErrBusy
	}
	if err := s.running.Do(t, func(part func()) { d.Block(func() { s.compute(part) }) }); err != nil {
		return t, nil, err
	}
	return t, p.client(t.ConnectionState()), nil
}

// Close frees the resources for later handshakes.
func (s *Server) Close() { s.running.Close() }

// compute calls a part of a handshake when a slot is free.
func (s *Server) compute(part func()) {
	s.waiting.Add(1)
	s.slots <- struct{}{}
	s.waiting.Add(-1)
	defer func() { <-s.slots }()
	part()
}
