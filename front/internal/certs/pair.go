package certs

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// A Pair names the files of a certificate, in PEM format: Cert with the server's certificate
// and then the certificates of its issuers, and Key with the private key. They can be the
// same file.
type Pair struct{ Cert, Key string }

// Load reads the files of a pair and checks that they belong together.
func Load(p Pair) (*tls.Certificate, error) {
	certPEM, err := os.ReadFile(p.Cert)
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(p.Key)
	if err != nil {
		return nil, err
	}
	chain, refused := ParseChain(certPEM)
	if refused != nil {
		return nil, fmt.Errorf("%s: %s", p.Cert, refused.What)
	}
	key, refused := ParseKey(keyPEM)
	if refused != nil {
		return nil, fmt.Errorf("%s: %s", p.Key, refused.What)
	}
	cert, refused := Join(chain, key)
	if refused != nil {
		return nil, fmt.Errorf("%s and %s: %s", p.Cert, p.Key, refused.What)
	}
	return cert, nil
}

// ParseChain parses the certificates in a PEM file, which may have other blocks too. There
// is at least one.
func ParseChain(src []byte) ([]*x509.Certificate, *yamlfile.Refusal) {
	var chain []*x509.Certificate
	for block := range blocks(src) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, yamlfile.Refuse("", "certificate %d is malformed: %s", len(chain)+1, reason(err))
		}
		chain = append(chain, cert)
	}
	if chain == nil {
		return nil, yamlfile.Refuse("it begins with -----BEGIN CERTIFICATE-----", "it has no certificate in PEM format")
	}
	return chain, nil
}

// ParseKey parses the private key in a PEM file, which may have other blocks too.
func ParseKey(src []byte) (crypto.Signer, *yamlfile.Refusal) {
	for block := range blocks(src) {
		var key any
		var err error
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return nil, yamlfile.Refuse("decrypt it, as with openssl pkey -in KEY -out PLAIN, and protect the file instead",
				"the private key is encrypted")
		case block.Type == "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case block.Type == "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case block.Type == "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		default:
			continue
		}
		if err != nil {
			return nil, yamlfile.Refuse("", "the private key is malformed: %s", reason(err))
		}
		switch key := key.(type) {
		case *rsa.PrivateKey:
			return key, nil
		case *ecdsa.PrivateKey:
			return key, nil
		case ed25519.PrivateKey:
			return key, nil
		}
		return nil, yamlfile.Refuse("use ECDSA P-256, RSA or Ed25519", "the private key is of a kind that TLS does not use")
	}
	return nil, yamlfile.Refuse("it begins with -----BEGIN PRIVATE KEY-----", "it has no private key in PEM format")
}

// Join returns a certificate with its key. The key must belong to the first certificate of
// chain, and each further one must have issued the certificate before it.
func Join(chain []*x509.Certificate, key crypto.Signer) (*tls.Certificate, *yamlfile.Refusal) {
	public := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	switch i := slices.IndexFunc(chain, func(c *x509.Certificate) bool { return public.Equal(c.PublicKey) }); {
	case i < 0:
		return nil, yamlfile.Refuse("the two files are not a pair", "the private key does not belong to the certificate %s",
			yamlfile.Quote(title(chain[0])))
	case i > 0:
		return nil, yamlfile.Refuse("put the server's certificate first, then the certificate of its issuer",
			"the chain is in the wrong order: the certificate of the private key is number %d", i+1)
	}
	cert := &tls.Certificate{PrivateKey: key, Leaf: chain[0]}
	for i, c := range chain {
		cert.Certificate = append(cert.Certificate, c.Raw)
		if i > 0 && !issued(c, chain[i-1]) {
			return nil, yamlfile.Refuse("order them from the server's certificate to the last issuer's, without others",
				"the chain is in the wrong order: certificate %d has not issued certificate %d", i+1, i)
		}
	}
	if leaf := chain[0]; len(leaf.DNSNames) == 0 && len(leaf.IPAddresses) == 0 {
		return nil, yamlfile.Refuse("issue it with subject alternative names; clients ignore the common name",
			"the certificate %s has no host name", yamlfile.Quote(title(leaf)))
	}
	return cert, nil
}

// issued reports whether a certificate is signed with the key of another one, its issuer.
func issued(issuer, cert *x509.Certificate) bool {
	return bytes.Equal(issuer.RawSubject, cert.RawIssuer) &&
		(issuer.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil)
}

// Names returns the host names and addresses that a certificate is for.
func Names(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// title returns a text by which a user recognises a certificate: its subject, or its names.
func title(cert *x509.Certificate) string {
	if subject := cert.Subject.String(); subject != "" {
		return subject
	}
	return strings.Join(Names(cert), ", ")
}

// blocks iterates over the blocks of a PEM file.
func blocks(src []byte) func(func(*pem.Block) bool) {
	return func(yield func(*pem.Block) bool) {
		for {
			var block *pem.Block
			if block, src = pem.Decode(src); block == nil || !yield(block) {
				return
			}
		}
	}
}

// reason returns the text of an error of crypto/x509 without the name of the package.
func reason(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}
