package front_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/internal/testkit"
)

// proxied returns a function that accepts the PROXY protocol from 127.0.0.1.
func proxied(required bool) func(*config.Config) {
	return func(c *config.Config) {
		from := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.ProxyProtocol = &config.ProxyProtocol{From: from, Required: required}
	}
}

const (
	header1     = "PROXY TCP4 192.0.2.1 198.51.100.7 56280 443\r\n"
	header6     = "PROXY TCP6 2001:db8::1 2001:db8::2 56280 443\r\n"
	binaryMagic = "\r\n\r\n\x00\r\nQUIT\n"
	header2     = binaryMagic + "\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x07\xdb\xd8\x01\xbb"
	headerLocal = binaryMagic + "\x20\x00\x00\x00"
)

// dialFrom connects from an address of the loopback network.
func dialFrom(t testing.TB, source, addr string) *rawConn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	nc, err := dialer.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(testTimeout))
	return &rawConn{nc.(*net.TCPConn), t, bufio.NewReader(nc)}
}

// TestProxyProtocolNamesTheClient checks the address of the client that a header names: in access rules, in
// limits per client, in the events and for the upstream.
func TestProxyProtocolNamesTheClient(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("X-Forwarded-For"))
	})
	d := openDoor(t, back.URL, proxied(true), func(c *config.Config) {
		c.Access = &access.Config{Deny: []netip.Prefix{netip.MustParsePrefix("192.0.2.66/32")}}
		limited := config.DefaultRoute("/limited", "site")
		limited.Limits.Rate = config.Rate{Per: config.RatePerClient, Every: time.Hour, Burst: 1}
		c.Routes = append(c.Routes, limited)
	})
	const get = "GET %s HTTP/1.1\r\nHost: a\r\n\r\n"
	for header, want := range map[string]string{
		header1: "192.0.2.1", header6: "2001:db8::1", header2: "192.0.2.1", headerLocal: "127.0.0.1",
		"PROXY UNKNOWN\r\n":                         "127.0.0.1",
		"PROXY UNKNOWN 192.0.2.1 192.0.2.2 1 2\r\n": "127.0.0.1",
		"PROXY TCP6 ::ffff:192.0.2.9 ::1 1 2\r\n":   "192.0.2.9",
	} {
		path := fmt.Sprintf("/%x", header)
		c := dial(t, d.addr)
		c.send(header + fmt.Sprintf(get, path)) // in one packet
		for range 2 {
			if resp, body := c.response("GET"); resp.StatusCode != 200 || body != want {
				t.Errorf("%q: %s, X-Forwarded-For %s, want %s", header, resp.Status, body, want)
			}
			if e := d.completed(t, path); e.HTTP.Client != want {
				t.Errorf("%q: the client is %s, want %s", header, e.HTTP.Client, want)
			}
			path = "/again" + path
			c.send(fmt.Sprintf(get, path))
		}
	}
	status := func(client, path string) int {
		c := dial(t, d.addr)
		c.send("PROXY TCP4 " + client + " 198.51.100.7 1 2\r\n")
		c.send(fmt.Sprintf(get, path))
		resp, _ := c.response("GET")
		return resp.StatusCode
	}
	got := []int{status("192.0.2.66", "/"), status("192.0.2.1", "/limited"), status("192.0.2.2", "/limited"),
		status("192.0.2.1", "/limited")}
	if want := []int{403, 200, 200, 429}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

// TestProxyProtocolArrivesInPieces sends a header and a request byte by byte.
func TestProxyProtocolArrivesInPieces(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, proxied(true))
	for i, header := range []string{header1, header2} {
		path := fmt.Sprint("/", i)
		c := dial(t, d.addr)
		for _, b := range []byte(header + "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n") {
			c.send(string([]byte{b}))
			time.Sleep(100 * time.Microsecond) // so that most bytes arrive in a read of their own
		}
		if resp, _ := c.response("GET"); resp.StatusCode != 200 || d.completed(t, path).HTTP.Client != "192.0.2.1" {
			t.Errorf("%q: %s", header, resp.Status)
		}
	}
}

// TestProxyProtocolPrecedesHTTP2 sends the preface of HTTP/2 after a header.
func TestProxyProtocolPrecedesHTTP2(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, proxied(true))
	for i, together := range []bool{true, false} {
		path := fmt.Sprint("/", i)
		c := dial(t, d.addr)
		if together {
			c.send(header2 + http2.ClientPreface)
		} else {
			c.send(header2)
			c.send(http2.ClientPreface)
		}
		h := &rawHTTP2{conn: c, framer: http2.NewFramer(c, c.r)}
		h.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		if err := h.framer.WriteSettings(); err != nil {
			t.Fatal(err)
		}
		if status := h.get(":method", "GET", ":scheme", "http", ":authority", "a", ":path", path); status != 200 {
			t.Errorf("status %d, want 200", status)
		}
		if e := d.completed(t, path); e.HTTP.Client != "192.0.2.1" {
			t.Errorf("the client is %s", e.HTTP.Client)
		}
	}
}

// TestMalformedProxyProtocolIsRefused sends headers that are malformed, missing, or from a source that
// is not trusted. The connection is closed without a response, counted and logged.
func TestMalformedProxyProtocolIsRefused(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	long := []byte(binaryMagic + "\x21\x11")
	long = binary.BigEndian.AppendUint16(long, 65535)
	for _, c := range []struct{ name, source, sent, reason string }{
		{"no header", "127.0.0.1", request, "absent"},
		{"HTTP/2", "127.0.0.1", http2.ClientPreface, "absent"},
		{"TLS", "127.0.0.1", "\x16\x03\x01\x02\x00\x01", "absent"},
		{"not trusted", "127.0.0.2", header1 + request, "untrusted"},
		{"not trusted, version 2", "127.0.0.2", header2 + request, "untrusted"},
		{"not trusted, malformed", "127.0.0.2", "PROXY TCP9\r\n" + request, "untrusted"},
		{"malformed", "127.0.0.1", "PROXY TCP9 192.0.2.1 192.0.2.2 1 2\r\n" + request, "malformed"},
		{"LF", "127.0.0.1", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n" + request, "malformed"},
		{"long line", "127.0.0.1", "PROXY UNKNOWN " + strings.Repeat("x", 200) + "\r\n", "malformed"},
		{"long block", "127.0.0.1", string(long), "malformed"},
		{"two headers", "127.0.0.1", header1 + header1 + request, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDoor(t, back.URL, proxied(true))
			conn := dialFrom(t, c.source, d.addr)
			conn.send(c.sent)
			response, _ := io.ReadAll(conn.r) // until the door closes or resets the connection
			if c.reason == "" {
				if !bytes.HasPrefix(response, []byte("HTTP/1.1 400 ")) {
					t.Errorf("the response is %q, want status 400", response)
				}
				return
			}
			if len(response) > 0 {
				t.Errorf("the response is %q, want none", response)
			}
			e := d.log.find(t, func(e event) bool { return e.Event == "proxy protocol refused" })
			if e.HTTP.Client != c.source || e.Data["refused"] != c.reason {
				t.Errorf("the event is %s", e.raw)
			}
			if n := d.metric(t, fmt.Sprintf("weir_proxy_protocol_refusals_total{reason=%q}", c.reason)); n != 1 {
				t.Errorf("counted %v times, want once", n)
			}
		})
	}
}

// TestProxyProtocolMayBeMissing serves connections without a header: from sources that are not
// trusted, and from trusted ones that do not have to send one.
func TestProxyProtocolMayBeMissing(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	for _, c := range []struct {
		source, header, client string
		required               bool
	}{
		{"127.0.0.2", "", "127.0.0.2", true},
		{"127.0.0.2", "", "127.0.0.2", false},
		{"127.0.0.1", "", "127.0.0.1", false},
		{"127.0.0.1", header2, "192.0.2.1", false},
	} {
		d := openDoor(t, back.URL, proxied(c.required))
		for _, begin := range []string{"", "\r\n"} {
			path := fmt.Sprintf("/%x", begin)
			conn := dialFrom(t, c.source, d.addr)
			conn.send(c.header + begin + "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
			if resp, _ := conn.response("POST"); resp.StatusCode != 200 || d.completed(t, path).HTTP.Client != c.client {
				t.Errorf("%+v, %q: %s", c, begin, resp.Status)
			}
		}
	}
}

// TestSlowProxyProtocolIsClosed holds back a part of a header. Every truncation is closed after the
// header timeout, while other connections are served.
func TestSlowProxyProtocolIsClosed(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, proxied(true),
		limited(func(l *config.Limits) { l.HeaderTimeout = quickly }))
	var slow []*rawConn
	for _, header := range []string{header1, header2} {
		for n := 1; n < len(header); n++ {
			c := dial(t, d.addr)
			c.send(header[:n])
			slow = append(slow, c)
		}
	}
	c := dial(t, d.addr)
	c.send(header1 + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if resp, _ := c.response("GET"); resp.StatusCode != 200 {
		t.Errorf("another client gets %s", resp.Status)
	}
	for _, c := range slow {
		if response, err := io.ReadAll(c.r); len(response) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%q, %v; want the end of the connection", response, err)
		}
	}
	if n := d.metric(t, `weir_proxy_protocol_refusals_total{reason="timeout"}`); int(n) != len(slow) {
		t.Errorf("counted %v of %d connections", n, len(slow))
	}
}

// TestProxyProtocolCountsConnectionsOfClient counts connections for the client that the header
// names. Those of the proxy itself, whose header has not arrived, are not limited.
func TestProxyProtocolCountsConnectionsOfClient(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, proxied(true), limited(func(l *config.Limits) { l.ConnectionsPerClient = 2 }))
	for range 5 {
		dial(t, d.addr)
	}
	ask := func(client string) (*rawConn, int) {
		c := dial(t, d.addr)
		c.send("PROXY TCP4 " + client + " 198.51.100.7 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
		resp, _ := c.response("GET")
		return c, resp.StatusCode
	}
	first, one := ask("192.0.2.1")
	_, two := ask("192.0.2.1")
	_, three := ask("192.0.2.1")
	_, other := ask("192.0.2.2")
	if got := []int{one, two, three, other}; !slices.Equal(got, []int{200, 200, 503, 200}) {
		t.Errorf("statuses %v, want 200, 200, 503, 200", got)
	}
	if n := d.metric(t, `weir_limit_refusals_total{limit="connections_per_client",route="all"}`); n != 1 {
		t.Errorf("%v refusals are counted, want 1", n)
	}
	first.Close()
	testkit.Await(t, "the connection to be gone", func() bool {
		_, status := ask("192.0.2.1")
		return status == 200
	})
}

// TestReloadChangesProxyProtocol adds and removes the rule by a reload.
func TestReloadChangesProxyProtocol(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	begins := func(header string) bool {
		c := dial(t, d.addr)
		c.send(header + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		response, _ := io.ReadAll(io.LimitReader(c.r, 12))
		return string(response) == "HTTP/1.1 200"
	}
	if !begins("") || begins(header1) {
		t.Error("a header is accepted without a rule")
	}
	for _, rule := range []func(*config.Config){proxied(true), nil} {
		cfg := *d.config
		cfg.ProxyProtocol = nil
		if rule != nil {
			rule(&cfg)
		}
		if _, err := d.Reload(&cfg); err != nil {
			t.Fatal(err)
		}
		if begins(header1) != (rule != nil) || begins("") != (rule == nil) {
			t.Errorf("the rule %v does not apply", cfg.ProxyProtocol)
		}
	}
}

// TestProxyProtocolIsSentToUpstream forwards the clients of both sides of the protocol.
func TestProxyProtocolIsSentToUpstream(t *testing.T) {
	t.Parallel()
	back := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RemoteAddr)
	}))
	back.Listener = &proxyproto.Listener{
		Listener: back.Listener,
		ConnPolicy: func(proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			return proxyproto.REQUIRE, nil
		},
	}
	back.Start()
	t.Cleanup(back.Close)
	for version := 1; version <= 2; version++ {
		d := openDoor(t, back.URL, proxied(false), func(c *config.Config) { c.Upstreams[0].SendProxyProtocol = version })
		c := dial(t, d.addr)
		own := c.LocalAddr().String()
		for _, want := range []string{own, own} {
			c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if resp, got := c.response("GET"); resp.StatusCode != 200 || got != want {
				t.Errorf("version %d: %s, the upstream got %s, want %s", version, resp.Status, got, want)
			}
		}
		if _, got := ask(t, d.addr, header6+"GET / HTTP/1.1\r\nHost: a\r\n\r\n"); got != "[2001:db8::1]:56280" {
			t.Errorf("version %d: the upstream got %s", version, got)
		}
	}
}

// A prefixed is a connection whose first write has a prefix.
type prefixed struct {
	net.Conn
	prefix string
}

func (c *prefixed) Write(b []byte) (int, error) {
	prefix := c.prefix
	c.prefix = ""
	n, err := c.Conn.Write(append([]byte(prefix), b...))
	return max(n-len(prefix), 0), err
}

// TestProxyProtocolPrecedesTLS sends a header before the handshake of TLS, in the same packet
// and in one of its own. Without a header, the connection is closed.
func TestProxyProtocolPrecedesTLS(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL, proxied(true))
	for i, header := range []string{header1, header2} {
		for _, together := range []bool{true, false} {
			for _, protocol := range []string{"http/1.1", "h2"} {
				path := fmt.Sprintf("/%d/%v/%s", i, together, protocol)
				raw := dial(t, d.secure)
				nc := &prefixed{Conn: raw.TCPConn, prefix: header}
				if !together {
					nc.prefix = ""
					raw.send(header)
				}
				config := d.client("localhost")
				config.NextProtos = []string{protocol}
				tr := &http.Transport{
					ForceAttemptHTTP2: protocol == "h2",
					DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
						c := tls.Client(nc, config)
						return c, c.HandshakeContext(ctx)
					},
				}
				resp, body := get(t, &http.Client{Transport: tr}, "https://localhost"+path)
				tr.CloseIdleConnections()
				if resp.StatusCode != 200 || body != "hello" || (resp.ProtoMajor == 2) != (protocol == "h2") {
					t.Errorf("%s: %s over %s", path, resp.Status, resp.Proto)
				}
				if e := d.completed(t, path); e.HTTP.Client != "192.0.2.1" {
					t.Errorf("%s: the client is %s", path, e.HTTP.Client)
				}
			}
		}
	}
	if err := tls.Client(dial(t, d.secure), d.client("localhost")).Handshake(); err == nil {
		t.Error("a handshake without a header succeeds")
	}
	if n := d.metric(t, `weir_proxy_protocol_refusals_total{reason="absent"}`); n != 1 {
		t.Errorf("counted %v times, want once", n)
	}
	c := dialFrom(t, "127.0.0.2", d.secure)
	c.send(header1)
	if response, _ := io.ReadAll(c.r); len(response) > 0 {
		t.Errorf("the response to another source is %q", response)
	}
	if n := d.metric(t, `weir_proxy_protocol_refusals_total{reason="untrusted"}`); n != 1 {
		t.Errorf("counted %v times, want once", n)
	}
}
