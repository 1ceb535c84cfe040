package http3

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testTimeout = 30 * time.Second

// A testServer is a server on a free port of the loopback interface.
type testServer struct {
	*Server
	addr     netip.AddrPort
	admitted atomic.Int64 // connections that are open
	refuse   atomic.Bool
	results  chan error // of handshakes; nil after a successful one
	limits   atomic.Pointer[Limits]

	mu      sync.Mutex
	reasons []Reason // guarded by mu: of failures of connections
}

// A testOwner serves requests with a handler of net/http.
type testOwner struct {
	server  *testServer
	handler http.HandlerFunc
}

type canceller context.CancelFunc

func (c canceller) Cancel() { c() }

// A bodyReader reads the body of a stream.
type bodyReader struct {
	s *Stream
	p []byte
}

func (b *bodyReader) Space() []byte { return b.p }
func (b *bodyReader) GiveBack()     {}

func (b *bodyReader) Read(p []byte) (int, error) {
	b.p = p
	return b.s.ReadInto(b)
}

func (o *testOwner) Serve(s *Stream) {
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.Bind(canceller(cancel))
	r := httptest.NewRequestWithContext(ctx, s.Request.Method, s.Request.Path, &bodyReader{s: s})
	r.ContentLength = s.Request.Length
	w := httptest.NewRecorder()
	o.handler(w, r)
	h := s.NewHead()
	h.Status(w.Code)
	for name, values := range w.Header() {
		h.Add(name, values[0])
	}
	if s.SendHead(h, false) == nil {
		s.Write(w.Body.Bytes(), true)
	}
}

func (o *testOwner) Failed(e *Error, _ netip.Addr, connection bool) {
	if connection {
		o.server.mu.Lock()
		defer o.server.mu.Unlock()
		o.server.reasons = append(o.server.reasons, e.Reason)
	}
}

// newCertificate returns a certificate for "localhost", and the roots that a client needs.
var newCertificate = sync.OnceValues(func() (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
})

// open starts a server on an address with the given limits.
func open(t *testing.T, addr netip.AddrPort, limits Limits, h http.HandlerFunc) *testServer {
	t.Helper()
	socket, err := Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	certificate, _ := newCertificate()
	s := &testServer{results: make(chan error, 10_000), addr: socket.LocalAddr().(*net.UDPAddr).AddrPort()}
	s.limits.Store(&limits)
	s.Server, err = NewServer(socket, Options{
		TLS: func(*tls.ClientHelloInfo) (*tls.Config, func(tls.ConnectionState) Owner) {
			return &tls.Config{Certificates: []tls.Certificate{certificate}}, func(tls.ConnectionState) Owner {
				s.results <- nil
				return &testOwner{s, h}
			}
		},
		Admit: func(netip.Addr) (func(), error) {
			if s.refuse.Load() {
				return nil, errors.New("too many")
			}
			s.admitted.Add(1)
			return func() { s.admitted.Add(-1) }, nil
		},
		Failed: func(err error) { s.results <- err },
		Limits: func() Limits { return *s.limits.Load() },
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		s.Close()
		s.Wait()
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
		testkit.AwaitEqual(t, "the end of all connections", s.admitted.Load, 0)
	})
	return s
}

var (
	loopback = netip.MustParseAddrPort("127.0.0.1:0")
	usual    = Limits{Header: 16 << 10, HeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
)

// client returns a client with connections of its own to the server.
func client(t *testing.T, addr netip.AddrPort) *http.Client {
	t.Helper()
	_, roots := newCertificate()
	tr := &http3.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"},
		Dial: func(ctx context.Context, _ string, tc *tls.Config, qc *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, addr.String(), tc, qc)
		},
	}
	t.Cleanup(func() { tr.Close() })
	return &http.Client{Transport: tr, Timeout: testTimeout}
}

// dial returns a connection of QUIC without HTTP.
func dial(t *testing.T, addr netip.AddrPort) *quic.Conn {
	t.Helper()
	_, roots := newCertificate()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	config := &tls.Config{RootCAs: roots, ServerName: "localhost", NextProtos: []string{"h3"}}
	c, err := quic.DialAddr(ctx, addr.String(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseWithError(0, "") })
	return c
}

// TestHandlerGetsRequestsWithBodies checks the requests that the handler gets: those without a body have no
// length, and methods with a body may send it before its length is known.
func TestHandlerGetsRequestsWithBodies(t *testing.T) {
	s := open(t, loopback, usual, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
		fmt.Fprintf(w, "%s %s", r.Method, body)
	})
	c := client(t, s.addr)
	for _, r := range []struct {
		method string
		body   io.Reader
		length string
	}{
		{"GET", nil, "0"},
		{"DELETE", nil, "0"},
		{"GET", struct{ io.Reader }{strings.NewReader("body")}, "-1"},
		{"POST", strings.NewReader("body"), "4"},
		{"POST", struct{ io.Reader }{strings.NewReader("body")}, "-1"},
	} {
		want := r.method + " "
		if r.body != nil {
			want += "body"
		}
		req, err := http.NewRequest(r.method, "https://localhost/", r.body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != want || resp.Header.Get("X-Length") != r.length {
			t.Errorf("%+v: %q of length %s, %v; want %q of %s", r, got, resp.Header.Get("X-Length"), err, want, r.length)
		}
	}
	if err := <-s.results; err != nil {
		t.Errorf("the handshake: %v", err)
	}
}

// TestLongHeadGets431 sends a head that is longer than the limit. On the same connection, the limit changes.
func TestLongHeadGets431(t *testing.T) {
	s := open(t, loopback, usual, func(w http.ResponseWriter, r *http.Request) {})
	c := client(t, s.addr)
	for _, step := range []struct{ limit, want int }{{16 << 10, 431}, {32 << 10, 200}, {16 << 10, 431}} {
		limits := usual
		limits.Header = step.limit
		s.limits.Store(&limits)
		req, err := http.NewRequest("GET", "https://localhost/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Long", strings.Repeat("x", 17<<10))
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != step.want {
			t.Errorf("with a limit of %d: status %d, want %d", step.limit, resp.StatusCode, step.want)
		}
	}
	if n := len(s.results); n != 1 {
		t.Errorf("%d connections were made, want 1", n)
	}
}

// TestIdleConnectionsEnd checks the ends of connections: without a first request, with a head
// that is not complete, and without another request.
func TestIdleConnectionsEnd(t *testing.T) {
	limits := usual
	limits.HeaderTimeout, limits.IdleTimeout = 3*time.Second, 4*time.Second
	s := open(t, loopback, limits, func(w http.ResponseWriter, r *http.Request) {})
	silent, partial := dial(t, s.addr), dial(t, s.addr)
	stream, err := partial.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Write([]byte{1, 60, 0}); err != nil { // HEADERS of 60 bytes
		t.Fatal(err)
	}
	testkit.Get(t, client(t, s.addr), "https://localhost/")
	for name, c := range map[string]*quic.Conn{"silent": silent, "partial": partial} {
		testkit.Receive(t, "the end of the "+name+" connection", c.Context().Done())
	}
	testkit.AwaitEqual(t, "the end of the idle connection", s.admitted.Load, 0)
}

// TestClientCloseIsNoStreamError closes connections after their requests.
func TestClientCloseIsNoStreamError(t *testing.T) {
	s := open(t, loopback, usual, func(w http.ResponseWriter, r *http.Request) {})
	for range 50 {
		c := client(t, s.addr)
		testkit.Get(t, c, "https://localhost/")
		c.Transport.(*http3.Transport).Close()
	}
	testkit.AwaitEqual(t, "the end of the connections", s.admitted.Load, 0)
	s.Server.Close()
	s.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reasons) > 0 {
		t.Errorf("connections have failed: %v", s.reasons)
	}
}

// TestDrainFinishesRequestInFlight ends a server during a request. The client gets the response, and its next
// request needs another connection. Connections without requests end soon.
func TestDrainFinishesRequestInFlight(t *testing.T) {
	arrived, release := make(chan bool), make(chan bool)
	s := open(t, loopback, usual, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- true
			<-release
		}
		io.WriteString(w, "done")
	})
	idle := client(t, s.addr)
	testkit.Get(t, idle, "https://localhost/")
	busy := client(t, s.addr)
	body := make(chan string)
	go func() {
		_, b := testkit.Get(t, busy, "https://localhost/slow")
		body <- b
	}()
	<-arrived
	s.Drain()
	testkit.AwaitEqual(t, "the end of the idle connection", s.admitted.Load, 1)
	close(release)
	if got := <-body; got != "done" {
		t.Errorf("the response is %q", got)
	}
	<-s.Ended()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if c, err := quic.DialAddr(ctx, s.addr.String(), &tls.Config{NextProtos: []string{"h3"}}, nil); err == nil {
		c.CloseWithError(0, "")
		t.Error("a new connection is accepted")
	}
}

// TestRequestAfterGoawayIsRejected sends a request after the GOAWAY, as a client does that has not evaluated it yet. The
// request is rejected, and the connection stays open for the time in which more of them may arrive.
func TestRequestAfterGoawayIsRejected(t *testing.T) {
	const tries = 10 // on a busy machine the client may see the end of the connection before it sees the rejection
	for i := 1; ; i++ {
		lasted, err := sendLate(t)
		if lasted < time.Second {
			t.Fatalf("the connection was open for %v after the GOAWAY, want a second or more", lasted)
		}
		var reset *quic.StreamError
		if errors.As(err, &reset) && reset.ErrorCode == quic.StreamErrorCode(http3.ErrCodeRequestRejected) {
			return
		}
		if i == tries {
			t.Fatalf("%v, want %v", err, http3.ErrCodeRequestRejected)
		}
	}
}

// sendLate returns how long a connection was open after its GOAWAY, and the error of a request that was sent then.
func sendLate(t *testing.T) (lasted time.Duration, rejection error) {
	t.Helper()
	s := open(t, loopback, usual, func(http.ResponseWriter, *http.Request) { t.Error("the request is served") })
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	_, roots := newCertificate()
	tlsConfig := &tls.Config{RootCAs: roots, ServerName: "localhost", NextProtos: []string{"h3"}}
	c, err := quic.DialAddr(ctx, s.addr.String(), tlsConfig, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseWithError(0, "")
	control, err := c.AcceptUniStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.Read(make([]byte, 1)); err != nil { // the server knows the connection
		t.Fatal(err)
	}
	drained := time.Now()
	s.Drain()
	// Without the GOAWAY the server would serve the request, and its head is malformed.
	goAway := []byte{goAwayFrame, 1, 0}
	for b := make([]byte, 0, 1024); !bytes.HasSuffix(b, goAway); {
		n, err := control.Read(b[len(b):cap(b)])
		if err != nil {
			t.Fatal(err)
		}
		b = b[:len(b)+n]
	}
	stream, err := c.OpenStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	stream.Write([]byte{headersFrame, 0})
	_, rejection = stream.Read(make([]byte, 1))
	select {
	case <-s.Ended():
	case <-ctx.Done():
		t.Fatal("the server does not end the connection")
	}
	return time.Since(drained), rejection
}

func TestConnectionIsRefusedBeforeHandshake(t *testing.T) {
	s := open(t, loopback, usual, func(w http.ResponseWriter, r *http.Request) {})
	s.refuse.Store(true)
	_, err := client(t, s.addr).Get("https://localhost/")
	var refused *quic.TransportError
	if !errors.As(err, &refused) || refused.ErrorCode != quic.ConnectionRefused {
		t.Errorf("%v, want that the connection is refused", err)
	}
	testkit.AwaitEqual(t, "the end of the handshake", s.shaking.Load, 0)
}

// TestHandOverKeepsConnections gives the address of a server to another one during a request. Packets of the
// first connections still reach the first server, and new connections the second one.
func TestHandOverKeepsConnections(t *testing.T) {
	handler := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "%s %d", name, len(body))
		}
	}
	first := open(t, loopback, usual, handler("first"))
	var old []*http.Client
	for range 20 {
		c := client(t, first.addr)
		testkit.Get(t, c, "https://localhost/")
		old = append(old, c)
	}
	if err := first.socket.HandOver(); err != nil {
		t.Fatal(err)
	}
	check := func(name string, c *http.Client) {
		t.Helper()
		resp, err := c.Post("https://localhost/", "", bytes.NewReader(make([]byte, 300_000)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if want := name + " 300000"; string(body) != want || err != nil {
			t.Errorf("%q, %v; want %q", body, err, want)
		}
	}
	check("first", client(t, first.addr)) // there is no second one yet
	second := open(t, first.addr, usual, handler("second"))
	for range 20 {
		check("second", client(t, first.addr))
	}
	for _, c := range old {
		check("first", c)
	}
	if err := second.socket.HandOver(); !errors.Is(err, ErrShared) {
		t.Errorf("a second hand-over: %v, want ErrShared", err)
	}
	first.Drain()
	<-first.Ended()
	first.Close()
	check("second", client(t, first.addr))
	if err := second.socket.HandOver(); err != nil {
		t.Fatal(err)
	}
	open(t, first.addr, usual, handler("third"))
	check("third", client(t, first.addr))
}

// TestFloodOfInitialsKeepsNoMemory sends the first packets of many connections, from one socket, and never
// more. Another client is served, and no memory is kept for most of them: they would have to
// prove their address.
func TestFloodOfInitialsKeepsNoMemory(t *testing.T) {
	limits := usual
	limits.HeaderTimeout = 2 * time.Second
	s := open(t, loopback, limits, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	nc, err := net.Dial("udp", s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, packet := range firstPackets(t, 3*Unverified) {
		nc.Write(packet)
	}
	testkit.Await(t, "the handshakes", func() bool { return s.admitted.Load() >= Unverified/2 })
	if n := s.admitted.Load(); n > Unverified+1 {
		t.Errorf("%d connections were admitted without a proof of their address", n)
	}
	if _, body := testkit.Get(t, client(t, s.addr), "https://localhost/"); body != "hello" {
		t.Errorf("another client gets %q", body)
	}
	testkit.AwaitEqual(t, "the end of the handshakes", s.shaking.Load, 0)
}

// firstPackets returns the first packets of n connections.
func firstPackets(t *testing.T, n int) [][]byte {
	t.Helper()
	sink, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(loopback))
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var dialing sync.WaitGroup
	defer dialing.Wait()
	defer cancel()
	packets := make(map[netip.AddrPort][]byte)
	buf := make([]byte, 1500)
	for len(packets) < n {
		dialing.Go(func() {
			config := &tls.Config{ServerName: "localhost", NextProtos: []string{"h3"}}
			quic.DialAddr(ctx, sink.LocalAddr().String(), config, nil)
		})
		sink.SetReadDeadline(time.Now().Add(testTimeout))
		length, from, err := sink.ReadFromUDPAddrPort(buf)
		if err != nil {
			t.Fatal(err)
		}
		if packets[from] == nil {
			packets[from] = bytes.Clone(buf[:length])
		}
	}
	return slices.Collect(maps.Values(packets))
}

// TestGarbageHarmsNoOtherClient sends packets that are not those of QUIC, or have another version.
func TestGarbageHarmsNoOtherClient(t *testing.T) {
	s := open(t, loopback, usual, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	nc, err := net.Dial("udp", s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for n := range 1500 {
		b := make([]byte, n)
		rand.Read(b)
		nc.Write(b)
		if n > 0 {
			b[0] |= 0xc0 // a long header, usually of an unknown version
			nc.Write(b)
		}
	}
	unknown := make([]byte, 1200)
	copy(unknown, []byte{0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 1, 2, 3, 4})
	buf := make([]byte, 1500)
	testkit.Await(t, "the negotiation of the version", func() bool {
		nc.Write(unknown)
		nc.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		n, err := nc.Read(buf)
		return err == nil && n > 7 && bytes.Equal(buf[1:5], make([]byte, 4))
	})
	if _, body := testkit.Get(t, client(t, s.addr), "https://localhost/"); body != "hello" {
		t.Errorf("another client gets %q", body)
	}
}
