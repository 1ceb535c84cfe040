package proxying_test

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	proxyproto "github.com/pires/go-proxyproto"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// proxied starts a server that requires a header of the PROXY protocol. It responds with the
// address in the header and counts the connections.
func proxied(t *testing.T) (url string, accepted *atomic.Int64) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %d", r.RemoteAddr, len(body))
	}))
	accepted = new(atomic.Int64)
	s.Listener = &proxyproto.Listener{
		Listener: s.Listener,
		ConnPolicy: func(proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			accepted.Add(1)
			return proxyproto.REQUIRE, nil
		},
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, accepted
}

// TestProxyProtocolSendsClientAddress checks the header that the servers of an upstream get: the address that
// trusted proxies report, and the port only if it is that of the client. No connection is used
// for a second client.
func TestProxyProtocolSendsClientAddress(t *testing.T) {
	t.Parallel()
	for version := 1; version <= 2; version++ {
		url, accepted := proxied(t)
		up := openUpstream(t, proxying.Options{ProxyProtocol: version}, url)
		p := &proxying.Proxy{Upstream: up, Trust: proxying.Trust{netip.MustParsePrefix("10.0.0.0/8")}}
		front := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.RemoteAddr = r.Header.Get("X-Peer")
			p.ServeHTTP(w, r)
		}))
		cases := []struct{ peer, forwarded, want string }{
			{"192.0.2.1:1234", "", "192.0.2.1:1234"},
			{"192.0.2.1:1235", "198.51.100.1", "192.0.2.1:1235"}, // the peer is not trusted
			{"10.1.1.1:1", "192.0.2.9", "192.0.2.9:0"},
			{"[2001:db8::1]:7", "", "[2001:db8::1]:7"},
		}
		for i, c := range cases {
			body := strings.Repeat("x", i*100_000)
			req, err := http.NewRequest("PUT", front.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Peer", c.peer)
			req.Header.Set("X-Forwarded-For", c.forwarded)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if want := fmt.Sprint(c.want, " ", len(body)); string(got) != want || err != nil {
				t.Errorf("version %d, %+v: the server got %q, %v; want %q", version, c, got, err, want)
			}
		}
		if n := accepted.Load(); n != int64(len(cases)) {
			t.Errorf("%d connections for %d requests", n, len(cases))
		}
	}
}

// TestProxyProtocolPrecedesTLS sends the header to an https server.
func TestProxyProtocolPrecedesTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RemoteAddr)
	}))
	s.Listener = &proxyproto.Listener{
		Listener:   s.Listener,
		ConnPolicy: func(proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) { return proxyproto.REQUIRE, nil },
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	up := openUpstream(t, proxying.Options{TLS: proxying.TLS{Roots: roots}, ProxyProtocol: 2}, s.URL)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "192.0.2.1:1234"
	(&proxying.Proxy{Upstream: up}).ServeHTTP(w, r)
	if w.Code != 200 || w.Body.String() != r.RemoteAddr {
		t.Errorf("%d, the server got %q, want %s", w.Code, w.Body, r.RemoteAddr)
	}
}

// TestProxyProtocolOmitsUnknownClient sends the header of a request without a client's address,
// such as one on a Unix socket.
func TestProxyProtocolOmitsUnknownClient(t *testing.T) {
	t.Parallel()
	url, _ := proxied(t)
	for version := 1; version <= 2; version++ {
		up := openUpstream(t, proxying.Options{ProxyProtocol: version}, url)
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "@"
		(&proxying.Proxy{Upstream: up}).ServeHTTP(w, r)
		host, _, _ := net.SplitHostPort(strings.TrimSuffix(w.Body.String(), " 0"))
		if w.Code != 200 || host != "127.0.0.1" {
			t.Errorf("version %d: %d, the server got %q, want the connection's address", version, w.Code, w.Body)
		}
	}
}
