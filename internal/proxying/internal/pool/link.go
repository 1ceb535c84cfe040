package pool

import (
	"context"
	"crypto/tls"
	"errors"
	"io"

	"github.com/weirhq/weir/internal/transport"
)

// A Link is how connections to one server are made. It is immutable, and its address is its
// identity. The nil pointer is HTTP/1.1 without TLS.
type Link struct {
	tls   *tls.Config // nil without TLS
	http2 bool
}

// The values of ALPN.
var protocolHTTP1, protocolHTTP2 = []string{"http/1.1"}, []string{"h2"}

// NewLink returns a link with or without HTTP/2. config is that of TLS, or nil without TLS. It
// belongs to the link.
func NewLink(config *tls.Config, http2 bool) *Link {
	if config == nil && !http2 {
		return nil
	}
	if config != nil {
		if config.NextProtos = protocolHTTP1; http2 {
			config.NextProtos = protocolHTTP2
		}
	}
	return &Link{config, http2}
}

// shared reports whether exchanges share the connections.
func (l *Link) shared() bool { return l != nil && l.http2 }

// secure returns a connection with TLS over c, after its handshake, which ctx limits. After an
// error c is closed.
func secure(
	ctx context.Context, driver transport.Driver, c transport.Conn, l *Link,
) (transport.Conn, error) {
	s := transport.NewTLSClient(c.(transport.Carrier), l.tls)
	stop := context.AfterFunc(ctx, func() { s.SetDeadline(transport.Past) })
	err := s.Handshake(driver.Block)
	if !stop() { // it may set the deadline later
		err = context.Cause(ctx)
	}
	if err == nil && l.http2 && s.ConnectionState().NegotiatedProtocol != "h2" {
		err = errNoHTTP2
	}
	if err == nil {
		return s, nil
	}
	s.Close()
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, &HandshakeError{err}
}

var errNoHTTP2 = errors.New("the server does not speak HTTP/2")

// A HandshakeError is an error of the handshake of TLS.
type HandshakeError struct{ err error }

func (e *HandshakeError) Error() string {
	switch {
	case errors.Is(e.err, io.EOF), errors.Is(e.err, io.ErrUnexpectedEOF):
		return "TLS handshake: the server has closed the connection"
	default:
		return "TLS handshake: " + e.err.Error()
	}
}

func (e *HandshakeError) Unwrap() error { return e.err }
