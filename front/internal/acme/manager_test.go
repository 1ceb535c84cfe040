package acme_test

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/weirhq/weir/front/internal/acme"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// testTimeout is the timeout for conditions that should hold soon.
const testTimeout = time.Minute

// An eventList has the events of a manager.
type eventList struct {
	mu  sync.Mutex
	all []acme.Event // guarded by mu
}

func (l *eventList) add(e acme.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

// count returns the number of events with a message, and the text of the last one's error.
func (l *eventList) count(message string) (n int, last string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if e.Message == message {
			n++
			last = fmt.Sprint(e.Err)
		}
	}
	return n, last
}

// A site responds to the challenges of the managers that it has, as a front door does.
type site struct {
	httpPort, tlsPort int
	managers          atomic.Pointer[[]*acme.Manager]
	answered          [2]atomic.Int32 // challenges of http-01 and tls-alpn-01
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := new(site)
	s.managers.Store(new([]*acme.Manager))
	plain := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		for _, m := range *s.managers.Load() {
			if body, ok := m.ChallengeResponse(r.Context(), host, r.URL.Path); ok {
				s.answered[0].Add(1)
				io.WriteString(w, body)
				return
			}
		}
		w.WriteHeader(404)
	}))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		NextProtos: []string{"acme-tls/1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (cert *tls.Certificate, err error) {
			for _, m := range *s.managers.Load() {
				if cert, err = m.ChallengeCertificate(hello.Context(), hello.ServerName); err == nil {
					s.answered[1].Add(1)
					return cert, nil
				}
			}
			return nil, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.(*tls.Conn).Handshake()
			c.Close()
		}
	}()
	s.httpPort, s.tlsPort = plain.Listener.Addr().(*net.TCPAddr).Port, l.Addr().(*net.TCPAddr).Port
	return s
}

// A testManager is a manager that the end of the test stops, unless the test did.
type testManager struct {
	*acme.Manager
	stopped sync.Once
}

func (m *testManager) Stop() { m.stopped.Do(m.Manager.Stop) }

// add starts a manager whose challenges the site responds to. Its events go to the returned list.
func (s *site) add(t *testing.T, o acme.Options) (*testManager, *eventList) {
	t.Helper()
	events := new(eventList)
	o.Log = events.add
	started, err := acme.New(o)
	if err != nil {
		t.Fatal(err)
	}
	m := &testManager{Manager: started}
	all := append([]*acme.Manager{started}, *s.managers.Load()...)
	s.managers.Store(&all)
	m.Start()
	t.Cleanup(func() {
		m.Stop()
		if t.Failed() {
			for _, e := range events.all {
				t.Logf("%v %s: %v %v", e.Level, e.Message, e.Err, e.Fields)
			}
		}
	})
	return m, events
}

// options returns those of a manager that uses a server.
func options(t *testing.T, p *peer.Pebble, names ...string) acme.Options {
	return acme.Options{Names: names, Directory: p.Directory, Roots: p.Roots, Storage: filepath.Join(t.TempDir(), "acme"),
		HTTP: true, Retry: 200 * time.Millisecond, Interval: 200 * time.Millisecond}
}

func (s *site) pebble(t *testing.T, o peer.PebbleOptions) *peer.Pebble {
	t.Helper()
	o.HTTPPort, o.TLSPort = s.httpPort, s.tlsPort
	return peer.StartPebble(t, o)
}

// awaitCertificate waits for a certificate of a name, other than the given one.
func awaitCertificate(t *testing.T, m *testManager, name string, before *tls.Certificate) *tls.Certificate {
	t.Helper()
	testkit.Await(t, "certificate of "+name, func() bool {
		c := m.Certificate(name)
		return c != nil && (before == nil || !c.Leaf.Equal(before.Leaf))
	})
	return m.Certificate(name)
}

// verify checks that a certificate is for a host and issued by the server.
func verify(t *testing.T, p *peer.Pebble, c *tls.Certificate, host string) {
	t.Helper()
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA(t))
	for _, der := range c.Certificate[1:] {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		between.AddCert(cert)
	}
	if _, err := c.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between}); err != nil {
		t.Errorf("the certificate of %s: %v", host, err)
	}
}

func TestEachChallengeObtainsCertificate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.pebble(t, peer.PebbleOptions{Env: []string{"PEBBLE_WFE_NONCEREJECT=20"}})
	byHTTP, _ := s.add(t, options(t, p, "http.example"))
	o := options(t, p, "alpn.example")
	o.HTTP, o.TLSALPN, o.Email = false, true, "ops@weir.test"
	byALPN, _ := s.add(t, o)
	o = options(t, p, "*.wild.example", "wild.example")
	o.DNS = acme.Hook{Command: []string{"env", "DNS_API=" + p.DNSAPI, "sh", "../../../examples/acme/dns-hook.sh"}, Timeout: testTimeout}
	byDNS, _ := s.add(t, o)
	for _, c := range []struct {
		m          *testManager
		name, host string
	}{
		{byHTTP, "http.example", "http.example"}, {byALPN, "alpn.example", "alpn.example"},
		{byDNS, "*.wild.example", "a.wild.example"}, {byDNS, "wild.example", "wild.example"},
	} {
		verify(t, p, awaitCertificate(t, c.m, c.name, nil), c.host)
	}
	if http, alpn := s.answered[0].Load(), s.answered[1].Load(); http == 0 || alpn == 0 {
		t.Errorf("%d challenges of http-01 and %d of tls-alpn-01", http, alpn)
	}
	if _, ok := byHTTP.ChallengeResponse(t.Context(), "http.example", acme.ChallengePrefix+"x"); ok {
		t.Error("an unknown token has a response")
	}
	if _, err := byALPN.ChallengeCertificate(t.Context(), "alpn.example"); err == nil {
		t.Error("a challenge that has ended has a certificate")
	}
	info, err := os.Stat(o.Storage)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of keys: %v, %v", info.Mode(), err)
	}
}

// TestCertificatesAreRenewedBeforeTheirEnd renews certificates that live for a few seconds.
func TestCertificatesAreRenewedBeforeTheirEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.pebble(t, peer.PebbleOptions{Validity: 4 * time.Second})
	m, events := s.add(t, options(t, p, "a.example"))
	first := awaitCertificate(t, m, "a.example", nil)
	second := awaitCertificate(t, m, "a.example", first)
	if !second.Leaf.NotBefore.Before(first.Leaf.NotAfter) {
		t.Errorf("renewed at %v, after the end at %v", second.Leaf.NotBefore, first.Leaf.NotAfter)
	}
	verify(t, p, second, "a.example")
	if n, _ := events.count(acme.EventObtained); n < 2 {
		t.Errorf("%d events of certificates", n)
	}
}

// TestManagersWithOneFolderOrderOnce starts two managers with the same folder at once. They must not order two
// certificates. A third one finds the certificate while the server is down.
func TestManagersWithOneFolderOrderOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.pebble(t, peer.PebbleOptions{})
	o := options(t, p, "a.example")
	var orders atomic.Int32
	server := serverBefore(t, p, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/order-plz" {
			orders.Add(1)
		}
		return false
	})
	o.Directory, o.Roots = server.URL+"/dir", rootOf(server)
	one, _ := s.add(t, o)
	two, _ := s.add(t, o)
	first := awaitCertificate(t, one, "a.example", nil)
	second := awaitCertificate(t, two, "a.example", nil)
	if !first.Leaf.Equal(second.Leaf) || orders.Load() != 1 {
		t.Errorf("%d orders; the same certificate: %v", orders.Load(), first.Leaf.Equal(second.Leaf))
	}
	server.Close()
	o.Log = func(acme.Event) {}
	three, err := acme.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer three.Stop()
	if c := three.Certificate("a.example"); c == nil || !c.Leaf.Equal(first.Leaf) {
		t.Errorf("New returned before the stored certificate was loaded: %v", c)
	}
}

// A frontend is a server in front of a server of ACME, which can be replaced.
type frontend struct {
	*httptest.Server
	target atomic.Pointer[peer.Pebble]
}

// serverBefore starts a server in front of another one. refuse may respond to a request.
func serverBefore(t *testing.T, p *peer.Pebble, refuse func(http.ResponseWriter, *http.Request) bool) *frontend {
	t.Helper()
	f := new(frontend)
	f.target.Store(p)
	f.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse(w, r) {
			return
		}
		p := f.target.Load()
		target, err := url.Parse(p.Directory)
		if err != nil {
			t.Error(err)
			return
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Roots}, DisableKeepAlives: true}
		// Pebble makes the URLs in its responses from Host, which stays that of the frontend.
		proxy := &httputil.ReverseProxy{Transport: transport,
			Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "https", target.Host }}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// rootOf returns a pool with the certificate of a server.
func rootOf(server *frontend) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// TestManagerStartsBeforeItsServer checks that New does not wait for the server.
func TestManagerStartsBeforeItsServer(t *testing.T) {
	t.Parallel()
	s, address, root := newSite(t), peer.FreeAddress(t), certtest.Root(t, "root")
	o := acme.Options{Names: []string{"a.example"}, Directory: "https://" + address + "/dir", HTTP: true,
		Roots: root.Pool(), Storage: t.TempDir(), Retry: 100 * time.Millisecond, Log: func(acme.Event) {}}
	for tries := 1; ; tries++ { // on a busy machine one may take long for another reason
		began := time.Now()
		m, err := acme.New(o)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		m.Stop()
		if took < time.Second {
			break
		}
		if tries == 10 {
			t.Fatalf("New waits %v for the server", took)
		}
	}
	m, events := s.add(t, o)
	testkit.Await(t, "two failed attempts", func() bool {
		n, text := events.count(acme.EventNotObtained)
		return n >= 2 && strings.Contains(text, "connection refused")
	})
	if c := m.Certificate("a.example"); c != nil {
		t.Errorf("a certificate: %v", c.Leaf.Subject)
	}
	p := s.pebble(t, peer.PebbleOptions{Address: address, Root: root})
	verify(t, p, awaitCertificate(t, m, "a.example", nil), "a.example")
}

// TestRefusedOrdersAreRetried covers a server that limits the rate of requests, refuses a name, has
// a fault, and has lost its accounts.
func TestRefusedOrdersAreRetried(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.pebble(t, peer.PebbleOptions{})
	var refusals atomic.Int32
	server := serverBefore(t, p, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/order-plz" {
			return false
		}
		switch refusals.Add(1) {
		case 1:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(429)
			io.WriteString(w, `{"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many","status":429}`)
			return true
		case 2:
			w.WriteHeader(502)
			return true
		}
		return false
	})
	o := options(t, p, "a.example", "blocked.example")
	o.Directory, o.Roots = server.URL+"/dir", rootOf(server)
	m, events := s.add(t, o)
	verify(t, p, awaitCertificate(t, m, "a.example", nil), "a.example")
	testkit.Await(t, "the refused name", func() bool {
		_, text := events.count(acme.EventNotObtained)
		return strings.Contains(text, "blocked.example")
	})
	if m.Certificate("blocked.example") != nil {
		t.Error("the refused name has a certificate")
	}
	m.Stop()

	other := s.pebble(t, peer.PebbleOptions{}) // does not know the account
	server.target.Store(other)
	o.Names = []string{"b.example"}
	m, _ = s.add(t, o)
	verify(t, other, awaitCertificate(t, m, "b.example", nil), "b.example")
}

// TestRevokedCertificateIsReplaced revokes a certificate by the responses of a server of OCSP.
func TestRevokedCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var issuer *x509.Certificate
	var key crypto.Signer
	var revoked atomic.Pointer[x509.Certificate]
	responder := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request, err := ocsp.ParseRequest(body)
		if err != nil {
			t.Errorf("a request of OCSP: %v", err)
			return
		}
		answer := ocsp.Response{Status: ocsp.Good, SerialNumber: request.SerialNumber,
			ThisUpdate: time.Now().Add(-2 * time.Second), NextUpdate: time.Now().Add(time.Second)}
		if c := revoked.Load(); c != nil && c.SerialNumber.Cmp(request.SerialNumber) == 0 {
			answer.Status, answer.RevokedAt = ocsp.Revoked, time.Now()
		}
		der, err := ocsp.CreateResponse(issuer, issuer, answer, key)
		if err != nil {
			t.Errorf("a response of OCSP: %v", err)
		}
		w.Write(der)
	}))
	t.Cleanup(responder.Close)
	p := s.pebble(t, peer.PebbleOptions{OCSP: "http://" + responder.Listener.Addr().String()})
	issuer, key = intermediate(t, p)
	responder.Start()
	m, events := s.add(t, options(t, p, "a.example"))
	first := awaitCertificate(t, m, "a.example", nil)
	if len(first.OCSPStaple) == 0 {
		t.Error("the certificate has no answer of OCSP")
	}
	revoked.Store(first.Leaf)
	verify(t, p, awaitCertificate(t, m, "a.example", first), "a.example")
	if n, _ := events.count(acme.EventRevoked); n == 0 {
		t.Error("no event of the revocation")
	}
}

// intermediate returns the certificate and the key that sign.
func intermediate(t *testing.T, p *peer.Pebble) (*x509.Certificate, crypto.Signer) {
	t.Helper()
	certPEM, keyPEM := p.Intermediate(t)
	block, _ := pem.Decode(certPEM)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	block, _ = pem.Decode(keyPEM)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// TestFailedHookIsReported covers commands that fail, hang and do not exist.
func TestFailedHookIsReported(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.pebble(t, peer.PebbleOptions{})
	for name, c := range map[string]struct {
		command []string
		timeout time.Duration
		want    string
	}{
		"a failure": {[]string{"sh", "-c", `echo "no zone for $2"; exit 3`, "hook"}, testTimeout,
			"no zone for _acme-challenge.wild.example"},
		"no end":     {[]string{"sh", "-c", "exec sleep 60"}, 50 * time.Millisecond, "not done after 50ms"},
		"no command": {[]string{"/nowhere/hook"}, testTimeout, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, p, "*.wild.example")
			o.DNS = acme.Hook{Command: c.command, Timeout: c.timeout}
			m, events := s.add(t, o)
			defer m.Stop()
			testkit.Await(t, "a failed attempt", func() bool { n, _ := events.count(acme.EventNotObtained); return n > 0 })
			if _, text := events.count(acme.EventNotObtained); !strings.Contains(text, c.want) {
				t.Errorf("the error is %s, want %s", text, c.want)
			}
		})
	}
}

func TestUnusableStorageIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := acme.New(acme.Options{Names: []string{"a.example"}, Storage: filepath.Join(file, "acme"),
		Log: func(acme.Event) {}})
	if err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("New: %v", err)
	}
}

// TestUnwritableStorageIsLogged starts a manager with a folder in which nobody can write. An event reports it.
func TestUnwritableStorageIsLogged(t *testing.T) {
	const folder = "/proc/self"
	if _, err := os.Stat(folder); err != nil {
		t.Skip(err)
	}
	events := new(eventList)
	m, err := acme.New(acme.Options{Names: []string{"a.example"}, Storage: folder, Directory: "http://127.0.0.1:1", Log: events.add})
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	defer m.Stop()
	testkit.Await(t, "the event", func() bool { n, _ := events.count(acme.EventNotWritable); return n == 1 })
}
