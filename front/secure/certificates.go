package secure

import (
	"crypto/x509"
	"slices"
	"time"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Certificate is a pair of PEM files: Cert with the server's certificate and the
// certificates of its issuers, and Key with the private key, which may be the same file.
type Certificate struct {
	Cert, Key string

	// Leaf is the server's certificate at the time when the configuration was read, for weir check. The front
	// door reads the files again.
	Leaf *x509.Certificate
}

// A certificatesDraft has certificates that are being read.
type certificatesDraft struct {
	all   []Certificate
	given bool // there are some, which may have mistakes
	last  certificateDraft
}

// A certificateDraft has the names of the files of a certificate, and their positions.
type certificateDraft struct{ cert, key yamlfile.Scalar }

// certificateKeys returns the keys of [Config.Certificates] at a path.
func certificateKeys[T any](path string, at func(T) *certificatesDraft) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			at(p.To).given = true
			r.Entries(p, n)
		}},
		{Path: path + ".*", Called: "a certificate",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				readCertificate(r, p, n, at(p.To))
			}},
		{Path: path + ".*.cert", Doc: "the file of a certificate",
			Required: "name the file with the certificate and its issuers' certificates",
			Read:     yamlfile.One(scalar.Path, func(t T) *yamlfile.Scalar { return &at(t).last.cert })},
		{Path: path + ".*.key", Doc: "the file of its private key",
			Read: yamlfile.One(scalar.Path, func(t T) *yamlfile.Scalar { return &at(t).last.key })},
	}
}

// readCertificate reads a pair of files.
func readCertificate[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, c *certificatesDraft) {
	c.last = certificateDraft{}
	r.Fields(p, n)
	d := c.last
	if d.cert.Text == "" {
		return
	}
	if d.key.Text == "" {
		d.key = d.cert
	}
	pair := Certificate{Cert: namedfile.Resolve(r.Name(), d.cert.Text), Key: namedfile.Resolve(r.Name(), d.key.Text)}
	if slices.ContainsFunc(c.all, func(c Certificate) bool { return c.Cert == pair.Cert }) {
		r.Mistakef(d.cert.Pos, "keep one of the two", "the certificate %s is given twice", yamlfile.Quote(d.cert.Text))
		return
	}
	if pair.Leaf = checkPair(r.File, d, pair); pair.Leaf != nil {
		c.all = append(c.all, pair)
		if complaint := certs.Complaint(pair.Leaf, time.Now()); complaint != "" {
			r.Warnf(d.cert.Pos, "clients do not accept it", "the certificate %s %s", yamlfile.Quote(d.cert.Text), complaint)
		}
	}
}

// checkPair reads the files of a certificate and returns the server's certificate. If it has
// reported a mistake, it returns nil. The files are not in the Sources, because the front door
// notices their changes without a reload.
func checkPair(f *yamlfile.File, d certificateDraft, pair Certificate) *x509.Certificate {
	certPEM, ok := readPEM(f, d.cert, "the certificate", pair.Cert)
	if !ok {
		return nil
	}
	keyPEM, ok := readPEM(f, d.key, "the key", pair.Key)
	if !ok {
		return nil
	}
	chain, refused := certs.ParseChain(certPEM)
	if refused != nil {
		f.Mistakef(d.cert.Pos, refused.Hint, "the certificate %s: %s", yamlfile.Quote(pair.Cert), refused.What)
	}
	key, refusedKey := certs.ParseKey(keyPEM)
	if refusedKey != nil {
		f.Mistakef(d.key.Pos, refusedKey.Hint, "the key %s: %s", yamlfile.Quote(pair.Key), refusedKey.What)
	}
	if refused != nil || refusedKey != nil {
		return nil
	}
	if _, refused = certs.Join(chain, key); refused != nil {
		f.Mistakef(d.cert.Pos, refused.Hint, "the certificate %s: %s", yamlfile.Quote(pair.Cert), refused.What)
		return nil
	}
	return chain[0]
}

// maxPEMBytes is the maximum size of a file with certificates or a key.
const maxPEMBytes = 1 << 20

// readPEM reads a file of certificates or a key.
func readPEM(f *yamlfile.File, at yamlfile.Scalar, kind, name string) ([]byte, bool) {
	src, err := namedfile.Read(name)
	switch {
	case err != nil:
		f.Mistakef(at.Pos, namedfile.Hint(err), "%s %s: %s", kind, yamlfile.Quote(name), namedfile.Cause(err))
	case len(src) > maxPEMBytes:
		f.Mistakef(at.Pos, "name a file in PEM format", "%s %s has %d bytes; the limit is %d", kind, yamlfile.Quote(name),
			len(src), maxPEMBytes)
	default:
		return src, true
	}
	return nil, false
}
