package certs

import (
	"crypto/rsa"
	"crypto/tls"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
)

// A Store has the certificates in use. The zero value has none. Goroutines may share it.
type Store struct {
	set atomic.Pointer[set]
}

// A set has certificates by name. It is not modified after it is made.
type set struct {
	byName map[string][]*tls.Certificate // by a name in lower case, or *.domain; those that are not RSA first
	first  *tls.Certificate
}

// Use replaces all certificates, for the handshakes that begin from now on. Each must have a
// Leaf. The caller must not change them afterwards.
func (s *Store) Use(certs iter.Seq2[Pair, *tls.Certificate]) {
	next := &set{byName: make(map[string][]*tls.Certificate)}
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

// Get returns the certificate for a handshake, as [tls.Config.GetCertificate] does: that of
// the name that the client asks for, then that of its wildcard, and otherwise the first one
// of all. Of several for a name, it returns the first one that the client supports. It
// returns nil if there is none at all: crypto/tls then ends the handshake with the alert
// unrecognized_name.
func (s *Store) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	set := s.set.Load()
	if set == nil {
		return nil, nil
	}
	name := strings.ToLower(hello.ServerName)
	same := set.byName[name]
	if same == nil {
		if _, domain, ok := strings.Cut(name, "."); ok {
			same = set.byName["*."+domain]
		}
	}
	if same == nil {
		return set.first, nil
	}
	if len(same) > 1 {
		for _, c := range same {
			if hello.SupportsCertificate(c) == nil {
				return c, nil
			}
		}
	}
	return same[0], nil
}
