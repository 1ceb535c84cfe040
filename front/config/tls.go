package config

import (
	"crypto/x509"
	"time"
)

// TLS configures the listeners for https.
type TLS struct {
	// Listen holds the addresses of the listeners, as in Config.Listen. At least one; default
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

	// Redirect is the port of the https URLs to which requests over plain http are redirected,
	// except those of routes with PlainHTTP. Zero, the default, does not redirect.
	Redirect int

	// HSTS, if not nil, makes browsers use https only.
	HSTS *HSTS

	// ClientCertificates restrict hosts to clients with a certificate. Of several for a host,
	// that with its exact name is used, then that with a wildcard, then that without hosts.
	// None has a host of another one.
	ClientCertificates []ClientCertificates

	// SubjectHeader is the name of a request field in which upstreams get the subject of the
	// client's certificate (RFC 4514). The field of the client is removed. Empty for none.
	SubjectHeader string
}

// HSTS is the value of Strict-Transport-Security (RFC 6797).
type HSTS struct {
	MaxAge     time.Duration // whole seconds; zero makes browsers forget it
	Subdomains bool          // it is also for all subdomains
	Preload    bool          // browsers may have it in their lists
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

// ACME obtains certificates from a certification authority (RFC 8555).
type ACME struct {
	// Domains are host names in lower case, or *.DOMAIN for a wildcard, which needs a Hook. Each
	// gets a certificate of its own. At least one.
	Domains []string

	// Directory is the https URL of the server's directory. Default LetsEncrypt. Roots, unless
	// empty, replace those of the system for connections to the server.
	Directory string
	Roots     []*x509.Certificate

	Email   string // for messages of the authority; may be empty
	Storage string // the path of the folder with the account, keys and certificates

	// HTTP and ALPN enable http-01, which needs a plain listener, and tls-alpn-01. They are for
	// names without a wildcard. With DNS, these use dns-01 too.
	HTTP, ALPN, DNS bool

	// Hook sets and removes the records of dns-01. The zero value disables it.
	Hook ACMEHook
}

// LetsEncrypt is the default of [ACME.Directory].
const LetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// ACMEHook is a command that sets and removes TXT records of the DNS. Its arguments are
// followed by "present" or "cleanup", the name of the record and its value.
type ACMEHook struct {
	Command []string
	Timeout time.Duration // of one run. More than zero; default 2m
}
