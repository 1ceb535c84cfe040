package handshake

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/weirhq/weir/front/internal/certs"
)

// Options are the options of handshakes.
type Options struct {
	MinVersion uint16
	Protocols  []string // for ALPN (RFC 7301), the most preferred first
	Rules      []Rule   // no two for the same host
	Challenges bool     // complete the handshakes by which an ACME server verifies a name (RFC 8737)
}

// A Rule restricts hosts to clients with a certificate.
type Rule struct {
	Hosts    []string // in lower case, or *.domain for one more label; none for all other hosts
	Roots    []*x509.Certificate
	Optional bool // the client may have no certificate
}

// A Policy decides about handshakes and the requests that follow. It does not change.
type Policy struct {
	base   *tls.Config
	byHost map[string]*rule
	others *rule // of the hosts without one; nil for none
}

// A rule has the configuration of the handshakes to which it applies.
type rule struct {
	id       string // the same for two rules that accept the same clients
	optional bool
	config   *tls.Config
}

// suites are those of TLS 1.2: with forward secrecy and authenticated encryption. Those of
// TLS 1.3 cannot be chosen.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// curves are the groups of the key exchange, in Mozilla's recommendation of modern and
// intermediate clients. Clients choose the first one, which is post-quantum, if they have it.
var curves = []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256, tls.CurveP384}

func newPolicy(o Options, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *Policy {
	p := &Policy{byHost: make(map[string]*rule)}
	p.base = &tls.Config{
		MinVersion: o.MinVersion, CipherSuites: suites, CurvePreferences: curves, NextProtos: o.Protocols,
		GetCertificate:              certificate,
		DynamicRecordSizingDisabled: true, // fewer and larger records cost less
	}
	for _, r := range o.Rules {
		made := newRule(r, p.base)
		for _, host := range r.Hosts {
			p.byHost[host] = made
		}
		if len(r.Hosts) == 0 {
			p.others = made
		}
	}
	if len(o.Rules) > 0 || o.Challenges {
		challenge := p.base.Clone()
		challenge.NextProtos, challenge.SessionTicketsDisabled = []string{certs.ChallengeProtocol}, true
		p.base.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if o.Challenges && certs.IsChallenge(hello) {
				return challenge, nil
			}
			if r := p.rule(hello.ServerName); r != nil {
				return r.config, nil
			}
			return nil, nil
		}
	}
	return p
}

func newRule(r Rule, base *tls.Config) *rule {
	made := &rule{optional: r.Optional, config: base.Clone()}
	made.config.ClientCAs = x509.NewCertPool()
	made.config.ClientAuth = tls.RequireAndVerifyClientCert
	if r.Optional {
		made.config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	h := sha256.New()
	for _, root := range r.Roots {
		made.config.ClientCAs.AddCert(root)
		h.Write(root.Raw)
	}
	made.id = hex.EncodeToString(h.Sum(nil)) + " " + made.config.ClientAuth.String()
	return made
}

// configs returns each configuration by the id of its rule, or "" for none. Two rules with one
// id accept the same clients, and may share the keys of tickets.
func (p *Policy) configs() func(yield func(string, *tls.Config) bool) {
	return func(yield func(string, *tls.Config) bool) {
		if !yield("", p.base) {
			return
		}
		for _, r := range p.byHost {
			if !yield(r.id, r.config) {
				return
			}
		}
		if p.others != nil {
			yield(p.others.id, p.others.config)
		}
	}
}

// rule returns the rule for a host, or nil.
func (p *Policy) rule(host string) *rule {
	if len(p.byHost) > 0 {
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if r := p.byHost[host]; r != nil {
			return r
		}
		if _, domain, ok := strings.Cut(host, "."); ok {
			if r := p.byHost["*."+domain]; r != nil {
				return r
			}
		}
	}
	return p.others
}

// A Client is the result of a handshake. It does not change.
type Client struct {
	Version  string // 1.2 or 1.3
	Protocol string // chosen by ALPN; "" for none
	Subject  string // of the client's certificate (RFC 4514); "" without one
	Resumed  bool

	rule string // the id of the rule that was applied
}

func (p *Policy) client(state tls.ConnectionState) *Client {
	c := &Client{Protocol: state.NegotiatedProtocol, Resumed: state.DidResume,
		Version: strings.TrimPrefix(tls.VersionName(state.Version), "TLS ")}
	if r := p.rule(state.ServerName); r != nil {
		c.rule = r.id
		if len(state.PeerCertificates) > 0 {
			c.Subject = escapeControls(state.PeerCertificates[0].Subject.String())
		}
	}
	return c
}

// IsChallenge reports whether the client was an ACME server that has verified a name. It sends
// no requests.
func (c *Client) IsChallenge() bool { return c.Protocol == certs.ChallengeProtocol }

// HasRules reports whether Misdirected can return true.
func (p *Policy) HasRules() bool { return p.others != nil || len(p.byHost) > 0 }

// Demand describes the rule for a host as a step, or returns "" if there is none.
func (p *Policy) Demand(host string) string {
	switch r := p.rule(host); {
	case r == nil:
		return ""
	case r.optional:
		return "accepts a certificate of the client, which is optional"
	}
	return "requires a certificate of the client"
}

// Misdirected reports whether the handshake of a connection was for other rules than the
// rules of a request's host, which has no port. A nil client has a connection without TLS.
func (p *Policy) Misdirected(c *Client, host string) bool {
	r := p.rule(host)
	switch {
	case c == nil:
		return r != nil && !r.optional
	case r == nil:
		return c.rule != ""
	}
	return c.rule != r.id
}

// escapeControls escapes control characters as RFC 4514 allows, because a subject becomes the
// value of a header field.
func escapeControls(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f {
			fmt.Fprintf(&b, "\\%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
