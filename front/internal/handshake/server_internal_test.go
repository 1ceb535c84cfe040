package handshake

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/transport"
)

// A testServer is a Server with a certificate for localhost.
type testServer struct {
	*Server
	t    *testing.T
	root *certtest.Pair
}

func newTestServer(t *testing.T, most int) *testServer {
	root := certtest.Root(t, "root")
	cert := root.Issue(t, certtest.Options{}).TLS()
	s := NewServer(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert, nil }, most)
	t.Cleanup(s.Close)
	return &testServer{s, t, root}
}

// handshake does a handshake with a client, and returns the result of the server.
func (s *testServer) handshake(c *tls.Config) (*Client, error) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			s.t.Error(err)
			return
		}
		defer nc.Close()
		conn := tls.Client(nc, c)
		conn.Read(make([]byte, 1)) // also reads the session ticket
	}()
	nc, err := l.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	carrier, err := transport.NewConn(nc.(*net.TCPConn))
	if err != nil {
		s.t.Fatal(err)
	}
	conn, client, err := s.Do(carrier, nil, transport.Goroutines)
	conn.Close()
	<-done
	return client, err
}

func (s *testServer) client() *tls.Config {
	return &tls.Config{RootCAs: s.root.Pool(), ServerName: "localhost", ClientSessionCache: tls.NewLRUClientSessionCache(1)}
}

// TestTicketKeysRotate resumes a session until the key of its ticket is forgotten.
func TestTicketKeysRotate(t *testing.T) {
	s := newTestServer(t, 1)
	for lifetimes, want := range []bool{true, true, true, false} {
		c := s.client()
		if client, err := s.handshake(c); err != nil || client.Resumed {
			t.Fatal(client, err)
		}
		for range lifetimes {
			s.rotate(time.Unix(0, s.rotateAt.Load()))
		}
		client, err := s.handshake(c)
		if err != nil {
			t.Fatal(err)
		}
		if client.Resumed != want {
			t.Errorf("after %d lifetimes of a key: resumed %v, want %v", lifetimes, client.Resumed, want)
		}
	}
	before := s.keys[""][0]
	if s.rotate(time.Now()); s.keys[""][0] != before {
		t.Error("a key is replaced before its lifetime is over")
	}
	if s.Use(Options{MinVersion: tls.VersionTLS13}); s.keys[""][0] != before {
		t.Error("a key is replaced by other options")
	}
}

// TestRulesWithSameClientsShareKeys checks that rules share keys exactly if they accept the same clients.
func TestRulesWithSameClientsShareKeys(t *testing.T) {
	s := newTestServer(t, 1)
	staff := []*x509.Certificate{certtest.Root(t, "staff").Cert}
	s.Use(Options{Rules: []Rule{
		{Hosts: []string{"a"}, Roots: staff}, {Hosts: []string{"b", "*.b"}, Roots: staff},
		{Hosts: []string{"c"}, Roots: staff, Optional: true}, {Roots: []*x509.Certificate{s.root.Cert}},
	}})
	if len(s.keys) != 4 { // of a and b, of c, of the others, and of no rule
		t.Errorf("%d lists of keys, want 4", len(s.keys))
	}
	seen := make(map[[32]byte]bool)
	for _, keys := range s.keys {
		seen[keys[0]] = true
	}
	if len(seen) != len(s.keys) {
		t.Error("two rules have the same key")
	}
}

// TestFullQueueRefusesHandshakes fills the queue for processors.
func TestFullQueueRefusesHandshakes(t *testing.T) {
	s := newTestServer(t, 1)
	s.waiting.Store(maxWaiting)
	if _, err := s.handshake(s.client()); !errors.Is(err, ErrBusy) || ResultOf(nil, err) != Refused {
		t.Errorf("error = %v, want ErrBusy", err)
	}
	s.waiting.Store(maxWaiting - 1)
	if _, err := s.handshake(s.client()); err != nil {
		t.Error(err)
	}
}

// TestFewHandshakesComputeAtATime counts the parts of handshakes that are computed at the same time.
func TestFewHandshakesComputeAtATime(t *testing.T) {
	const most = 2
	s := newTestServer(t, most)
	var now, highest int
	started, end := make(chan int), make(chan struct{})
	for range 10 {
		go s.compute(func() { started <- 1; <-end; started <- -1 })
	}
	for changes := 0; changes < 20; {
		select {
		case n := <-started:
			now += n
			highest = max(highest, now)
			changes++
		case end <- struct{}{}:
		}
	}
	if highest > most {
		t.Errorf("%d parts at a time, want at most %d", highest, most)
	}
}
