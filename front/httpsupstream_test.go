package front_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// A tlsBackend is a server for https.
type tlsBackend struct {
	url              string
	server           *httptest.Server
	full, resumed    atomic.Int64 // handshakes
	requests         atomic.Int64
	clientCommonName atomic.Value
}

// openTLS starts a server with a certificate. adjust changes its configuration.
func openTLS(t *testing.T, pair *certtest.Pair, h http.HandlerFunc, adjust ...func(*tls.Config)) *tlsBackend {
	t.Helper()
	b := new(tlsBackend)
	b.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.requests.Add(1)
		h(w, r)
	}))
	b.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	c := &tls.Config{Certificates: []tls.Certificate{*pair.TLS()}}
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if state.DidResume {
			b.resumed.Add(1)
		} else {
			b.full.Add(1)
		}
		if len(state.PeerCertificates) > 0 {
			b.clientCommonName.Store(state.PeerCertificates[0].Subject.CommonName)
		}
		return nil
	}
	for _, f := range adjust {
		f(c)
	}
	b.server.TLS = c
	b.server.StartTLS()
	t.Cleanup(b.server.Close)
	b.url = b.server.URL
	return b
}

// trust has the upstream "site" trust a root.
func trust(root *certtest.Pair) func(*config.Config) {
	return func(c *config.Config) {
		c.Upstreams[0].TLS = &upstreams.TLS{Roots: []*x509.Certificate{root.Cert}}
	}
}

// TestHTTPSUpstreamResumesSessions sends many requests with and without bodies at once. Connections are used
// again, and a new one resumes the session.
func TestHTTPSUpstreamResumesSessions(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			back := openTLS(t, root.Issue(t, certtest.Options{}), showTarget,
				func(c *tls.Config) { c.MaxVersion = version })
			d := openDoor(t, back.url, trust(root))
			fetch(t, d.url("/first"))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for i := range 20 {
						size := []int{0, 100, 40_000, 300_000}[i%4]
						resp, err := http.Post(d.url("/a?b"), "text/plain", strings.NewReader(strings.Repeat("x", size)))
						if err != nil {
							t.Error(err)
							return
						}
						body, err := io.ReadAll(resp.Body)
						resp.Body.Close()
						if err != nil || resp.StatusCode != 200 || len(body) != size {
							t.Errorf("status %d, %d bytes of %d returned, %v", resp.StatusCode, len(body), size, err)
						}
					}
				})
			}
			all.Wait()
			full, resumed := back.full.Load(), back.resumed.Load()
			if full+resumed > 100 || resumed == 0 && full > 1 {
				t.Errorf("%d full handshakes and %d resumed ones for %d requests", full, resumed, back.requests.Load())
			}
		})
	}
}

func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(b)
}

// TestHTTPSFailuresGive502 checks the responses for servers whose TLS fails: the client gets 502, the
// event has the reason, and no request was sent. Another server of the upstream gets the
// request instead.
func TestHTTPSFailuresGive502(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	old := time.Now().Add(-24 * time.Hour)
	good := openTLS(t, root.Issue(t, certtest.Options{}), showTarget)
	for _, c := range []struct {
		name   string
		url    func(t *testing.T) string
		reason string
	}{
		{"expired", func(t *testing.T) string {
			return openTLS(t, root.Issue(t, certtest.Options{From: old, To: old.Add(time.Hour)}), showTarget).url
		}, "certificate has expired"},
		{"another name", func(t *testing.T) string {
			return openTLS(t, root.Issue(t, certtest.Options{Hosts: []string{"other.example"}}), showTarget).url
		}, "doesn't contain any IP SANs"},
		{"an unknown issuer", func(t *testing.T) string {
			return openTLS(t, certtest.Root(t, "unknown").Issue(t, certtest.Options{}), showTarget).url
		}, "certificate signed by unknown authority"},
		{"plain HTTP", func(t *testing.T) string {
			return strings.Replace(upstream(t, hello).URL, "http:", "https:", 1)
		}, "does not look like a TLS handshake"},
		{"a reset", func(t *testing.T) string { return "https://" + testkit.ServeConns(t, resetAfterHello) }, "reset by peer"},
		{"an end", func(t *testing.T) string { return "https://" + testkit.ServeConns(t, endAfterHello) }, "server has closed"},
		{"an old version", func(t *testing.T) string {
			return openTLS(t, root.Issue(t, certtest.Options{}), showTarget, func(c *tls.Config) {
				c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			}).url
		}, "protocol version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := c.url(t)
			d := openDoor(t, url, trust(root))
			if status, _ := fetch(t, d.url("/")); status != 502 {
				t.Errorf("status %d, want 502", status)
			}
			e := d.completed(t, "/")
			if len(e.Errors) == 0 || !strings.Contains(e.Errors[0].Message, c.reason) {
				t.Errorf("the event has the errors %v, want %q", e.Errors, c.reason)
			}
			d.awaitErrors(t, "tls")
			d = openDoor(t, url, trust(root), func(c *config.Config) {
				c.Upstreams[0].Servers = append(c.Upstreams[0].Servers, upstreams.Server{URL: good.url})
			})
			before := good.requests.Load()
			for range 3 {
				resp, err := http.Post(d.url("/"), "text/plain", strings.NewReader("x"))
				if err != nil {
					t.Fatal(err)
				}
				if resp.Body.Close(); resp.StatusCode != 200 {
					t.Errorf("status %d with another server", resp.StatusCode)
				}
			}
			if n := good.requests.Load() - before; n != 3 {
				t.Errorf("the other server got %d requests, want 3", n)
			}
		})
	}
}

func resetAfterHello(nc *net.TCPConn) {
	nc.Read(make([]byte, 1000))
	nc.SetLinger(0)
}

func endAfterHello(nc *net.TCPConn) { nc.Read(make([]byte, 10_000)) }

func TestTimeoutLimitsTheHTTPSHandshake(t *testing.T) {
	t.Parallel()
	addr := testkit.ServeConns(t, func(nc *net.TCPConn) { io.Copy(io.Discard, nc) })
	d := openDoor(t, "https://"+addr, func(c *config.Config) {
		c.Routes[0].Timeout, c.Upstreams[0].ConnectWait = 200*time.Millisecond, 0
	})
	if status, _ := fetch(t, d.url("/")); status != 504 {
		t.Errorf("status %d, want 504", status)
	}
	d.awaitErrors(t, "connect_timeout")
}

// TestHTTPSServerGetsClientCertificate checks that servers get the certificate of the upstream, also
// after a reload with another one, and the failure without one.
func TestHTTPSServerGetsClientCertificate(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	back := openTLS(t, root.Issue(t, certtest.Options{}), showTarget, func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, root.Pool()
	})
	d := openDoor(t, back.url, trust(root), func(c *config.Config) { c.Upstreams[0].ConnectWait = 0 })
	if status, _ := fetch(t, d.url("/without")); status != 502 {
		t.Errorf("status %d without a certificate, want 502", status)
	}
	const reason = "certificate required"
	if e := d.completed(t, "/without"); len(e.Errors) == 0 || !strings.Contains(e.Errors[0].Message, reason) {
		t.Errorf("the event has the errors %v", e.Errors)
	}
	for _, name := range []string{"first", "second"} {
		d.reload(func(c *config.Config) {
			c.Upstreams[0].TLS = &upstreams.TLS{
				Roots:       []*x509.Certificate{root.Cert},
				Certificate: root.Issue(t, certtest.Options{Name: name, Client: true}).TLS(),
			}
		})
		for range 2 {
			if status, _ := fetch(t, d.url("/"+name)); status != 200 || back.clientCommonName.Load() != name {
				t.Errorf("status %d, certificate %v, want that of %s", status, back.clientCommonName.Load(), name)
			}
		}
	}
}

// TestHTTPSServerNameIsVerified checks that a server is asked for the configured name, and that its certificate
// must have it.
func TestHTTPSServerNameIsVerified(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	var asked atomic.Value
	back := openTLS(t, root.Issue(t, certtest.Options{Hosts: []string{"app.internal"}}), showTarget, func(c *tls.Config) {
		c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			asked.Store(hello.ServerName)
			return nil, nil
		}
	})
	d := openDoor(t, back.url, trust(root), func(c *config.Config) { c.Upstreams[0].TLS.Name = "app.internal" })
	if status, _ := fetch(t, d.url("/")); status != 200 || asked.Load() != "app.internal" {
		t.Errorf("status %d, the server was asked for %v", status, asked.Load())
	}
}

// TestHTTPSTruncationCutsTheResponse checks that a response that ends with the connection is cut if TLS has
// not ended.
func TestHTTPSTruncationCutsTheResponse(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	pair := root.Issue(t, certtest.Options{})
	for _, complete := range []bool{true, false} {
		addr := testkit.ServeConns(t, func(nc *net.TCPConn) {
			c := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{*pair.TLS()}})
			c.Read(make([]byte, 10_000))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nthe body")
			if complete {
				c.CloseWrite()
			}
			nc.CloseWrite()
			io.Copy(io.Discard, nc)
		})
		d := openDoor(t, "https://"+addr, trust(root))
		resp, err := http.Get(d.url("/"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); string(body) != "the body" || (err == nil) != complete {
			t.Errorf("complete = %t: %q, %v", complete, body, err)
		}
	}
}

func TestHTTPSUpgradeOpensATunnel(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	back := openTLS(t, root.Issue(t, certtest.Options{}), func(w http.ResponseWriter, _ *http.Request) {
		echoTunnel(t, w)
	})
	d := openDoor(t, back.url, trust(root))
	nc, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nabc")
	buf := make([]byte, 1000)
	received := ""
	for !strings.HasSuffix(received, "abc") {
		n, err := nc.Read(buf)
		if received += string(buf[:n]); err != nil {
			t.Fatalf("%q, %v", received, err)
		}
	}
}
