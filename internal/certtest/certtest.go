// Package certtest makes certificates for tests.
package certtest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A Pair is a certificate with its key, and the chain of its issuers without the root.
type Pair struct {
	Cert   *x509.Certificate
	Key    crypto.Signer
	Issuer *Pair // nil for a root
}

// Options are the options of a certificate. The zero value is a certificate of a server
// for localhost and 127.0.0.1 with an ECDSA key, valid since an hour ago and for 90
// days.
type Options struct {
	Name     string   // common name of the subject
	Hosts    []string // names and addresses
	NoHosts  bool     // leave out the default of Hosts
	CA       bool     // it may issue others
	Client   bool     // it is for a client
	RSA      bool
	From, To time.Time
}

// Root makes the certificate of a certification authority.
func Root(t testing.TB, name string) *Pair {
	t.Helper()
	return newPair(t, nil, Options{Name: name, CA: true})
}

// Issue makes a certificate that p has issued.
func (p *Pair) Issue(t testing.TB, o Options) *Pair {
	t.Helper()
	return newPair(t, p, o)
}

func newPair(t testing.TB, issuer *Pair, o Options) *Pair {
	t.Helper()
	key, err := newKey(o.RSA)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: o.Name},
		NotBefore: o.From, NotAfter: o.To, BasicConstraintsValid: true, IsCA: o.CA,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = template.NotBefore.Add(90 * 24 * time.Hour)
	}
	hosts := o.Hosts
	switch {
	case o.CA:
		template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageCertSign|x509.KeyUsageCRLSign, nil
	case o.Client:
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	case hosts == nil && !o.NoHosts:
		hosts = []string{"localhost", "127.0.0.1"}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.Cert, issuer.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Pair{Cert: cert, Key: key, Issuer: issuer}
}

func newKey(isRSA bool) (crypto.Signer, error) {
	if isRSA {
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func serial(t testing.TB) *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Chain returns the certificate and the certificates of its issuers, without the root.
func (p *Pair) Chain() []*x509.Certificate {
	chain := []*x509.Certificate{p.Cert}
	for up := p.Issuer; up != nil && up.Issuer != nil; up = up.Issuer {
		chain = append(chain, up.Cert)
	}
	return chain
}

// TLS returns the certificate for crypto/tls.
func (p *Pair) TLS() *tls.Certificate {
	c := &tls.Certificate{PrivateKey: p.Key, Leaf: p.Cert}
	for _, cert := range p.Chain() {
		c.Certificate = append(c.Certificate, cert.Raw)
	}
	return c
}

// Pool returns a pool with only this certificate.
func (p *Pair) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.Cert)
	return pool
}

// KeyPEM returns the key in PEM format.
func (p *Pair) KeyPEM(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// PEM returns certificates in PEM format.
func PEM(certs ...*x509.Certificate) []byte {
	var b bytes.Buffer
	for _, c := range certs {
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	return b.Bytes()
}

// Write writes the chain to NAME.pem and the key to NAME.key in a folder, and returns their
// paths.
func (p *Pair) Write(t testing.TB, folder, name string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	for file, src := range map[string][]byte{cert: PEM(p.Chain()...), key: p.KeyPEM(t)} {
		if err := os.WriteFile(file, src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// DER returns the key in the format of its kind: SEC 1 for ECDSA, PKCS #1 for RSA.
func DER(t testing.TB, p *Pair) []byte {
	t.Helper()
	switch key := p.Key.(type) {
	case *rsa.PrivateKey:
		return x509.MarshalPKCS1PrivateKey(key)
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	t.Fatalf("a key of type %T", p.Key)
	return nil
}
