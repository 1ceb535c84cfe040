package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"iter"
	"net"
	"testing"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/internal/certtest"
)

// handshake returns the certificate that a client gets, or the error of its handshake.
func handshake(t *testing.T, store *certs.Store, client *tls.Config) (*x509.Certificate, error) {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	server := tls.Server(a, &tls.Config{GetCertificate: store.Get})
	served := make(chan error, 1)
	go func() { served <- server.HandshakeContext(context.Background()) }()
	client.InsecureSkipVerify = true
	conn := tls.Client(b, client)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		b.Close()
		<-served
		return nil, err
	}
	return conn.ConnectionState().PeerCertificates[0], nil
}

// sequence returns pairs without files.
func sequence(pairs ...*certtest.Pair) iter.Seq2[certs.Pair, *tls.Certificate] {
	return func(yield func(certs.Pair, *tls.Certificate) bool) {
		for _, p := range pairs {
			if !yield(certs.Pair{}, p.TLS()) {
				return
			}
		}
	}
}

func TestStoreChoosesByNameAndKey(t *testing.T) {
	root := certtest.Root(t, "root")
	issue := func(name string, rsa bool, hosts ...string) *certtest.Pair {
		return root.Issue(t, certtest.Options{Name: name, RSA: rsa, Hosts: hosts})
	}
	first := issue("first", false, "first.example")
	shopRSA, shop := issue("shop rsa", true, "Shop.example"), issue("shop", false, "shop.example")
	wild, exact := issue("wild", false, "*.shop.example"), issue("exact", false, "a.shop.example")
	var store certs.Store
	store.Use(sequence(first, shopRSA, shop, wild, exact), nil)
	onlyRSA := []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	for _, c := range []struct {
		name, host string
		suites     []uint16
		want       *certtest.Pair
	}{
		{name: "a name", host: "shop.example", want: shop},
		{name: "a name in upper case", host: "SHOP.EXAMPLE", want: shop},
		{name: "a client with RSA only", host: "shop.example", suites: onlyRSA, want: shopRSA},
		{name: "a wildcard", host: "b.shop.example", want: wild},
		{name: "a name and a wildcard", host: "a.shop.example", want: exact},
		{name: "two labels for a wildcard", host: "a.b.shop.example", want: first},
		{name: "an unknown name", host: "other.example", want: first},
		{name: "no name", want: first},
		{name: "an address", host: "192.0.2.1", want: first},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := &tls.Config{ServerName: c.host}
			if c.suites != nil {
				client.CipherSuites, client.MaxVersion = c.suites, tls.VersionTLS12
			}
			got, err := handshake(t, &store, client)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(c.want.Cert) {
				t.Errorf("the certificate is %s, want %s", got.Subject, c.want.Cert.Subject)
			}
		})
	}
	store.Use(sequence(wild), nil)
	if got, err := handshake(t, &store, &tls.Config{ServerName: "first.example"}); err != nil || !got.Equal(wild.Cert) {
		t.Errorf("after Use: %v, %v", got, err)
	}
}

func TestEmptyStoreFailsHandshakes(t *testing.T) {
	_, err := handshake(t, new(certs.Store), &tls.Config{ServerName: "a.example"})
	if err == nil || err.Error() != "remote error: tls: unrecognized name" {
		t.Errorf("the handshake: %v, want the alert unrecognized_name", err)
	}
}
