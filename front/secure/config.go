// Package secure configures the listeners for https: their certificates, from files or by ACME, and the certificates
// of clients. It has the types, and the keys of a file with their mistakes.
package secure

import (
	"crypto/tls"
)

// Config configures the listeners for https.
type Config struct {
	// Listen holds the addresses of the listeners, as for plain http. At least one; default
	// ":443".
	Listen []string

	// Certificates are in file order. At least one, unless there is ACME. The first is for
	// clients that ask for a name without a certificate, or for none.
	Certificates []Certificate

	// HTTP3 also serves HTTP/3, at the same addresses over UDP.
	HTTP3 bool

	// ACME, if not nil, obtains more certificates.
	ACME *ACME

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

// Default returns the defaults of all keys except certificates, which have none.
func Default() Config { return Config{Listen: []string{":443"}, MinVersion: tls.VersionTLS12} }
