package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// testCertificate is a certificate for localhost, made once.
var testCertificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IsCA: true,
		BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func serverConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{testCertificate()}, DynamicRecordSizingDisabled: true}
}

func clientConfig() *tls.Config {
	roots := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(testCertificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	roots.AddCert(leaf)
	return &tls.Config{RootCAs: roots, ServerName: "localhost", DynamicRecordSizingDisabled: true}
}

// A tlsPeer is the client of a TLSConn.
type tlsPeer struct {
	*tls.Conn
	tcp    *net.TCPConn
	linger int
}

func (p *tlsPeer) SetLinger(seconds int) error {
	p.linger = seconds
	return p.tcp.SetLinger(seconds)
}

// Close closes the connection, without close_notify if it is to be reset.
func (p *tlsPeer) Close() error {
	if p.linger == 0 {
		return p.tcp.Close()
	}
	return p.Conn.Close()
}

// handshake returns both ends of a connection with TLS over c and nc.
func (e *engine) handshake(t testing.TB, c Carrier, nc *net.TCPConn) (Conn, peer) {
	t.Helper()
	p := &tlsPeer{Conn: tls.Client(nc, clientConfig()), tcp: nc, linger: -1}
	failed := make(chan error, 1)
	go func() { failed <- p.Handshake() }()
	server := NewTLSServer(c, nil, serverConfig())
	e.do(func() {
		if err := server.Handshake(e.driver.Block); err != nil {
			t.Error(err)
		}
	})
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return server, p
}

// TestTruncatedTLSIsAnError checks that the end of the stream is an error without close_notify, in a
// record or between two.
func TestTruncatedTLSIsAnError(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		if !e.tls {
			return
		}
		for _, part := range []string{"", "\x17", "\x17\x03\x03\x00\x20part"} {
			c, p := e.pair(t)
			p.Write([]byte("first"))
			tcp := p.(*tlsPeer).tcp
			tcp.Write([]byte(part))
			tcp.CloseWrite()
			e.do(func() {
				b := make([]byte, 10)
				if n, err := c.Read(b); string(b[:n]) != "first" || err != nil {
					t.Errorf("Read = %q, %v", b[:n], err)
				}
				for range 2 {
					if n, err := c.Read(b); n != 0 || err != io.ErrUnexpectedEOF {
						t.Errorf("Read after %q = %d, %v", part, n, err)
					}
				}
			})
		}
	})
}

// TestSessionTicketsAreNoSurplus sends session tickets, which are no surplus bytes, to a connection that is
// not used, and resumes the session.
func TestSessionTicketsAreNoSurplus(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		if !e.tls {
			return
		}
		config := clientConfig()
		config.ClientSessionCache = tls.NewLRUClientSessionCache(10)
		config.NextProtos = []string{"h2", "http/1.1"}
		accept := serverConfig()
		accept.NextProtos = []string{"http/1.1"}
		for _, resumed := range []bool{false, true} {
			local, nc := testkit.Pair(t)
			answered := make(chan error, 1)
			server := tls.Server(nc, accept)
			go func() { answered <- server.Handshake() }()
			c := NewTLSClient(e.adopt(t, local), config)
			e.do(func() {
				if err := c.Handshake(e.driver.Block); err != nil {
					t.Error(err)
				}
			})
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
			state := c.ConnectionState()
			if state.DidResume != resumed || state.NegotiatedProtocol != "http/1.1" {
				t.Errorf("resumed %v with protocol %q", state.DidResume, state.NegotiatedProtocol)
			}
			time.Sleep(2 * time.Millisecond) // the ticket has arrived
			e.do(func() {
				if quiet, surplus := c.Quiet(); !quiet || surplus {
					t.Errorf("Quiet after a ticket = %v, %v", quiet, surplus)
				}
				if n, ok, err := c.TryRead(make([]byte, 1)); ok {
					t.Errorf("TryRead = %d, %v", n, err)
				}
			})
			nc.Write([]byte("\x17\x03\x03\x00\x20part"))
			time.Sleep(2 * time.Millisecond)
			e.do(func() {
				if quiet, surplus := c.Quiet(); quiet || surplus {
					t.Errorf("Quiet after a part of a record = %v, %v", quiet, surplus)
				}
				c.Close()
			})
		}
	})
}

// TestHandshakeErrorsAreReturned checks that the errors of crypto/tls are returned, that the peer
// gets the alert, and that a peer that sends nothing ends the handshake at the deadline.
func TestHandshakeErrorsAreReturned(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		if !e.tls {
			return
		}
		for _, c := range []struct {
			name   string
			peer   func(nc *net.TCPConn)
			server func(error) bool
		}{
			{"plain text", func(nc *net.TCPConn) { nc.Write([]byte("GET / HTTP/1.1\r\n")) }, func(err error) bool {
				header, ok := errors.AsType[tls.RecordHeaderError](err)
				return ok && string(header.RecordHeader[:]) == "GET /"
			}},
			{"unknown root", func(nc *net.TCPConn) {
				var unknown x509.UnknownAuthorityError
				if err := tls.Client(nc, &tls.Config{ServerName: "localhost"}).Handshake(); !errors.As(err, &unknown) {
					t.Errorf("the client's error = %v", err)
				}
			}, func(err error) bool {
				alert, ok := errors.AsType[tls.AlertError](err)
				return err != nil && (!ok || alert != 0)
			}},
			{"old version", func(nc *net.TCPConn) {
				old := clientConfig()
				old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
				if err := tls.Client(nc, old).Handshake(); err == nil || !strings.Contains(err.Error(), "protocol version") {
					t.Errorf("the client's error = %v", err)
				}
			}, func(err error) bool { return err != nil && strings.Contains(err.Error(), "version") }},
			{"end", func(nc *net.TCPConn) { nc.CloseWrite() }, func(err error) bool { return err == io.ErrUnexpectedEOF }},
			{"nothing", func(nc *net.TCPConn) {}, func(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }},
			{"part", func(nc *net.TCPConn) { nc.Write([]byte{22, 3}) }, func(err error) bool {
				return errors.Is(err, os.ErrDeadlineExceeded)
			}},
			{"reset", func(nc *net.TCPConn) { nc.SetLinger(0); nc.Close() }, func(err error) bool {
				return errors.Is(err, syscall.ECONNRESET)
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				accepted, nc := testkit.Pair(t)
				server := NewTLSServer(e.adopt(t, accepted), nil, serverConfig())
				done := make(chan struct{})
				go func() {
					defer close(done)
					c.peer(nc)
				}()
				e.do(func() {
					server.SetDeadline(time.Now().Add(200 * time.Millisecond))
					if err := server.Handshake(e.driver.Block); !c.server(err) {
						t.Errorf("the server's error = %v", err)
					}
					server.Close()
				})
				<-done
			})
		}
	})
}
