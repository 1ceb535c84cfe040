package certs

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Reader reads a file that is named at a position of a configuration. kind comes before the name
// in messages. If it has reported a mistake, ok is false.
type Reader func(by *yamlfile.File, at yamlfile.Pos, kind, name string) (src []byte, ok bool)

// Chain reads a file of certificates that a configuration names. If it has reported a mistake, it
// returns nil.
func (read Reader) Chain(by *yamlfile.File, path yamlfile.Scalar, kind string) []*x509.Certificate {
	name := namedfile.Resolve(by.Name(), path.Text)
	src, ok := read(by, path.Pos, kind, name)
	if !ok {
		return nil
	}
	chain, refused := ParseChain(src)
	if refused != nil {
		by.Mistakef(path.Pos, refused.Hint, "%s %s: %s", kind, yamlfile.Quote(name), refused.What)
		return nil
	}
	return chain
}

// Client reads the certificate that weir shows to servers. An empty key is in the file of the
// certificate. If it has reported a mistake, it returns nil.
func (read Reader) Client(by *yamlfile.File, cert, key yamlfile.Scalar) *tls.Certificate {
	if cert.Text == "" {
		by.Mistakef(key.Pos, "add cert, the file with the certificate", "the key has no certificate")
		return nil
	}
	if key.Text == "" {
		key = cert
	}
	certName, keyName := namedfile.Resolve(by.Name(), cert.Text), namedfile.Resolve(by.Name(), key.Text)
	certPEM, ok := read(by, cert.Pos, "the certificate", certName)
	if !ok {
		return nil
	}
	keyPEM := certPEM
	if keyName != certName {
		if keyPEM, ok = read(by, key.Pos, "the key", keyName); !ok {
			return nil
		}
	}
	chain, refused := ParseChain(certPEM)
	if refused != nil {
		by.Mistakef(cert.Pos, refused.Hint, "the certificate %s: %s", yamlfile.Quote(certName), refused.What)
		return nil
	}
	if _, refused := ParseKey(keyPEM); refused != nil {
		by.Mistakef(key.Pos, refused.Hint, "the key %s: %s", yamlfile.Quote(keyName), refused.What)
		return nil
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		by.Mistakef(key.Pos, "the two files are not a pair", "the private key does not belong to the certificate %s",
			yamlfile.Quote(certName))
		return nil
	}
	if complaint := Complaint(chain[0], time.Now()); complaint != "" {
		by.Warnf(cert.Pos, "servers do not accept it", "the certificate %s %s", yamlfile.Quote(cert.Text), complaint)
	}
	return &pair
}
