package front_test

import (
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
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// openHTTP3Door starts a front door with HTTP/3.
func openHTTP3Door(t testing.TB, upstream string, adjust ...func(*config.Config)) *tlsDoor {
	t.Helper()
	return openTLSDoor(t, upstream, append([]func(*config.Config){func(c *config.Config) { c.TLS.HTTP3 = true }},
		adjust...)...)
}

// http3Client returns a client with connections of its own.
func (d *tlsDoor) http3Client(t testing.TB) *http.Client {
	t.Helper()
	return http3Client(t, d.client("localhost"), d.secure)
}

func http3Client(t testing.TB, c *tls.Config, addr string) *http.Client {
	t.Helper()
	tr := &http3.Transport{
		TLSClientConfig: c,
		Dial: func(ctx context.Context, _ string, tc *tls.Config, qc *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, addr, tc, qc)
		},
	}
	t.Cleanup(func() { tr.Close() })
	return &http.Client{Transport: tr, Timeout: testTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// TestHTTP3RequestsReachTheUpstream sends requests of all kinds. The upstream gets the scheme, the client, the bodies
// and the trailers, and the client those of the response.
func TestHTTP3RequestsReachTheUpstream(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Trailer", "X-After")
		w.Header().Set("X-Seen", fmt.Sprint(r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Proto"], r.TransferEncoding,
			r.Trailer["X-Sent"]))
		w.WriteHeader(200)
		fmt.Fprintf(w, "%s %d", r.Method, len(body))
		w.Header().Set("X-After", "end")
	})
	d := openHTTP3Door(t, back.URL)
	c := d.http3Client(t)
	for i, r := range []struct {
		method string
		body   io.Reader
		seen   string
		want   string
	}{
		{"GET", nil, "[127.0.0.1] [https] [] []", "GET 0"},
		{"DELETE", nil, "[127.0.0.1] [https] [] []", "DELETE 0"},
		{"HEAD", nil, "[127.0.0.1] [https] [] []", ""},
		{"POST", strings.NewReader("body"), "[127.0.0.1] [https] [] []", "POST 4"},
		{"PUT", bytes.NewReader(make([]byte, 3<<20)), "[127.0.0.1] [https] [] []", "PUT 3145728"},
		{"POST", io.MultiReader(strings.NewReader("body")), "[127.0.0.1] [https] [chunked] [sent]", "POST 4"},
	} {
		path := fmt.Sprint("/", i)
		req, err := http.NewRequest(r.method, "https://localhost"+path, r.body)
		if err != nil {
			t.Fatal(err)
		}
		if req.ContentLength < 0 || r.body != nil && req.ContentLength == 0 {
			req.Trailer = http.Header{"X-Sent": {"sent"}}
		}
		resp, got := do(t, c, req)
		if got != r.want || resp.StatusCode != 200 || resp.Header.Get("X-Seen") != r.seen || resp.ProtoMajor != 3 {
			t.Errorf("%s: %s %q, the upstream has seen %s; want %q, %s", r.method, resp.Status, got,
				resp.Header.Get("X-Seen"), r.want, r.seen)
		}
		if length := resp.Header.Get("Content-Length"); r.method == "HEAD" && length != "" {
			t.Errorf("the response to HEAD has Content-Length %s", length)
		}
		if r.method != "HEAD" && resp.Trailer.Get("X-After") != "end" {
			t.Errorf("%s: the trailers are %v", r.method, resp.Trailer)
		}
		e := d.completed(t, path)
		if e.HTTP.Protocol != "HTTP/3.0" || e.HTTP.Scheme != "https" || e.HTTP.Client != "127.0.0.1" {
			t.Errorf("the event is %s", e.raw)
		}
	}
	if n := d.metric(t, `weir_tls_connections_total{protocol="h3",version="1.3"}`); n != 1 {
		t.Errorf("%v connections are counted, want 1", n)
	}
	if n := d.handshakes(t, "ok"); n != 1 {
		t.Errorf("%v handshakes are counted, want 1", n)
	}
}

// TestAltSvcIsSentOverTLSOnly checks the field by which clients find HTTP/3: over TLS, and not on plain
// listeners. A field of the upstream is replaced. A reload adds and removes it.
func TestAltSvcIsSentOverTLSOnly(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Alt-Svc", `h3=":1"`) })
	d := openHTTP3Door(t, back.URL)
	const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	_, port, _ := net.SplitHostPort(d.secure)
	want := `h3=":` + port + `"; ma=86400`
	secure := func() string {
		resp, _ := d.ask(t, d.client("localhost"), request)
		return strings.Join(resp.Header["Alt-Svc"], "|")
	}
	if got := secure(); got != want {
		t.Errorf("Alt-Svc is %q, want %q", got, want)
	}
	h2 := &http.Transport{TLSClientConfig: d.client("localhost"), ForceAttemptHTTP2: true}
	defer h2.CloseIdleConnections()
	resp, _ := get(t, &http.Client{Transport: h2}, "https://localhost:"+port)
	if got := resp.Header["Alt-Svc"]; !slices.Equal(got, []string{want}) || resp.ProtoMajor != 2 {
		t.Errorf("over %s, Alt-Svc is %q", resp.Proto, got)
	}
	if resp, _ := ask(t, d.addr, request); resp.Header.Get("Alt-Svc") != `h3=":1"` {
		t.Errorf("Alt-Svc of the plain listener is %q", resp.Header["Alt-Svc"])
	}
	for _, on := range []bool{false, true} {
		cfg := *d.config
		with := *cfg.TLS
		with.HTTP3 = on
		cfg.TLS = &with
		if _, err := d.Reload(&cfg); err != nil {
			t.Fatal(err)
		}
		if got := secure(); got == want != on {
			t.Errorf("with http3: %v, Alt-Svc is %q", on, got)
		}
		wait := time.Second
		if on {
			wait = testTimeout
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		c := d.client("localhost")
		c.NextProtos = []string{"h3"}
		conn, err := quic.DialAddr(ctx, d.secure, c, nil)
		if cancel(); err == nil {
			conn.CloseWithError(0, "")
		}
		if err == nil != on {
			t.Errorf("with http3: %v, a connection: %v", on, err)
		}
	}
}

// TestReloadTurnsHTTP3OffAndOn switches HTTP/3 off and on again by reloads during a request. The request is completed,
// and new connections meanwhile reach the new listener.
func TestReloadTurnsHTTP3OffAndOn(t *testing.T) {
	t.Parallel()
	arrived, g := make(chan bool), newGate(t)
	d := openHTTP3Door(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- true
			g.await(t)
		}
		io.WriteString(w, "hello")
	}).URL)
	slow := make(chan string)
	go func() {
		_, body := get(t, d.http3Client(t), "https://localhost/slow")
		slow <- body
	}()
	<-arrived
	for _, on := range []bool{false, true} {
		cfg := *d.config
		with := *cfg.TLS
		with.HTTP3 = on
		cfg.TLS = &with
		if _, err := d.Reload(&cfg); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		get(t, d.http3Client(t), "https://localhost/")
	}
	g.open()
	if got := <-slow; got != "hello" {
		t.Errorf("the request that had begun got %q", got)
	}
}

// TestHTTP3LimitsApply applies the limits of requests and of connections.
func TestHTTP3LimitsApply(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "hello")
	})
	d := openHTTP3Door(t, back.URL, func(c *config.Config) {
		c.Limits.ConnectionsPerClient = 2
		small := config.DefaultRoute("/small", "site")
		small.Limits.Body = 10
		rare := config.DefaultRoute("/rare", "site")
		rare.Limits.Rate = config.Rate{Per: config.RatePerClient, Every: time.Hour, Burst: 1}
		inside := config.DefaultRoute("/inside", "site")
		inside.Access = []*access.Config{{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
		c.Routes = append(c.Routes, small, rare, inside)
	})
	c := d.http3Client(t)
	status := func(path string, body io.Reader) int {
		t.Helper()
		req, err := http.NewRequest("POST", "https://localhost"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, _ := do(t, c, req)
		return resp.StatusCode
	}
	got := []int{status("/rare", nil), status("/rare", nil), status("/small", strings.NewReader("12345678901")),
		status("/small", io.MultiReader(strings.NewReader("12345678901"))), status("/inside", nil), status("/a/../b", nil),
		status("//a%2f..%2fb", nil)}
	if want := []int{200, 429, 413, 413, 403, 400, 400}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
	get(t, d.http3Client(t), "https://localhost/")
	if _, err := d.http3Client(t).Get("https://localhost/"); err == nil {
		t.Error("a third connection of a client is served")
	}
	if n := d.metric(t, `weir_limit_refusals_total{limit="connections_per_client",route="all"}`); n == 0 {
		t.Error("no refusal is counted")
	}
	if n := d.inUse(t, "max_connections"); n != 2 {
		t.Errorf("%v connections are counted, want 2", n)
	}
}

// TestHTTP3CutsClientThatDoesNotRead cuts a response that the client does not read.
func TestHTTP3CutsClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	block := make([]byte, 1<<20)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		for range 100 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	d := openHTTP3Door(t, back.URL, limited(func(l *config.Limits) { l.WriteTimeout = quickly }))
	resp, err := d.http3Client(t).Get("https://localhost/big")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	e := d.completed(t, "/big")
	if e.Data["limit"] != "download_rate" || e.Data["cut"] != true {
		t.Errorf("the event is %s", e.raw)
	}
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("the response looks complete after %d bytes", n)
	}
}

// TestHTTP3CutsASlowUpload cuts a body that the client does not send.
func TestHTTP3CutsASlowUpload(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	d := openHTTP3Door(t, back.URL, limited(func(l *config.Limits) { l.ReadTimeout = 500 * time.Millisecond }))
	r, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte("begun"))
	resp, err := d.http3Client(t).Post("https://localhost/slow", "", r)
	if err == nil {
		resp.Body.Close()
	}
	if err != nil || resp.StatusCode != 408 {
		t.Errorf("%v, %v; want 408", resp, err)
	}
}

// TestHTTP3RequestEndsWithItsClient cancels requests, also in the middle of their bodies: by a reset of the
// stream, and by the end of the connection.
func TestHTTP3RequestEndsWithItsClient(t *testing.T) {
	t.Parallel()
	arrived := make(chan bool, 1)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			<-r.Context().Done()
		}
	})
	d := openHTTP3Door(t, back.URL)
	for _, path := range []string{"/stream", "/connection", "/upload/stream", "/upload/connection"} {
		c := d.http3Client(t)
		ctx, cancel := context.WithCancel(t.Context())
		method, body := "GET", io.Reader(nil)
		if strings.HasPrefix(path, "/upload") {
			unfinished, sent := io.Pipe()
			defer sent.Close()
			go sent.Write(make([]byte, 100_000))
			method, body = "POST", unfinished
		}
		req, err := http.NewRequestWithContext(ctx, method, "https://localhost"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := c.Do(req)
			done <- err
		}()
		<-arrived
		if strings.HasSuffix(path, "/stream") {
			cancel()
		} else {
			c.Transport.(*http3.Transport).Close()
		}
		if e := d.completed(t, path); e.HTTP.StatusCode != 499 || e.Data["failure"] != "client_gone" {
			t.Errorf("the event is %s", e.raw)
		}
		if err := <-done; err == nil {
			t.Error("the request succeeds")
		}
		cancel()
	}
}

// TestHTTP3CutResponseLooksIncomplete breaks a response that the upstream does not complete.
func TestHTTP3CutResponseLooksIncomplete(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100000")
		w.Write(make([]byte, 50000))
		panic(http.ErrAbortHandler)
	})
	d := openHTTP3Door(t, back.URL)
	// The reset of a stream may overtake its data, and even the head of the response.
	if resp, err := d.http3Client(t).Get("https://localhost/cut"); err == nil {
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Errorf("the response looks complete after %d bytes", n)
		}
	}
	if e := d.completed(t, "/cut"); e.Data["cut"] != true {
		t.Errorf("the event is %s", e.raw)
	}
}

// TestHTTP3DrainFinishesTheRequest drains a front door during a request. The client gets the response.
func TestHTTP3DrainFinishesTheRequest(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan bool), make(chan bool)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- true
			<-release
		}
		io.WriteString(w, "done")
	})
	d := openHTTP3Door(t, back.URL)
	idle, busy := d.http3Client(t), d.http3Client(t)
	get(t, idle, "https://localhost/")
	body := make(chan string)
	go func() {
		_, b := get(t, busy, "https://localhost/slow")
		body <- b
	}()
	<-arrived
	closed := make(chan error)
	go func() { closed <- d.close() }()
	time.Sleep(200 * time.Millisecond) // for the GOAWAY
	close(release)
	if got := <-body; got != "done" {
		t.Errorf("the response is %q", got)
	}
	if err := <-closed; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// TestHTTP3DrainCutsAfterItsTimeout ends the requests that are in flight after drain.timeout.
func TestHTTP3DrainCutsAfterItsTimeout(t *testing.T) {
	t.Parallel()
	arrived := make(chan bool)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-r.Context().Done()
	})
	d := openHTTP3Door(t, back.URL, func(c *config.Config) { c.Drain.Timeout = 300 * time.Millisecond })
	failed := make(chan error)
	c := d.http3Client(t)
	go func() {
		_, err := c.Get("https://localhost/slow")
		failed <- err
	}()
	<-arrived
	if err := d.close(); err == nil || !strings.Contains(err.Error(), "1 request was cut") {
		t.Errorf("Serve: %v", err)
	}
	if err := <-failed; err == nil {
		t.Error("the request succeeds")
	}
	if e := d.completed(t, "/slow"); e.Data["failure"] != "drained" {
		t.Errorf("the event is %s", e.raw)
	}
}

// A lossyLink passes packets between clients and a server on, except for some of them.
type lossyLink struct {
	addr string
	cut  atomic.Bool // it passes nothing on
}

// openLossyLink returns a link to a server. It drops one of n packets.
func openLossyLink(t *testing.T, server string, n int64) *lossyLink {
	t.Helper()
	l := new(lossyLink)
	near, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.addr = near.LocalAddr().String()
	far, err := net.Dial("udp", server)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	var client atomic.Pointer[net.Addr]
	var passed atomic.Int64
	drops := func() bool { return l.cut.Load() || passed.Add(1)%n == 0 }
	running.Go(func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := near.ReadFrom(buf)
			if err != nil {
				return
			}
			client.Store(&from)
			if !drops() {
				far.Write(buf[:n])
			}
		}
	})
	running.Go(func() {
		buf := make([]byte, 2000)
		for {
			n, err := far.Read(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if to := client.Load(); err == nil && to != nil && !drops() {
				near.WriteTo(buf[:n], *to)
			}
		}
	})
	return l
}

// TestHTTP3BodiesSurvivePacketLoss sends bodies in both directions over a link that drops one of 20 packets.
func TestHTTP3BodiesSurvivePacketLoss(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
	})
	d := openHTTP3Door(t, back.URL)
	c := http3Client(t, d.client("localhost"), openLossyLink(t, d.secure, 20).addr)
	body := bytes.Repeat([]byte("0123456789"), 30_000)
	for i := range 5 {
		resp, err := c.Post("https://localhost/", "", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("request %d: %d bytes, %v; want the body that was sent", i, len(got), err)
		}
	}
}

// TestHTTP3VanishedClientEndsTheRequest cuts the link to a client during a request. The request ends after
// half a minute without a packet.
func TestHTTP3VanishedClientEndsTheRequest(t *testing.T) {
	t.Parallel()
	if os.Getenv("WEIR_LONG") == "" {
		t.Skip("waits for half a minute: set WEIR_LONG=1")
	}
	arrived := make(chan bool)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-r.Context().Done()
	})
	d := openHTTP3Door(t, back.URL)
	link := openLossyLink(t, d.secure, 1<<60)
	c := http3Client(t, d.client("localhost"), link.addr)
	go c.Get("https://localhost/gone")
	<-arrived
	link.cut.Store(true)
	if e := d.completed(t, "/gone"); e.HTTP.StatusCode != 499 {
		t.Errorf("the event is %s", e.raw)
	}
	testkit.AwaitEqual(t, "the end of the connection", func() float64 { return d.inUse(t, "max_connections") }, 0)
}

// TestHTTP3ChecksClientCertificates applies the rules for certificates of clients by host.
func TestHTTP3ChecksClientCertificates(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("X-Subject")) })
	staff := certtest.Root(t, "staff")
	d := openHTTP3Door(t, back.URL, func(c *config.Config) {
		c.TLS.SubjectHeader = "X-Subject"
		c.TLS.ClientCertificates = []secure.ClientCertificates{
			{Hosts: []string{"admin.example"}, Roots: []*x509.Certificate{staff.Cert}},
		}
	})
	ann := staff.Issue(t, certtest.Options{Name: "ann", Client: true}).TLS()
	for _, c := range []struct {
		sni, host string
		cert      *tls.Certificate
		status    int // 0 if the handshake fails
		subject   string
	}{
		{"admin.example", "admin.example", ann, 200, "CN=ann"},
		{"admin.example", "admin.example", nil, 0, ""},
		{"shop.example", "admin.example", nil, 421, ""},
		{"shop.example", "shop.example", nil, 200, ""},
	} {
		conf := d.client(c.sni)
		if c.cert != nil {
			conf.Certificates = []tls.Certificate{*c.cert}
		}
		if c.status == 0 { // a client of HTTP/3 might try again
			conf.NextProtos = []string{"h3"}
			conn, err := quic.DialAddr(t.Context(), d.secure, conf, nil)
			if err == nil {
				<-conn.Context().Done() // the server sees the certificates last
				err = context.Cause(conn.Context())
			}
			var refused *quic.TransportError
			if !errors.As(err, &refused) {
				t.Errorf("%s without a certificate: %v", c.sni, err)
			}
			continue
		}
		req, err := http.NewRequest("GET", "https://"+c.host, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Subject", "CN=root")
		status, body := 0, ""
		if resp, err := http3Client(t, conf, d.secure).Do(req); err == nil {
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			status, body = resp.StatusCode, string(b)
		}
		if status != c.status || status == 200 && body != c.subject {
			t.Errorf("%s, %s, %v: status %d, subject %q; want %d, %q", c.sni, c.host, c.cert != nil, status, body, c.status,
				c.subject)
		}
	}
	d.awaitHandshakes(t, "client_certificate", 1)
}
