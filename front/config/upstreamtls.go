package config

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// UpstreamTLS configures the connections to the https servers of an upstream. Their
// certificates are always verified.
type UpstreamTLS struct {
	// Roots are the certificates that are trusted: those of issuers, or of servers themselves.
	// Without any, those of the system are trusted.
	Roots []*x509.Certificate

	// Certificate proves the identity of weir to the servers. Nil for none.
	Certificate *tls.Certificate

	// Name is the name that the servers are asked for and that their certificates must have.
	// Empty means the host of a server's URL.
	Name string
}

// An upstreamTLSDraft is an UpstreamTLS and the positions of its keys.
type upstreamTLSDraft struct {
	UpstreamTLS
	at        yamlfile.Pos
	cert, key yamlfile.Scalar
}

var upstreamTLSKeys = []key{
	{Path: "upstreams.*.protocol", Read: yamlfile.One(parseProtocol, func(f filling) *bool { return &f.upstream.HTTP2 })},
	{Path: "upstreams.*.tls", Ambiguous: true, Read: readUpstreamTLS},
	{Path: "upstreams.*.tls.roots", Ambiguous: true, Read: readUpstreamRoots},
	{Path: "upstreams.*.tls.cert", Ambiguous: true,
		Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.upstreamTLS.cert })},
	{Path: "upstreams.*.tls.key", Ambiguous: true,
		Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.upstreamTLS.key })},
	{Path: "upstreams.*.tls.name", Ambiguous: true,
		Read: yamlfile.One(parseServerName, func(f filling) *string { return &f.upstreamTLS.Name })},
}

func readUpstreamTLS(r *fileReader, p place, n *yamlfile.Node) {
	d := p.To.upstreamTLS
	d.at = p.Key.Pos
	r.Fields(p, n)
	if d.cert.Text != "" || d.key.Text != "" {
		d.Certificate = clientCertificate(r, p, d)
	}
	p.To.upstream.TLS = &d.UpstreamTLS
}

// checkUpstreamTLS reports keys of tls that concern no server.
func checkUpstreamTLS(r *fileReader, u *Upstream, d *upstreamTLSDraft) {
	if u.TLS == nil || u.List != (ServerList{}) {
		return // the list may get such servers later
	}
	for _, server := range u.Servers {
		if strings.HasPrefix(server.URL, httpsPrefix) {
			return
		}
	}
	if len(u.Servers) > 0 {
		r.Mistakef(d.at, "write https:// in the URLs of the servers, or remove it",
			"the upstream %s has no https server that %q could concern", yamlfile.Quote(u.Name), "tls")
	}
}

// readUpstreamRoots reads a file of certificates that are trusted.
func readUpstreamRoots(r *fileReader, p place, n *yamlfile.Node) {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Written)
	if !ok {
		return
	}
	name := namedfile.Resolve(r.Name(), path.Text)
	src, ok := p.To.readNamed(r.File, path.Pos, "the roots", name)
	if !ok {
		return
	}
	roots, refused := certs.ParseChain(src)
	if refused != nil {
		r.Mistakef(path.Pos, refused.Hint, "the roots %s: %s", yamlfile.Quote(name), refused.What)
		return
	}
	p.To.upstreamTLS.Roots = roots
}

// clientCertificate reads the certificate that weir shows to servers. It returns nil after a
// mistake.
func clientCertificate(r *fileReader, p place, d *upstreamTLSDraft) *tls.Certificate {
	if d.cert.Text == "" {
		r.Mistakef(d.key.Pos, "add cert, the file with the certificate", "the key has no certificate")
		return nil
	}
	if d.key.Text == "" {
		d.key = d.cert
	}
	certName, keyName := namedfile.Resolve(r.Name(), d.cert.Text), namedfile.Resolve(r.Name(), d.key.Text)
	certPEM, ok := p.To.readNamed(r.File, d.cert.Pos, "the certificate", certName)
	if !ok {
		return nil
	}
	keyPEM := certPEM
	if keyName != certName {
		if keyPEM, ok = p.To.readNamed(r.File, d.key.Pos, "the key", keyName); !ok {
			return nil
		}
	}
	chain, refused := certs.ParseChain(certPEM)
	if refused != nil {
		r.Mistakef(d.cert.Pos, refused.Hint, "the certificate %s: %s", yamlfile.Quote(certName), refused.What)
		return nil
	}
	if _, refused := certs.ParseKey(keyPEM); refused != nil {
		r.Mistakef(d.key.Pos, refused.Hint, "the key %s: %s", yamlfile.Quote(keyName), refused.What)
		return nil
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		r.Mistakef(d.key.Pos, "the two files are not a pair", "the private key is not that of the certificate %s",
			yamlfile.Quote(certName))
		return nil
	}
	if complaint := certs.Complaint(chain[0], time.Now()); complaint != "" {
		r.Warnf(d.cert.Pos, "servers do not accept it", "the certificate %s %s", yamlfile.Quote(d.cert.Text), complaint)
	}
	return &pair
}

// parseProtocol reads the version of HTTP, and reports whether it is 2.
func parseProtocol(s yamlfile.Scalar) (bool, *yamlfile.Refusal) {
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

// checkProtocol reports keys that exclude each other.
func checkProtocol(r *fileReader, p place, u *Upstream) {
	if u.HTTP2 && u.ProxyProtocol != 0 {
		r.Mistakef(p.Key.Pos, "keep one of them: clients share connections of HTTP/2",
			"the upstream %s has both %q and %q", yamlfile.Quote(u.Name), "protocol: http2", "proxy_protocol")
	}
}

// parseServerName parses the name of a server in its certificate.
func parseServerName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name := strings.ToLower(s.Text)
	if !scalar.IsHost(name) {
		return "", yamlfile.Refuse("write a name, as in app.example.com", "%s is not the name of a server",
			yamlfile.Quote(s.Text))
	}
	return name, nil
}
