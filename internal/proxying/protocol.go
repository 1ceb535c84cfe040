package proxying

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"

	"github.com/weirhq/weir/internal/proxying/internal/pool"
)

// sameProtocol reports whether connections with both options are equivalent.
func (o *Options) sameProtocol(other *Options) bool {
	return o.HTTP2 == other.HTTP2 && o.TLS.equal(&other.TLS)
}

// link returns the link to a server: tlsHost is the host of an https server, or else empty.
func (o *Options) link(tlsHost string) *pool.Link {
	if tlsHost == "" {
		return pool.NewLink(nil, o.HTTP2)
	}
	return pool.NewLink(o.TLS.config(tlsHost), o.HTTP2)
}

// TLS configures the connections to https servers. Their certificates are always verified. The
// zero value trusts the roots of the system. It must not change once it is used.
type TLS struct {
	// Roots are the certificates that are trusted. Nil means those of the system.
	Roots *x509.CertPool

	// Certificate proves the identity of this process to the servers. Nil for none.
	Certificate *tls.Certificate

	// Name is the name that the servers are asked for (SNI) and that their certificates must
	// have. Empty means the host of a server's URL.
	Name string
}

// equal reports whether connections with both configurations are equivalent.
func (t *TLS) equal(other *TLS) bool {
	sameRoots := t.Roots == other.Roots || t.Roots != nil && other.Roots != nil && t.Roots.Equal(other.Roots)
	return sameRoots && t.Name == other.Name && slices.EqualFunc(chainOf(t), chainOf(other), bytes.Equal)
}

// chainOf returns the chain of the certificate of this process.
func chainOf(t *TLS) [][]byte {
	if t.Certificate == nil {
		return nil
	}
	return t.Certificate.Certificate
}

// config returns the configuration of the connections to a server with the given host. Each
// server has one of its own, because a server cannot use the session tickets of another one.
func (t *TLS) config(host string) *tls.Config {
	c := &tls.Config{
		ServerName:         host,
		MinVersion:         tls.VersionTLS12,
		RootCAs:            t.Roots,
		ClientSessionCache: tls.NewLRUClientSessionCache(1), // the key of its entries is ServerName
	}
	if t.Name != "" {
		c.ServerName = t.Name
	}
	if t.Certificate != nil {
		c.Certificates = []tls.Certificate{*t.Certificate}
	}
	return c
}

// fromTLS reports whether an error of a read or a write is due to TLS: an alert, or a malformed
// record. With TLS 1.3, a server rejects a client's certificate after the handshake.
func fromTLS(err error) bool {
	var operation *net.OpError
	var record tls.RecordHeaderError
	return errors.As(err, &operation) && (operation.Op == "remote error" || operation.Op == "local error") ||
		errors.As(err, &record)
}
