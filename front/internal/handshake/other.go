package handshake

import (
	"crypto/tls"
	"time"
)

// ConfigFor returns the configuration of a handshake that another package does, as HTTP/3
// needs it. The caller must not change it.
func (s *Server) ConfigFor(hello *tls.ClientHelloInfo) *tls.Config {
	s.rotate(time.Now())
	p := s.Policy()
	if r := p.rule(hello.ServerName); r != nil {
		return r.config
	}
	return p.base
}

// ClientOf returns the client of a connection after such a handshake.
func (s *Server) ClientOf(state tls.ConnectionState) *Client { return s.Policy().client(state) }
