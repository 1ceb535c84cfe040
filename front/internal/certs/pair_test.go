package certs_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/internal/certtest"
)

func TestLoadChecksPairs(t *testing.T) {
	root := certtest.Root(t, "root")
	middle := root.Issue(t, certtest.Options{Name: "middle", CA: true})
	server := middle.Issue(t, certtest.Options{Name: "server"})
	other := middle.Issue(t, certtest.Options{Name: "other"})
	unnamed := middle.Issue(t, certtest.Options{Name: "unnamed", NoHosts: true})
	broken := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Cert.Raw[:100]})
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})
	for _, c := range []struct {
		name      string
		cert, key []byte
		want      string // a part of the error
	}{
		{"a chain", certtest.PEM(server.Chain()...), server.KeyPEM(t), ""},
		{"a chain with the root", certtest.PEM(server.Cert, middle.Cert, root.Cert), server.KeyPEM(t), ""},
		{"the other order of files", server.KeyPEM(t), certtest.PEM(server.Cert), "no certificate in PEM format"},
		{"one file", slices.Concat(server.KeyPEM(t), certtest.PEM(server.Cert)), server.KeyPEM(t), ""},
		{"no key", certtest.PEM(server.Cert), nil, "no private key in PEM format"},
		{"another key", certtest.PEM(server.Cert), other.KeyPEM(t), `does not belong to the certificate "CN=server"`},
		{"an encrypted key", certtest.PEM(server.Cert), encrypted, "the private key is encrypted"},
		{"issuer first", certtest.PEM(middle.Cert, server.Cert), server.KeyPEM(t), "wrong order: the certificate of the private " +
			"key is number 2"},
		{"root before middle", certtest.PEM(server.Cert, root.Cert, middle.Cert), server.KeyPEM(t),
			"certificate 2 has not issued certificate 1"},
		{"a certificate of another server", certtest.PEM(server.Cert, other.Cert), server.KeyPEM(t),
			"certificate 2 has not issued certificate 1"},
		{"a half certificate", broken, server.KeyPEM(t), "certificate 1 is malformed"},
		{"a file that ends early", certtest.PEM(server.Cert)[:200], server.KeyPEM(t), "no certificate in PEM format"},
		{"no host name", certtest.PEM(unnamed.Cert), unnamed.KeyPEM(t), `"CN=unnamed" has no host name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			pair := certs.Pair{Cert: filepath.Join(folder, "a.pem"), Key: filepath.Join(folder, "a.key")}
			for name, src := range map[string][]byte{pair.Cert: c.cert, pair.Key: c.key} {
				if err := os.WriteFile(name, src, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cert, err := certs.Load(pair)
			switch {
			case c.want == "" && (err != nil || !cert.Leaf.Equal(server.Cert)):
				t.Errorf("Load = %v, %v", cert, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("Load: %v, want %s", err, c.want)
			}
		})
	}
	if _, err := certs.Load(certs.Pair{Cert: "missing.pem", Key: "missing.key"}); !os.IsNotExist(err) {
		t.Errorf("Load of missing files: %v", err)
	}
}

// TestParseKeyReadsEachFormat covers the formats that openssl and ACME clients write.
func TestParseKeyReadsEachFormat(t *testing.T) {
	root := certtest.Root(t, "root")
	ec, rsa := root.Issue(t, certtest.Options{}), root.Issue(t, certtest.Options{RSA: true})
	for _, p := range []*certtest.Pair{ec, rsa} {
		if _, refused := certs.ParseKey(p.KeyPEM(t)); refused != nil {
			t.Errorf("PKCS #8: %s", refused.What)
		}
	}
	for kind, der := range map[string][]byte{"EC PRIVATE KEY": certtest.DER(t, ec), "RSA PRIVATE KEY": certtest.DER(t, rsa)} {
		if _, refused := certs.ParseKey(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})); refused != nil {
			t.Errorf("%s: %s", kind, refused.What)
		}
		if _, refused := certs.ParseKey(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der[:9]})); refused == nil {
			t.Errorf("%s: half a key is accepted", kind)
		}
	}
}

func TestExpiredCertificatesDrawComplaint(t *testing.T) {
	now := time.Now()
	cert := &x509.Certificate{NotBefore: now, NotAfter: now.Add(90 * 24 * time.Hour)}
	if got := certs.Notice(cert); got != 15*24*time.Hour {
		t.Errorf("Notice = %v", got)
	}
	if got := certs.Complaint(cert, now.Add(time.Hour)); got != "" {
		t.Errorf("Complaint about a valid certificate: %s", got)
	}
	if got := certs.Complaint(cert, now.Add(-time.Hour)); !strings.HasPrefix(got, "is valid only from ") {
		t.Errorf("Complaint before NotBefore: %s", got)
	}
	if got := certs.Complaint(cert, now.Add(91*24*time.Hour)); !strings.HasPrefix(got, "has expired on ") {
		t.Errorf("Complaint after NotAfter: %s", got)
	}
}
