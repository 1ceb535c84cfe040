package config

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// tlsKeys are the keys of [TLS].
var tlsKeys = []key{
	{Path: "tls", Read: readTLS},
	{Path: "tls.listen", Ambiguous: true,
		Read: some(parseListen, func(c *Config) *[]string { return &c.TLS.Listen })},
	{Path: "tls.http3", Read: one(yamlfile.Switch, func(c *Config) *bool { return &c.TLS.HTTP3 })},
	{Path: "tls.min_version", Read: one(parseVersion, func(c *Config) *uint16 { return &c.TLS.MinVersion })},
	{Path: "tls.certificates", Read: readCertificates},
	{Path: "tls.certificates.*", Read: readCertificate, Called: "a certificate"},
	{Path: "tls.certificates.*.cert", Required: "name the file with the certificate and those of its issuers",
		Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.certificate.cert })},
	{Path: "tls.certificates.*.key",
		Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.certificate.key })},
	{Path: "tls.subject_header", Read: one(scalar.SentHeader, func(c *Config) *string { return &c.TLS.SubjectHeader })},
	{Path: "tls.client_certificates", Read: readAllClientCertificates},
	{Path: "tls.client_certificates.*", Read: readClientCertificates, Called: "an entry of client_certificates"},
	{Path: "tls.client_certificates.*.hosts", Ambiguous: true,
		Read: yamlfile.Some(parseCertificateHost, func(f filling) *[]string { return &f.clients.Hosts })},
	{Path: "tls.client_certificates.*.roots", Read: readRoots,
		Required: "name the file with the certificates of the issuers, as in: roots: ca.pem"},
	{Path: "tls.client_certificates.*.optional", Ambiguous: true,
		Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.clients.Optional })},
}

func readTLS(r *fileReader, p place, n *yamlfile.Node) {
	p.To.config.TLS = &TLS{Listen: []string{":443"}, MinVersion: tls.VersionTLS12}
	p.To.tlsKey, p.To.certificates = p.Key.Pos, n.Kind != yamlfile.Mapping
	r.Fields(p, n)
}

// parseVersion reads a version of TLS.
func parseVersion(s yamlfile.Scalar) (uint16, *yamlfile.Refusal) {
	switch s.Text {
	case "1.2":
		return tls.VersionTLS12, nil
	case "1.3":
		return tls.VersionTLS13, nil
	}
	return 0, yamlfile.Refuse("it is 1.2 or 1.3; older versions are not safe", "%s is not a version of TLS that weir has",
		yamlfile.Quote(s.Text))
}

func readCertificates(r *fileReader, p place, n *yamlfile.Node) {
	p.To.certificates = true
	readEntries(r, p, n, readCertificate)
}

// readCertificate reads a pair of files.
func readCertificate(r *fileReader, p place, n *yamlfile.Node) {
	d := new(certificateDraft)
	p.To.certificate = d
	r.Fields(p, n)
	if d.cert.Text == "" {
		return
	}
	if d.key.Text == "" {
		d.key = d.cert
	}
	all := &p.To.config.TLS.Certificates
	pair := Certificate{Cert: namedfile.Resolve(r.Name(), d.cert.Text), Key: namedfile.Resolve(r.Name(), d.key.Text)}
	if slices.ContainsFunc(*all, func(c Certificate) bool { return c.Cert == pair.Cert }) {
		r.Mistakef(d.cert.Pos, "keep one of the two", "the certificate %s is given twice", yamlfile.Quote(d.cert.Text))
		return
	}
	if pair.Leaf = checkPair(r, d, pair); pair.Leaf != nil {
		*all = append(*all, pair)
		if complaint := certs.Complaint(pair.Leaf, time.Now()); complaint != "" {
			r.Warnf(d.cert.Pos, "clients do not accept it", "the certificate %s %s", yamlfile.Quote(d.cert.Text), complaint)
		}
	}
}

// checkPair reads the files of a certificate and returns the server's certificate. If it has
// reported a mistake, it returns nil. The files are not in the Sources, because the front door
// notices their changes without a reload.
func checkPair(r *fileReader, d *certificateDraft, pair Certificate) *x509.Certificate {
	certPEM, ok := readPEM(r, d.cert, "the certificate", pair.Cert)
	if !ok {
		return nil
	}
	keyPEM, ok := readPEM(r, d.key, "the key", pair.Key)
	if !ok {
		return nil
	}
	chain, refused := certs.ParseChain(certPEM)
	if refused != nil {
		r.Mistakef(d.cert.Pos, refused.Hint, "the certificate %s: %s", yamlfile.Quote(pair.Cert), refused.What)
	}
	key, refusedKey := certs.ParseKey(keyPEM)
	if refusedKey != nil {
		r.Mistakef(d.key.Pos, refusedKey.Hint, "the key %s: %s", yamlfile.Quote(pair.Key), refusedKey.What)
	}
	if refused != nil || refusedKey != nil {
		return nil
	}
	if _, refused = certs.Join(chain, key); refused != nil {
		r.Mistakef(d.cert.Pos, refused.Hint, "the certificate %s: %s", yamlfile.Quote(pair.Cert), refused.What)
		return nil
	}
	return chain[0]
}

// maxPEMBytes is the maximum size of a file with certificates or a key.
const maxPEMBytes = 1 << 20

// readPEM reads a file of certificates or a key.
func readPEM(r *fileReader, at yamlfile.Scalar, kind, name string) ([]byte, bool) {
	src, err := namedfile.Read(name)
	switch {
	case err != nil:
		r.Mistakef(at.Pos, namedfile.Hint(err), "%s %s: %s", kind, yamlfile.Quote(name), namedfile.Cause(err))
	case len(src) > maxPEMBytes:
		r.Mistakef(at.Pos, "name a file in PEM format", "%s %s has %d bytes; the limit is %d", kind, yamlfile.Quote(name),
			len(src), maxPEMBytes)
	default:
		return src, true
	}
	return nil, false
}

func readAllClientCertificates(r *fileReader, p place, n *yamlfile.Node) {
	readEntries(r, p, n, readClientCertificates)
}

func readClientCertificates(r *fileReader, p place, n *yamlfile.Node) {
	d := new(ClientCertificates)
	p.To.clients = d
	r.Fields(p, n)
	all := &p.To.config.TLS.ClientCertificates
	hasHosts := slices.ContainsFunc(n.Pairs, func(pair yamlfile.Pair) bool { return pair.Key.Text == "hosts" })
	for _, before := range *all {
		if len(before.Hosts) == 0 && !hasHosts {
			r.Mistakef(n.Pos, "add hosts to one of the two, as in: hosts: [admin.example.com]",
				"two entries of client_certificates are for all hosts")
		}
		for _, host := range d.Hosts {
			if slices.Contains(before.Hosts, host) {
				r.Mistakef(n.Pos, "keep one of the two", "%s is in two entries of client_certificates", yamlfile.Quote(host))
			}
		}
	}
	*all = append(*all, *d)
}

// parseCertificateHost reads the name of a host, or a wildcard as in certificates.
func parseCertificateHost(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name := strings.ToLower(s.Text)
	domain, _ := strings.CutPrefix(name, "*.")
	if !scalar.IsHost(domain) || strings.HasSuffix(domain, ".") || strings.ContainsAny(domain, ":_") {
		return "", yamlfile.Refuse("write a name, as in admin.example.com or *.example.com", "%s is not the name of a host",
			yamlfile.Quote(s.Text))
	}
	return name, nil
}

// readRoots reads the certificates of the issuers of clients.
func readRoots(r *fileReader, p place, n *yamlfile.Node) { p.To.clients.Roots = readIssuers(r, p, n) }

// checkTLS removes the default plain listener if there are listeners for https, and reports a
// subject_header without effect or that a route writes, too.
func (r *reader) checkTLS(c *Config) {
	if c.TLS == nil {
		return
	}
	if !r.has("listen") {
		c.Listen = nil
	}
	switch {
	case c.TLS.ACME != nil:
		r.checkACME(c)
	case !r.certificates:
		r.Mistakef(r.tlsKey, "name the files, as in: certificates: [{cert: site.pem, key: site.key}], or obtain them, "+
			"as in: acme: {domains: [example.com]}", `"tls" has no certificate`)
	}
	name := c.TLS.SubjectHeader
	if name == "" {
		return
	}
	at := r.Positions["tls.subject_header"][0]
	if len(c.TLS.ClientCertificates) == 0 {
		r.Mistakef(at, "add client_certificates, or remove it", "subject_header has no effect without client_certificates")
	}
	for _, route := range c.Routes {
		if key := route.writes(name); key != "" {
			r.Mistakef(at, "choose another name for one of them", "%s is also written by %s of the route %s",
				yamlfile.Quote(name), key, yamlfile.Quote(route.Match))
		}
	}
}

// writes returns the key by which a route writes or removes a request field, or "".
func (r *Route) writes(name string) string {
	is := func(other string) bool { return sameSent(name, other) }
	isField := func(f edits.Field) bool { return is(f.Name) }
	edited := &r.RequestHeaders
	if slices.ContainsFunc(edited.Set, isField) || slices.ContainsFunc(edited.Add, isField) ||
		slices.ContainsFunc(edited.Remove, is) {
		return "request_headers"
	}
	return r.requestWriter(name)
}
