package handshake

import (
	"crypto/tls"
	"time"
)

// ConfigFor returns the configuration of a handshake that another package does, as HTTP/3
// needs it, and a function that returns the client after this handshake, also if the options
// have changed meanwhile. The caller must not change the configuration.
func (s *Server) ConfigFor(hello *tls.ClientHelloInfo) (*tls.Config, func(tls.ConnectionState) *Client) {
	s.rotate(time.Now())
	p := s.Policy()
	if r := p.rule(hello.ServerName); r != nil {
		return r.config, p.client
	}
	return p.base, p.client
}
