package front_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// An acmeServer is Pebble, which verifies the challenges of one front door at a time.
type acmeServer struct {
	*peer.Pebble
	plain, secure string // addresses of the front door
	root          *certtest.Pair
	roots         *x509.CertPool // of the certificates that it issues
}

func newACMEServer(t *testing.T) *acmeServer {
	t.Helper()
	s := &acmeServer{plain: peer.FreeAddress(t), secure: peer.FreeAddress(t), root: certtest.Root(t, "pebble's root")}
	port := func(address string) int {
		_, text, _ := net.SplitHostPort(address)
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	s.Pebble = peer.StartPebble(t, peer.PebbleOptions{HTTPPort: port(s.plain), TLSPort: port(s.secure), Root: s.root})
	s.roots = x509.NewCertPool()
	s.roots.AppendCertsFromPEM(s.CA(t))
	return s
}

// config makes a front door obtain certificates from the server.
func (s *acmeServer) config(a *secure.ACME) func(*config.Config) {
	return func(c *config.Config) {
		a.Directory, a.Roots = s.Directory, []*x509.Certificate{s.root.Cert}
		c.Listen = []string{s.plain}
		c.TLS = &config.TLS{Config: secure.Config{Listen: []string{s.secure}, MinVersion: tls.VersionTLS12, ACME: a}}
	}
}

// certificate waits for a certificate of a name and returns it.
func (s *acmeServer) certificate(t *testing.T, name string) (cert *x509.Certificate) {
	t.Helper()
	testkit.Await(t, "certificate of "+name, func() bool {
		conn, err := tls.Dial("tcp", s.secure, &tls.Config{RootCAs: s.roots, ServerName: name})
		if err != nil {
			return false
		}
		defer conn.Close()
		cert = conn.ConnectionState().PeerCertificates[0]
		return true
	})
	return cert
}

// TestACMEChallengesAreServed obtains certificates by the challenges that a front door responds to itself. The rules
// for clients must not apply to the ACME server.
func TestACMEChallengesAreServed(t *testing.T) {
	t.Parallel()
	s, clients := newACMEServer(t), certtest.Root(t, "clients")
	back := upstream(t, hello)
	for name, a := range map[string]*secure.ACME{"http.example": {HTTP: true}, "alpn.example": {ALPN: true}} {
		t.Run(name, func(t *testing.T) {
			a.Domains, a.Storage = []string{name}, filepath.Join(t.TempDir(), "acme")
			d := openDoor(t, back.URL, s.config(a), func(c *config.Config) {
				c.Access = &access.Config{Deny: parsePrefixes(t, "127.0.0.0/8")}
				c.TLS.ClientCertificates = []secure.ClientCertificates{
					{Hosts: []string{name}, Roots: []*x509.Certificate{clients.Cert}}}
			})
			d.log.find(t, func(e event) bool { return e.Event == "certificate obtained" && e.Data["name"] == name })
			testkit.Await(t, "metric", func() bool {
				return d.metric(t, `weir_tls_certificate_expiry_timestamp_seconds{file="acme",name="`+name+`"}`) > 0
			})
			resp, _ := get(t, httpClient(t), d.url("/.well-known/acme-challenge/unknown"))
			if resp.StatusCode != 403 {
				t.Errorf("an unknown token: %s, want 403 as for any other path", resp.Status)
			}
		})
	}
}

// TestACMEKeepsCertificateOverRestart adds a name by a reload, and restarts while the ACME server
// is down. A certificate that exists is used at all times.
func TestACMEKeepsCertificateOverRestart(t *testing.T) {
	t.Parallel()
	s, back, storage := newACMEServer(t), upstream(t, hello), filepath.Join(t.TempDir(), "acme")
	with := func(names ...string) func(*config.Config) {
		return s.config(&secure.ACME{Domains: names, Storage: storage, ALPN: true})
	}
	d := openDoor(t, back.URL, with("a.example"))
	first := s.certificate(t, "a.example")
	if _, err := d.Reload(doorConfig(back.URL, with("a.example", "b.example"))); err != nil {
		t.Fatal(err)
	}
	if again := s.certificate(t, "a.example"); !again.Equal(first) {
		t.Error("the reload has replaced the certificate")
	}
	s.certificate(t, "b.example")
	if err := d.close(); err != nil {
		t.Fatal(err)
	}

	s.Stop()
	d = openDoor(t, back.URL, with("a.example", "c.example"))
	if again := s.certificate(t, "a.example"); !again.Equal(first) {
		t.Error("the restart has replaced the certificate")
	}
	d.log.find(t, func(e event) bool { return e.Event == "certificate not obtained" && e.Data["name"] == "c.example" })
	_, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: "c.example"})
	if err == nil || err.Error() != "remote error: tls: unrecognized name" {
		t.Errorf("a handshake for a name without a certificate: %v", err)
	}
}
