package config

import "crypto/x509"

// TLS configures the listeners for https.
type TLS struct {
	// Listen holds the addresses of the listeners, as in Config.Listen. At least one; default
	// ":443".
	Listen []string

	// Certificates are in file order. At least one. The first is for clients that ask for a
	// name without a certificate, or for none.
	Certificates []Certificate

	// HTTP3 also serves HTTP/3, at the same addresses over UDP.
	HTTP3 bool

	// MinVersion is tls.VersionTLS12, the default, or tls.VersionTLS13.
	MinVersion uint16

	// ClientCertificates restrict hosts to clients with a certificate. Of several for a host,
	// that with its exact name is used, then that with a wildcard, then that without hosts.
	// None has a host of another one.
	ClientCertificates []ClientCertificates

	// SubjectHeader is the name of a request field in which upstreams get the subject of the
	// client's certificate (RFC 4514). The field of the client is removed. Empty for none.
	SubjectHeader string
}

// A Certificate is a pair of PEM files: Cert with the server's certificate and those of its
// issuers, and Key with the private key, which may be the same file.
type Certificate struct {
	Cert, Key string

	// Leaf is the server's certificate, as Parse has read it. The front door does not use it.
	Leaf *x509.Certificate
}

// ClientCertificates are the certificates by which clients prove their identity to hosts.
type ClientCertificates struct {
	// Hosts are names in lower case, or *.DOMAIN for all names with one more label. Empty means
	// all hosts.
	Hosts []string

	Roots    []*x509.Certificate // of the issuers. At least one
	Optional bool                // clients may have no certificate, but none of another issuer
}
