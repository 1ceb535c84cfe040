package secure

import (
	"crypto/x509"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// ClientCertificates are the certificates by which clients prove their identity to hosts.
type ClientCertificates struct {
	// Hosts are names in lower case, or *.DOMAIN for all names with one more label. Empty means
	// all hosts.
	Hosts []string

	Roots    []*x509.Certificate // of the issuers. At least one
	Optional bool                // clients may have no certificate, but none of another issuer
}

// clientKeys returns the keys of [ClientCertificates] at a path. The last ones are those being read.
func clientKeys[T any](path string, at func(T) *[]ClientCertificates, file func(T) certs.Reader) []yamlfile.Key[T] {
	last := func(t T) *ClientCertificates { return &(*at(t))[len(*at(t))-1] }
	return []yamlfile.Key[T]{
		{Path: path, Read: (*yamlfile.Reader[T]).Entries},
		{Path: path + ".*", Called: "an entry of client_certificates",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				readClients(r, p, n, at(p.To))
			}},
		{Path: path + ".*.hosts", Doc: "hosts that require certificates of clients", Ambiguous: true,
			Read: yamlfile.Some(parseHost, func(t T) *[]string { return &last(t).Hosts })},
		{Path: path + ".*.roots", Doc: "the file of the issuers of these certificates",
			Required: "name the file with the certificates of the issuers, as in: roots: ca.pem",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				last(p.To).Roots = readIssuers(r, p, n, file(p.To))
			}},
		{Path: path + ".*.required", Doc: "refuse clients without a certificate", Ambiguous: true, Zero: true,
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				required, given := yamlfile.ReadOne(r, p, n, yamlfile.Switch)
				last(p.To).Optional = given && !required
			}},
	}
}

// readClients adds the certificates of the clients of some hosts.
func readClients[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, all *[]ClientCertificates) {
	before := *all
	*all = append(before, ClientCertificates{})
	r.Fields(p, n)
	d := (*all)[len(before)]
	hasHosts := slices.ContainsFunc(n.Pairs, func(pair yamlfile.Pair) bool { return pair.Key.Text == "hosts" })
	for _, other := range before {
		if len(other.Hosts) == 0 && !hasHosts {
			r.Mistakef(n.Pos, "add hosts to one of the two, as in: hosts: [admin.example.com]",
				"two entries of client_certificates are for all hosts")
		}
		for _, host := range d.Hosts {
			if slices.Contains(other.Hosts, host) {
				r.Mistakef(n.Pos, "keep one of the two", "%s is in two entries of client_certificates", yamlfile.Quote(host))
			}
		}
	}
}

// parseHost reads the name of a host, or a wildcard as in certificates.
func parseHost(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "host or *.domain", Pattern: `(\*\.)?[-.0-9A-Za-z]+`})
	name := strings.ToLower(s.Text)
	domain, _ := strings.CutPrefix(name, "*.")
	if !scalar.IsHost(domain) || strings.HasSuffix(domain, ".") || strings.ContainsAny(domain, ":_") {
		return "", yamlfile.Refuse("write a name, as in admin.example.com or *.example.com", "%s is not the name of a host",
			yamlfile.Quote(s.Text))
	}
	return name, nil
}

// readIssuers reads a file of certificates of issuers. If it has reported a mistake, it
// returns nil.
func readIssuers[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, read certs.Reader) []*x509.Certificate {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Path)
	if !ok {
		return nil
	}
	roots := read.Chain(r.File, path, "the roots")
	if i := slices.IndexFunc(roots, func(c *x509.Certificate) bool { return !c.IsCA }); i >= 0 {
		r.Mistakef(path.Pos, "name the certificates of issuers, not certificates that they have issued",
			"the roots %s: certificate %d (%s) cannot issue others", yamlfile.Quote(namedfile.Resolve(r.Name(), path.Text)), i+1,
			yamlfile.Quote(roots[i].Subject.String()))
		return nil
	}
	return roots
}
