package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/internal/certtest"
)

// obtained are certificates by name; nil for one that is not obtained yet.
type obtained struct {
	names []string
	certs map[string]*certtest.Pair
}

func (o obtained) Names() []string { return o.names }

func (o obtained) Certificate(name string) *tls.Certificate {
	if p := o.certs[name]; p != nil {
		return p.TLS()
	}
	return nil
}

func (o obtained) ChallengeCertificate(_ context.Context, name string) (*tls.Certificate, error) {
	if p := o.certs["challenge "+name]; p != nil {
		return p.TLS(), nil
	}
	return nil, errors.New("no challenge")
}

func TestManagedCertificatesServeTheirNames(t *testing.T) {
	root := certtest.Root(t, "root")
	issue := func(name string) *certtest.Pair { return root.Issue(t, certtest.Options{Name: name}) }
	a, wild, challenge := issue("a"), issue("wild"), issue("challenge")
	file := root.Issue(t, certtest.Options{Name: "file", Hosts: []string{"b.wild.example", "late.example", "a.example"}})
	all := root.Issue(t, certtest.Options{Name: "all", Hosts: []string{"*.example"}})
	managed := obtained{
		names: []string{"a.example", "late.example", "new.example", "*.wild.example"},
		certs: map[string]*certtest.Pair{"a.example": a, "*.wild.example": wild, "challenge new.example": challenge},
	}
	var store certs.Store
	for _, c := range []struct {
		name, host string
		files      []*certtest.Pair
		protocols  []string
		want       *certtest.Pair // nil for a failure
	}{
		{name: "a managed name", host: "a.example", files: []*certtest.Pair{file}, want: a},
		{name: "a managed wildcard", host: "c.wild.example", files: []*certtest.Pair{file}, want: wild},
		{name: "a file below a managed wildcard", host: "b.wild.example", files: []*certtest.Pair{file}, want: file},
		{name: "not obtained yet, with a file", host: "late.example", files: []*certtest.Pair{file}, want: file},
		{name: "not obtained yet, with a wildcard", host: "new.example", files: []*certtest.Pair{all}, want: all},
		{name: "not obtained yet", host: "new.example", files: []*certtest.Pair{file}},
		{name: "another name", host: "other.example", files: []*certtest.Pair{file}, want: file},
		{name: "another name without files", host: "other.example", want: a},
		{name: "a challenge", host: "new.example", protocols: []string{"acme-tls/1"}, want: challenge},
		{name: "a challenge that is not in progress", host: "a.example", protocols: []string{"acme-tls/1"}},
		{name: "the protocol of challenges among others", host: "a.example", protocols: []string{"acme-tls/1", "h2"}, want: a},
	} {
		t.Run(c.name, func(t *testing.T) {
			store.Use(sequence(c.files...), managed)
			got, err := handshake(t, &store, &tls.Config{ServerName: c.host, NextProtos: c.protocols})
			wantCertificate(t, got, err, c.want)
		})
	}
	store.Use(sequence(file), nil)
	got, err := handshake(t, &store, &tls.Config{ServerName: "a.example", NextProtos: []string{"acme-tls/1"}})
	wantCertificate(t, got, err, nil)
}

func wantCertificate(t *testing.T, got *x509.Certificate, err error, want *certtest.Pair) {
	t.Helper()
	switch {
	case want == nil && err == nil:
		t.Errorf("the certificate is %s, want a failure", got.Subject)
	case want != nil && (err != nil || !got.Equal(want.Cert)):
		t.Errorf("the certificate is %v, %v, want %s", got, err, want.Cert.Subject)
	}
}
