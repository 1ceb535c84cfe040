package upstreams

import (
	"crypto/tls"
	"crypto/x509"
	"strings"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// TLS configures the connections to the https servers of an upstream. Their
// certificates are always verified.
type TLS struct {
	// Roots are the certificates that are trusted: of issuers, or of servers themselves.
	// Without any, the roots of the system are trusted.
	Roots []*x509.Certificate

	// Certificate proves the identity of weir to the servers. Nil for none.
	Certificate *tls.Certificate

	// Name is the name that the servers are asked for and that their certificates must have.
	// Empty means the host of a server's URL.
	Name string
}

// A tlsDraft has the positions of keys of TLS.
type tlsDraft struct {
	TLS
	at        yamlfile.Pos
	cert, key yamlfile.Scalar
}

// tlsKeys returns the keys of [TLS] at a path.
func tlsKeys[T any](path string, at func(T) *tlsDraft, file func(T) certs.Reader) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Ambiguous: true, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			d := at(p.To)
			d.at = p.Key.Pos
			r.Fields(p, n)
			if d.cert.Text != "" || d.key.Text != "" {
				d.Certificate = file(p.To).Client(r.File, d.cert, d.key)
			}
		}},
		{Path: path + ".roots", Doc: "the certificates that are trusted", Ambiguous: true,
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				if path, ok := yamlfile.ReadOne(r, p, n, scalar.Path); ok {
					at(p.To).Roots = file(p.To).Chain(r.File, path, "the roots")
				}
			}},
		{Path: path + ".cert", Doc: "the certificate that servers get from weir", Ambiguous: true,
			Read: yamlfile.One(scalar.Path, func(t T) *yamlfile.Scalar { return &at(t).cert })},
		{Path: path + ".key", Doc: "the key of that certificate", Ambiguous: true,
			Read: yamlfile.One(scalar.Path, func(t T) *yamlfile.Scalar { return &at(t).key })},
		{Path: path + ".name", Doc: "the name that the certificates of servers must have", Ambiguous: true,
			Read: yamlfile.One(parseServerName, func(t T) *string { return &at(t).Name })},
	}
}

// parseProtocol reads the version of HTTP, and reports whether it is 2.
func parseProtocol(s yamlfile.Scalar) (bool, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"http1", "http2"}})
	switch s.Text {
	case "http1":
		return false, nil
	case "http2":
		return true, nil
	case "h2", "h2c", "grpc":
		return false, yamlfile.Refuse("write http2, which is h2 with https servers and h2c with others",
			"%s is not a protocol", yamlfile.Quote(s.Text))
	}
	return false, yamlfile.Refuse(yamlfile.RightWord(s.Text, []string{"http1", "http2"}), "%s is not a protocol",
		yamlfile.Quote(s.Text))
}

// parseServerName parses the name of a server in its certificate.
func parseServerName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "host", Pattern: "[-._:0-9A-Za-z]+"})
	name := strings.ToLower(s.Text)
	if !scalar.IsHost(name) {
		return "", yamlfile.Refuse("write a name, as in app.example.com", "%s is not the name of a server",
			yamlfile.Quote(s.Text))
	}
	return name, nil
}
