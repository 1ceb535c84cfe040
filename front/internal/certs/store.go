package certs

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
)

// A Store has the certificates in use. The zero value has none. Goroutines may share it.
type Store struct {
	set atomic.Pointer[set]
}

// Managed are certificates that a program obtains and renews.
type Managed interface {
	// Names are names in lower case, and wildcards *.domain. They do not change.
	Names() []string

	// Certificate returns the certificate of one of the names, or nil if there is none yet.
	Certificate(name string) *tls.Certificate

	// ChallengeCertificate returns the certificate by which an ACME server verifies the control
	// of a name (RFC 8737).
	ChallengeCertificate(ctx context.Context, name string) (*tls.Certificate, error)
}

// A set has certificates by name. It is not modified after it is made.
type set struct {
	byName  map[string][]*tls.Certificate // by a name in lower case, or *.domain; those that are not RSA first
	first   *tls.Certificate
	managed Managed // nil for none
}

// Use replaces all certificates, for the handshakes that begin from now on. Each must have a
// Leaf. managed may be nil. The caller must not change the certificates afterwards.
func (s *Store) Use(certs iter.Seq2[Pair, *tls.Certificate], managed Managed) {
	next := &set{byName: make(map[string][]*tls.Certificate), managed: managed}
	for _, c := range certs {
		if next.first == nil {
			next.first = c
		}
		for _, name := range c.Leaf.DNSNames {
			name = strings.ToLower(name)
			next.byName[name] = append(next.byName[name], c)
		}
	}
	for _, same := range next.byName {
		slices.SortStableFunc(same, func(a, b *tls.Certificate) int { return rank(a) - rank(b) })
	}
	s.set.Store(next)
}

// rank orders the certificates of a name. A signature with RSA takes several times the CPU
// time of one with ECDSA, so RSA is for clients that support nothing else.
func rank(c *tls.Certificate) int {
	if _, ok := c.PrivateKey.(*rsa.PrivateKey); ok {
		return 1
	}
	return 0
}

// ChallengeProtocol is the only protocol that an ACME server offers by ALPN when it verifies
// the control of a name (RFC 8737).
const ChallengeProtocol = "acme-tls/1"

// IsChallenge reports whether a client is an ACME server that verifies the control of a name.
func IsChallenge(hello *tls.ClientHelloInfo) bool {
	return len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == ChallengeProtocol
}

var errNoChallenges = errors.New("no certificates are obtained here")

// Get returns the certificate for a handshake, as [tls.Config.GetCertificate] does: the
// certificate of the name that the client asks for, then of its wildcard. A managed
// certificate has precedence over one from files. Of several from files, Get returns the
// first one that the client supports.
//
// For another name, or none, Get returns the first certificate from files, or else the managed
// one of the first name. It returns nil for a managed name without a certificate yet, and if
// there is no certificate at all: crypto/tls then ends the handshake with the alert
// unrecognized_name.
func (s *Store) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	set := s.set.Load()
	if set == nil {
		return nil, nil
	}
	name := strings.ToLower(hello.ServerName)
	if IsChallenge(hello) {
		if set.managed == nil {
			return nil, errNoChallenges
		}
		return set.managed.ChallengeCertificate(hello.Context(), name)
	}
	c, expected := set.of(name, hello)
	if _, domain, ok := strings.Cut(name, "."); ok && c == nil {
		var wildcard bool
		c, wildcard = set.of("*."+domain, hello)
		expected = expected || wildcard
	}
	switch {
	case c != nil || expected:
		return c, nil
	case set.first != nil || set.managed == nil:
		return set.first, nil
	default:
		return set.managed.Certificate(set.managed.Names()[0]), nil
	}
}

// of returns the certificate of a name or a wildcard. Without one, expected reports whether
// it will be obtained.
func (s *set) of(name string, hello *tls.ClientHelloInfo) (c *tls.Certificate, expected bool) {
	if s.managed != nil && slices.Contains(s.managed.Names(), name) {
		if c := s.managed.Certificate(name); c != nil {
			return c, true
		}
		expected = true
	}
	same := s.byName[name]
	if len(same) > 1 {
		for _, c := range same {
			if hello.SupportsCertificate(c) == nil {
				return c, expected
			}
		}
	}
	if len(same) > 0 {
		return same[0], expected
	}
	return nil, expected
}
