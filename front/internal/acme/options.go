package acme

import (
	"crypto/x509"
	"time"
)

// Options are the options of a [Manager].
type Options struct {
	Names []string // in lower case; *.DOMAIN is a wildcard. At least one

	// Directory is the URL of the server's directory. Roots, unless nil, replace the roots of
	// the system for the connections to the server.
	Directory string
	Roots     *x509.CertPool

	Email   string // of the account; may be empty
	Storage string // the path of the folder, which is made if it is missing

	// HTTP and TLSALPN enable http-01 and tls-alpn-01, for names without a wildcard.
	HTTP, TLSALPN bool

	// DNS, if it has a command, is for dns-01: for wildcards, and with DNSForAll for all names.
	DNS       Hook
	DNSForAll bool

	// Log gets each event. It must not block.
	Log func(Event)

	// Retry is the time after the first failure; later ones are longer. Zero means a minute.
	// Interval is how often the certificates are examined. Zero means 10 minutes.
	Retry, Interval time.Duration
}
