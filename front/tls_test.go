package front_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// A tlsDoor is a front door with a TLS listener and a plain one.
type tlsDoor struct {
	*testDoor
	root   *certtest.Pair
	server *certtest.Pair
	secure string // address of the TLS listener
}

// openTLSDoor starts a front door whose certificate is for localhost, 127.0.0.1, and the names
// of example.
func openTLSDoor(t testing.TB, upstream string, adjust ...func(*config.Config)) *tlsDoor {
	t.Helper()
	root := certtest.Root(t, "root")
	server := root.Issue(t, certtest.Options{Name: "door",
		Hosts: []string{"localhost", "127.0.0.1", "*.example", "*.admin.example"}})
	cert, key := server.Write(t, t.TempDir(), "door")
	withTLS := func(c *config.Config) {
		c.TLS = &config.TLS{Config: secure.Config{Listen: []string{"127.0.0.1:0"}, MinVersion: tls.VersionTLS12,
			Certificates: []secure.Certificate{{Cert: cert, Key: key}}}}
		c.Listen = []string{"localhost:0"}
	}
	d := openDoor(t, upstream, append([]func(*config.Config){withTLS}, adjust...)...)
	return &tlsDoor{testDoor: d, root: root, server: server, secure: d.Addrs()[1].String()}
}

// TestReloadKeepsFreePorts gives all listeners the same address with port 0. A reload keeps their ports.
func TestReloadKeepsFreePorts(t *testing.T) {
	t.Parallel()
	var cfg *config.Config
	d := openTLSDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Listen, c.Admin = []string{"127.0.0.1:0"}, "127.0.0.1:0"
		cfg = c
	})
	urls := []string{"http://" + d.Addrs()[0].String(), "https://" + d.Addrs()[1].String()}
	for range 2 {
		if got := d.URLs(); !slices.Equal(got, urls) {
			t.Errorf("listeners %v, want %v", got, urls)
		}
		if resp, body := get(t, httpClient(t), urls[0]); resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", urls[0], resp.StatusCode, body)
		}
		conn, _ := d.dialTLS(t, d.client("localhost"))
		conn.Close()
		if _, err := d.Reload(cfg); err != nil {
			t.Fatal(err)
		}
	}
}

// client returns the configuration of a client that asks for a name.
func (d *tlsDoor) client(name string) *tls.Config {
	return &tls.Config{RootCAs: d.root.Pool(), ServerName: name}
}

// dialTLS connects to the TLS listener.
func (d *tlsDoor) dialTLS(t testing.TB, c *tls.Config) (*tls.Conn, *rawConn) {
	t.Helper()
	raw := dial(t, d.secure)
	conn := tls.Client(raw.TCPConn, c)
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	raw.r = bufio.NewReader(conn)
	return conn, raw
}

// ask sends a request and returns the response with its body.
func (d *tlsDoor) ask(t testing.TB, c *tls.Config, request string) (*http.Response, string) {
	t.Helper()
	conn, raw := d.dialTLS(t, c)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	return raw.response(method)
}

func (d *tlsDoor) handshakes(t testing.TB, result string) float64 {
	return d.metric(t, fmt.Sprintf("weir_tls_handshakes_total{result=%q}", result))
}

// awaitHandshakes waits until the result was counted n times.
func (d *tlsDoor) awaitHandshakes(t testing.TB, result string, n float64) {
	t.Helper()
	testkit.Await(t, fmt.Sprint(n, " handshakes with the result ", result),
		func() bool { return d.handshakes(t, result) >= n })
	if got := d.handshakes(t, result); got != n {
		t.Errorf("%v handshakes with the result %s, want %v", got, result, n)
	}
}

// TestTLSRequestsReachTheUpstream sends requests of all kinds over TLS 1.2 and 1.3. The upstream gets the scheme and
// the bodies, and so do the events.
func TestTLSRequestsReachTheUpstream(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Proto", r.Header.Get("X-Forwarded-Proto"))
		fmt.Fprintf(w, "%s %d ", r.Method, len(body))
		w.Write(body)
	})
	d := openTLSDoor(t, back.URL)
	for version, name := range map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"} {
		c := d.client("localhost")
		c.MinVersion, c.MaxVersion = version, version
		conn, raw := d.dialTLS(t, c)
		for _, size := range []int{0, 1, 1000, 16 << 10, 100 << 10, 1 << 20} {
			body := strings.Repeat("x", size)
			path := fmt.Sprintf("/%s/%d", name, size)
			go fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", path, size, body)
			resp, got := raw.response("POST")
			if want := fmt.Sprintf("POST %d %s", size, body); got != want || resp.Header.Get("X-Proto") != "https" {
				t.Errorf("TLS %s, %d bytes: %s, %d bytes, scheme %s", name, size, resp.Status, len(got), resp.Header.Get("X-Proto"))
			}
			if e := d.completed(t, path); e.HTTP.Scheme != "https" {
				t.Errorf("the scheme of the event is %q", e.HTTP.Scheme)
			}
		}
		for request, want := range map[string]int{
			"GET https://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n":                                    200,
			"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n": 200,
			"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n":       200,
			"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n":                                     400,
		} {
			if resp, _ := d.ask(t, c, request); resp.StatusCode != want {
				t.Errorf("%q: %s, want %d", request, resp.Status, want)
			}
		}
		label := fmt.Sprintf("weir_tls_connections_total{protocol=\"none\",version=%q}", name)
		if n := d.metric(t, label); n != 5 {
			t.Errorf("%s is %v, want 5", label, n)
		}
	}
	if resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); resp.Header.Get("X-Proto") != "http" {
		t.Errorf("the scheme of a plain request is %s", resp.Header.Get("X-Proto"))
	}
}

// TestTLSRecordMayHoldSeveralRequests sends requests in one record, one request in many records, and two requests
// in a record with the end of the handshake.
func TestTLSRecordMayHoldSeveralRequests(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL)
	conn, raw := d.dialTLS(t, d.client("localhost"))
	get := "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	io.WriteString(conn, strings.Repeat(get, 20))
	for range 20 {
		if resp, body := raw.response("GET"); resp.StatusCode != 200 || body != "hello" {
			t.Fatalf("%s %q", resp.Status, body)
		}
	}
	long := "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", 8000) + "\r\n\r\n"
	for len(long) > 0 {
		n := min(len(long), 700)
		io.WriteString(conn, long[:n])
		long = long[n:]
	}
	if resp, _ := raw.response("GET"); resp.StatusCode != 200 {
		t.Errorf("a long head: %s", resp.Status)
	}
}

// TestTLSSessionsResumeAfterReload resumes sessions, also after a reload, but not after one that changes the
// rules for certificates of clients.
func TestTLSSessionsResumeAfterReload(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		c := d.client("localhost")
		c.MaxVersion, c.ClientSessionCache = version, tls.NewLRUClientSessionCache(1)
		resumed := func() bool {
			conn, raw := d.dialTLS(t, c)
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
			raw.response("GET") // the ticket has arrived
			return conn.ConnectionState().DidResume
		}
		if resumed() || !resumed() {
			t.Error("the second connection is not resumed")
		}
		cfg := *d.config
		if _, err := d.Reload(&cfg); err != nil {
			t.Fatal(err)
		}
		if !resumed() {
			t.Error("not resumed after a reload")
		}
		restricted := *d.config.TLS
		restricted.ClientCertificates = []secure.ClientCertificates{{Roots: []*x509.Certificate{d.root.Cert}, Optional: true}}
		cfg.TLS = &restricted
		if _, err := d.Reload(&cfg); err != nil {
			t.Fatal(err)
		}
		if resumed() {
			t.Error("resumed with another rule for certificates of clients")
		}
		if _, err := d.Reload(d.config); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClientCertificatesAreCheckedByHost sends requests with and without certificates, to hosts with and
// without a rule, by connections for other hosts, and with a forged subject.
func TestClientCertificatesAreCheckedByHost(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		var subjects []string
		for name, values := range r.Header {
			if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "X-Subject") {
				subjects = append(subjects, values...)
			}
		}
		fmt.Fprintf(w, "%q", subjects)
	})
	staff, partners := certtest.Root(t, "staff"), certtest.Root(t, "partners")
	d := openTLSDoor(t, back.URL, func(c *config.Config) {
		c.TLS.SubjectHeader = "X-Subject"
		c.TLS.ClientCertificates = []secure.ClientCertificates{
			{Hosts: []string{"admin.example", "*.admin.example"}, Roots: []*x509.Certificate{staff.Cert}},
			{Hosts: []string{"partner.example"}, Roots: []*x509.Certificate{partners.Cert}, Optional: true},
		}
	})
	ann := staff.Issue(t, certtest.Options{Name: "ann\nX-Admin: 1", Client: true}).TLS()
	bob := partners.Issue(t, certtest.Options{Name: "bob", Client: true}).TLS()
	for _, c := range []struct {
		sni, host string
		cert      *tls.Certificate
		status    int // 0 if the handshake fails
		subjects  string
	}{
		{"admin.example", "admin.example", ann, 200, `["CN=ann\\0AX-Admin: 1"]`},
		{"ADMIN.example", "Admin.Example:443", ann, 200, `["CN=ann\\0AX-Admin: 1"]`},
		{"admin.example", "admin.example.", ann, 200, `["CN=ann\\0AX-Admin: 1"]`},
		{"a.admin.example", "admin.example", ann, 200, `["CN=ann\\0AX-Admin: 1"]`},
		{"admin.example", "admin.example", nil, 0, ""},
		{"admin.example", "admin.example", bob, 0, ""},
		{"shop.example", "admin.example", nil, 421, ""},
		{"shop.example", "ADMIN.EXAMPLE.", nil, 421, ""},
		{"shop.example", "b.admin.example:8443", ann, 421, ""},
		{"partner.example", "admin.example", bob, 421, ""},
		{"admin.example", "partner.example", ann, 421, ""},
		{"admin.example", "shop.example", ann, 421, ""},
		{"partner.example", "partner.example", bob, 200, `["CN=bob"]`},
		{"partner.example", "partner.example", nil, 200, `[]`},
		{"partner.example", "partner.example", ann, 0, ""},
		{"shop.example", "shop.example", ann, 200, `[]`},
		{"shop.example", "shop.example", nil, 200, `[]`},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			name := fmt.Sprintf("%s, %s, %v", c.sni, c.host, c.cert != nil)
			conf := d.client(c.sni)
			conf.MaxVersion = version
			conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if c.cert == nil {
					return new(tls.Certificate), nil
				}
				return c.cert, nil // also if the server asks for another issuer
			}
			status, body := tlsStatus(t, d.secure, conf, "GET / HTTP/1.1\r\nHost: "+c.host+
				"\r\nX-Subject: CN=root\r\nx_subject: CN=root\r\n\r\n")
			if status != c.status || status == 200 && body != c.subjects {
				t.Errorf("%s: status %d, subjects %s; want %d, %s", name, status, body, c.status, c.subjects)
			}
		}
	}
	d.awaitHandshakes(t, "client_certificate", 6)
	head := []byte("GET / HTTP/1.1\r\nHost: admin.example\r\n\r\n")
	explained, err := d.Explain("https", head, netip.MustParseAddr("::1"))
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Join(explained.Routes[0].Steps, "; ")
	want := "requires a certificate of the client; passes the subject of the certificate in X-Subject; forwards"
	if !strings.HasPrefix(steps, want) {
		t.Errorf("explained as %s, want %s", steps, want)
	}
	e := d.log.find(t, func(e event) bool { return e.Data["client_subject"] != nil })
	if e.Data["client_subject"] != `CN=ann\0AX-Admin: 1` {
		t.Errorf("the subject in the event is %q", e.Data["client_subject"])
	}
	for host, want := range map[string]int{"admin.example": 421, "partner.example": 200, "shop.example": 200} {
		resp, body := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: "+host+"\r\nX-Subject: CN=root\r\n\r\n")
		if resp.StatusCode != want || want == 200 && body != "[]" {
			t.Errorf("%s without TLS: %s, subjects %s; want %d", host, resp.Status, body, want)
		}
	}
}

// tlsStatus sends a request on a new connection, and returns the status of the response, or 0
// if the handshake fails, which the client of TLS 1.3 notices in its first read.
func tlsStatus(t testing.TB, addr string, c *tls.Config, request string) (status int, body string) {
	t.Helper()
	raw := dial(t, addr)
	conn := tls.Client(raw.TCPConn, c)
	if conn.Handshake() != nil {
		return 0, ""
	}
	io.WriteString(conn, request)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// TestPlainRequestToTLSListenerGets400 sends HTTP without TLS.
func TestPlainRequestToTLSListenerGets400(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL)
	c := dial(t, d.secure)
	c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	resp, body := c.response("GET")
	if resp.StatusCode != 400 || !strings.Contains(body, "expects https") {
		t.Errorf("%s %q", resp.Status, body)
	}
	d.awaitHandshakes(t, "plain_http", 1)
}

// TestTLSHandshakeFailuresAreCounted counts handshakes that fail by reason, and logs their number.
func TestTLSHandshakeFailuresAreCounted(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	var cfg *config.Config
	d := openTLSDoor(t, back.URL, func(c *config.Config) { cfg = c })
	old := d.client("localhost")
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	alpn := d.client("localhost")
	alpn.NextProtos = []string{"spdy/3"}
	for _, c := range []*tls.Config{old, alpn, {ServerName: "localhost"}} {
		if err := tls.Client(dial(t, d.secure).TCPConn, c).Handshake(); err == nil {
			t.Error("a handshake has succeeded")
		}
	}
	garbage := dial(t, d.secure)
	garbage.send("\x16\x03\x01\x00\x05hello")
	gone := dial(t, d.secure)
	gone.send("\x16\x03\x01\x02")
	gone.Close()
	for result, n := range map[string]float64{"protocol": 3, "rejected": 1, "closed": 1} {
		d.awaitHandshakes(t, result, n)
	}
	short := *cfg
	short.Limits.HeaderTimeout = time.Second // after those that need longer on a busy machine
	if _, err := d.Reload(&short); err != nil {
		t.Fatal(err)
	}
	silent, slow := dial(t, d.secure), dial(t, d.secure)
	slow.send("\x16\x03\x01\x02\x00")
	for _, c := range []*rawConn{silent, slow, garbage} {
		response, err := io.ReadAll(c.r)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) || bytes.Contains(response, []byte("HTTP")) {
			t.Errorf("the response is %q, %v", response, err)
		}
	}
	d.awaitHandshakes(t, "timeout", 2)
	d.log.find(t, func(e event) bool { return e.Event == "tls handshakes failed" && e.Data["result"] == "protocol" })
	if resp, _ := d.ask(t, d.client("localhost"), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); resp.StatusCode != 200 {
		t.Errorf("afterwards: %s", resp.Status)
	}
}

// TestSlowTLSHandshakeSucceeds sends a handshake and a request one byte at a time.
func TestSlowTLSHandshakeSucceeds(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL, limited(func(l *config.Limits) { l.HeaderTimeout = testTimeout }))
	conn := tls.Client(&byteConn{dial(t, d.secure).TCPConn}, d.client("localhost"))
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if response, err := io.ReadAll(conn); err != nil || !bytes.HasSuffix(response, []byte("hello")) {
		t.Errorf("the response is %q, %v", response, err)
	}
}

// A byteConn writes bytes one by one.
type byteConn struct{ net.Conn }

func (c *byteConn) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := c.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
		time.Sleep(10 * time.Microsecond)
	}
	return len(p), nil
}

// TestTLSTruncationForwardsNoCutBody cuts connections without close_notify. A response with a length, and one
// that ends with the connection, end with it. A request whose body is cut is not forwarded as
// a complete one.
func TestTLSTruncationForwardsNoCutBody(t *testing.T) {
	t.Parallel()
	cut := make(chan error, 10)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if r.Method == "POST" {
			cut <- err
		}
		w.(http.Flusher).Flush()
		io.WriteString(w, strings.Repeat("x", 1<<20))
	})
	d := openTLSDoor(t, back.URL)
	conn, _ := d.dialTLS(t, d.client("localhost"))
	io.WriteString(conn, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
	response, err := io.ReadAll(conn) // fails with io.ErrUnexpectedEOF without close_notify
	if _, body, _ := bytes.Cut(response, []byte("\r\n\r\n")); len(body) != 1<<20 || err != nil {
		t.Errorf("a response of %d bytes that ends with the connection: %v", len(body), err)
	}
	for _, size := range []int{1000, 1 << 20} {
		conn, raw := d.dialTLS(t, d.client("localhost"))
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size,
			strings.Repeat("x", size/2))
		raw.CloseWrite()
		if size == 1<<20 { // a shorter body is complete before it is forwarded
			if err := <-cut; err == nil {
				t.Error("a request whose body was cut has reached the upstream")
			}
		}
	}
}

// TestTLSDisconnectIsNoticed notices that clients of slow requests disconnect: with close_notify,
// without, and with a reset.
func TestTLSDisconnectIsNoticed(t *testing.T) {
	t.Parallel()
	began, gone := make(chan string, 10), make(chan string, 10)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		began <- r.URL.Path
		<-r.Context().Done()
		gone <- r.URL.Path
	})
	d := openTLSDoor(t, back.URL)
	for path, leave := range map[string]func(*tls.Conn, *rawConn){
		"/close": func(c *tls.Conn, raw *rawConn) { c.Close() },
		"/fin":   func(c *tls.Conn, raw *rawConn) { raw.Close() },
		"/reset": func(c *tls.Conn, raw *rawConn) { raw.SetLinger(0); raw.Close() },
	} {
		conn, raw := d.dialTLS(t, d.client("localhost"))
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
		<-began
		time.Sleep(50 * time.Millisecond) // the connection is watched
		leave(conn, raw)
		select {
		case <-gone:
		case <-time.After(testTimeout):
			t.Fatalf("%s is not noticed", path)
		}
		if e := d.completed(t, path); e.HTTP.StatusCode != 499 {
			t.Errorf("%s: status %d, want 499", path, e.HTTP.StatusCode)
		}
	}
}

// TestTLSUpgradePassesData sends data in both directions after an upgrade.
func TestTLSUpgradePassesData(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		c.request()
		c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		io.Copy(c, c.r)
	})
	d := openTLSDoor(t, "http://"+back, func(c *config.Config) { c.Routes[0].Upgrade = []string{"websocket"} })
	conn, raw := d.dialTLS(t, d.client("localhost"))
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly")
	if resp, err := http.ReadResponse(raw.r, nil); err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	sent := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() {
		conn.Write(sent)
		conn.CloseWrite()
	}()
	got, err := io.ReadAll(raw.r)
	if want := append([]byte("early"), sent...); !bytes.Equal(got, want) || err != nil {
		t.Errorf("got %d bytes, %v; want %d", len(got), err, len(want))
	}
}

// TestReloadChangesTLSListeners adds, changes and removes TLS listeners.
func TestReloadChangesTLSListeners(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL, func(c *config.Config) {
		c.TLS.Listen = []string{peer.FreeAddress(t)} // keeps its listener without TLS
	})
	get := "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	if resp, _ := d.ask(t, d.client("localhost"), get); resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
	plain := *d.config
	plain.Listen, plain.TLS = append(plain.Listen, plain.TLS.Listen...), nil
	if _, err := d.Reload(&plain); err != nil {
		t.Fatal(err)
	}
	if resp, _ := ask(t, d.secure, get); resp.StatusCode != 200 {
		t.Errorf("plain HTTP to the listener that was one of TLS: %s", resp.Status)
	}
	if _, err := d.Reload(d.config); err != nil {
		t.Fatal(err)
	}
	if resp, _ := d.ask(t, d.client("localhost"), get); resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
	conn, raw := d.dialTLS(t, d.client("localhost"))
	without := *d.config
	without.TLS = nil
	if _, err := d.Reload(&without); err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, get)
	if resp, _ := raw.response("GET"); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("a connection of a listener that was removed: %s, closing %v", resp.Status, resp.Close)
	}
}

// TestRejectedTLSConnectionGetsNoText closes connections beyond the limit without a response in plain
// text.
func TestRejectedTLSConnectionGetsNoText(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openTLSDoor(t, back.URL, limited(func(l *config.Limits) { l.ConnectionsPerClient = 1 }))
	d.dialTLS(t, d.client("localhost"))
	second := dial(t, d.secure)
	if response, err := io.ReadAll(second.r); len(response) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the response is %q, %v", response, err)
	}
}

// TestTLSDrainFinishesTheRequest ends idle connections with close_notify, and the others after their request.
func TestTLSDrainFinishesTheRequest(t *testing.T) {
	t.Parallel()
	arrived, answer := newGate(t), newGate(t)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		arrived.open()
		answer.await(t)
		io.WriteString(w, "hello")
	})
	d := openTLSDoor(t, back.URL)
	idle, _ := d.dialTLS(t, d.client("localhost"))
	conn, raw := d.dialTLS(t, d.client("localhost"))
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	arrived.await(t)
	d.drain()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection: %v, want EOF", err)
	}
	answer.open()
	if resp, body := raw.response("GET"); resp.StatusCode != 200 || body != "hello" {
		t.Errorf("the request in flight: %s %q", resp.Status, body)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// TestHandshakeDuringDrainIsServed drains while the handshake of a slow client is in progress. Its
// first request, which follows the handshake, is served.
func TestHandshakeDuringDrainIsServed(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			back := upstream(t, hello)
			d := openTLSDoor(t, back.URL)
			begun := newGate(t)
			client := http.Client{Transport: &http.Transport{
				ForceAttemptHTTP2: protocol == "h2",
				DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
					raw, err := net.Dial("tcp", d.secure)
					if err != nil {
						return nil, err
					}
					c := d.client("localhost")
					c.NextProtos = []string{protocol}
					conn := tls.Client(&pausingConn{Conn: raw, begun: begun}, c)
					return conn, conn.Handshake()
				},
			}}
			defer client.CloseIdleConnections()
			status := make(chan string, 1)
			go func() {
				resp, err := client.Get("https://localhost/")
				if err != nil {
					status <- err.Error()
					return
				}
				resp.Body.Close()
				status <- resp.Proto + " " + resp.Status
			}()
			begun.await(t)
			d.drain()
			if got := <-status; !strings.HasSuffix(got, " 200 OK") {
				t.Errorf("the request after the handshake: %s", got)
			}
			if err := d.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A pausingConn opens a gate after its first write, and makes the second one late.
type pausingConn struct {
	net.Conn
	begun  *gate
	writes int
}

func (c *pausingConn) Write(p []byte) (n int, err error) {
	if c.writes++; c.writes == 2 {
		time.Sleep(400 * time.Millisecond)
	}
	n, err = c.Conn.Write(p)
	if c.writes == 1 {
		c.begun.open()
	}
	return n, err
}
