package load_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// A badServer is a server whose bytes a test determines.
type badServer struct {
	net.Listener
	url   string
	asked atomic.Int64 // requests whose header was read

	behave  func(*visit)
	serving sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	open  map[net.Conn]bool
	count int
	dead  bool   // new connections are closed
	last  string // the address of the client after which none is admitted
}

// A visit is a connection to a badServer.
type visit struct {
	net.Conn
	server *badServer
	number int // of the connection, from 0
	in     *bufio.Reader
}

func newBadServer(t *testing.T, config *tls.Config, behave func(*visit)) *badServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &badServer{url: "http://" + l.Addr().String(), behave: behave, open: make(map[net.Conn]bool)}
	if config != nil {
		s.url = "https://" + l.Addr().String()
		l = tls.NewListener(l, config)
	}
	s.serve(l)
	t.Cleanup(s.die)
	return s
}

// serve accepts connections of l.
func (s *badServer) serve(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Listener, s.dead = l, false
	s.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v, more := s.admit(c)
			if !more {
				return
			}
			if v != nil {
				s.serving.Go(func() {
					defer s.dismiss(c)
					s.behave(v)
				})
			}
		}
	})
}

// admit registers a connection, unless the server has died since it was accepted. It reports whether more are accepted.
func (s *badServer) admit(c net.Conn) (v *visit, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := c.RemoteAddr().String() == s.last
	if s.dead || last {
		c.Close()
		return nil, !last
	}
	s.open[c] = true
	s.count++
	return &visit{Conn: c, server: s, number: s.count - 1, in: bufio.NewReader(c)}, true
}

func (s *badServer) dismiss(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Close()
	delete(s.open, c)
}

// settle waits until the server has read all that its clients have sent, who have closed their connections.
func (s *badServer) settle(t *testing.T) {
	t.Helper()
	s.mu.Lock()                                  // until the address is known
	c, err := net.Dial("tcp", s.Addr().String()) // is accepted after all others
	if err != nil {
		s.mu.Unlock()
		t.Error(err)
		return
	}
	defer c.Close()
	s.last = c.LocalAddr().String()
	s.mu.Unlock()
	defer time.AfterFunc(waitLimit, s.die).Stop()
	s.serving.Wait()
}

// die closes all connections and waits for their goroutines.
func (s *badServer) die() {
	s.mu.Lock()
	s.dead = true
	s.Listener.Close()
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// ask reads a request without a body, and reports whether there was one.
func (v *visit) ask() bool {
	for {
		line, err := v.in.ReadSlice('\n')
		if err != nil {
			return false
		}
		if len(line) == 2 {
			v.server.asked.Add(1)
			return true
		}
	}
}

func (v *visit) say(text string) { io.WriteString(v, text) }

// listen reads requests without answering, until the client closes.
func (v *visit) listen() {
	for v.ask() {
	}
}

// finish ends the stream without a reset.
func (v *visit) finish() {
	v.Conn.(interface{ CloseWrite() error }).CloseWrite()
	v.listen()
}

// reset closes the connection with a reset.
func (v *visit) reset() {
	c := v.Conn
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// answering sends text for each request.
func answering(text string) func(*visit) {
	return func(v *visit) {
		for v.ask() {
			v.say(text)
		}
	}
}

// once sends text for the first request and ends the stream.
func once(text string) func(*visit) {
	return func(v *visit) {
		if v.ask() {
			v.say(text)
			v.finish()
		}
	}
}

const good = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// A misbehaviour is the behaviour of a server and the expected result of a run.
type misbehaviour struct {
	name   string
	behave func(*visit)

	errors  []string // the expected kinds; no others
	perhaps []string // kinds that may occur as well
	answers string   // "all", "none", "some" or "perhaps" some of the sent requests are answered
	slow    bool     // each request takes a whole Timeout
	unread  bool     // the server may not read requests
	again   bool     // requests of a pipeline arrive more than once
	deaf    bool     // connecting may fail
	kept    bool     // the errors occur when a connection is reused
}

var misbehaviours = []misbehaviour{
	{name: "a head cut short", behave: once("HTTP/1.1 200 OK\r\nContent-Len"), errors: []string{"eof"},
		answers: "none"},
	{name: "a body cut short", behave: once("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
		errors: []string{"eof"}, answers: "none"},
	{name: "chunks cut short", behave: once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
		errors: []string{"eof"}, answers: "none"},
	{name: "the end for a response", behave: once(""), errors: []string{"eof"}, answers: "none"},
	{name: "chunks of nonsense",
		behave: answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n"),
		errors: []string{"bad_answer"}, answers: "none", unread: true},
	{name: "two lengths", behave: answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
		errors: []string{"bad_answer"}, answers: "none", unread: true},
	{name: "another protocol", behave: answering("SSH-2.0-OpenSSH_9.2p1\r\n"), errors: []string{"bad_answer"},
		answers: "none", unread: true},
	{name: "bytes without a line", behave: answering("\x00\x01\x02"), errors: []string{"bad_answer"}, answers: "none",
		unread: true},
	{name: "a change of protocol", behave: answering("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
		errors: []string{"bad_answer"}, answers: "none", unread: true},
	{name: "a head without end", behave: answering("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 20_000)),
		errors: []string{"bad_answer"}, answers: "none", unread: true},

	{name: "no response", behave: (*visit).listen, errors: []string{"timeout"}, answers: "none", slow: true},
	{name: "half of a head and no more", behave: answeringOnce("HTTP/1.1 200 OK\r\n"), errors: []string{"timeout"},
		answers: "none", slow: true},
	{name: "a length too long", behave: answeringOnce("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
		errors: []string{"timeout"}, answers: "none", slow: true},

	{name: "byte by byte", behave: drip, answers: "all"},
	{name: "in two pieces", behave: split, answers: "all"},
	{name: "1xx before", behave: answering("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
		good), answers: "all"},
	{name: "HTTP/1.0", behave: once("HTTP/1.0 200 OK\r\n\r\nhello"), answers: "all", again: true},
	{name: "HTTP/1.0 with a length", behave: once("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
		answers: "all", again: true},
	{name: "no keep-alive", behave: once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"),
		answers: "all", again: true},
	{name: "no keep-alive, which nobody says", behave: once(good), perhaps: []string{"eof", "reset"}, answers: "some"},

	{name: "a length too short", behave: answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello"),
		errors: []string{"bad_answer"}, answers: "some", unread: true, kept: true},
	{name: "two responses to each request", behave: answering(good + good), perhaps: []string{"bad_answer"},
		answers: "some", unread: true},
	{name: "a response to nobody", behave: func(v *visit) { v.say(good); v.listen() }, perhaps: []string{"bad_answer",
		"timeout"}, answers: "perhaps", slow: true, unread: true},

	{name: "closing at once", behave: func(*visit) {}, perhaps: []string{"eof", "reset"}, answers: "none",
		unread: true, deaf: true},
	{name: "a reset at once", behave: (*visit).reset, perhaps: []string{"eof", "reset"}, answers: "none",
		unread: true, deaf: true},
	{name: "a reset for a response", behave: func(v *visit) { v.ask(); v.reset() }, errors: []string{"reset"},
		perhaps: []string{"eof"}, answers: "none", unread: true},
	{name: "a reset in the response", behave: func(v *visit) { v.ask(); v.say("HTTP/1.1 200 OK\r\n"); v.reset() },
		errors: []string{"reset"}, perhaps: []string{"eof"}, answers: "none", unread: true},
}

// answeringOnce sends text for the first request, and nothing for the others.
func answeringOnce(text string) func(*visit) {
	return func(v *visit) {
		if v.ask() {
			v.say(text)
			v.listen()
		}
	}
}

// drip sends the bytes of a response one by one.
func drip(v *visit) {
	for v.ask() {
		for i := range len(good) {
			v.say(good[i : i+1])
		}
	}
}

// split sends responses in two pieces, split at each byte in turn.
func split(v *visit) {
	for i := v.number; v.ask(); i++ {
		at := i % len(good)
		v.say(good[:at])
		v.say(good[at:])
	}
}

// A way is a configuration of a run.
type way struct {
	name string
	plan load.Plan
	tls  bool
}

var ways = []way{
	{name: "closed", plan: load.Plan{}},
	{name: "pipelined", plan: load.Plan{Pipeline: 4}},
	{name: "open", plan: load.Plan{Pace: pace.Rate(400), MaxConnections: 6}},
	{name: "no keep-alive", plan: load.Plan{NoKeepAlive: true}},
	{name: "TLS", plan: load.Plan{}, tls: true},
	{name: "TLS, pipelined", plan: load.Plan{Pipeline: 4}, tls: true},
	{name: "TLS, open", plan: load.Plan{Pace: pace.Rate(400), MaxConnections: 6}, tls: true},
}

// TestMisbehavingServersHangNoRun runs each way against each server. No run hangs, each request is
// accounted for, and errors have the right kind.
func TestMisbehavingServersHangNoRun(t *testing.T) {
	t.Parallel()
	serverTLS, clientTLS := quickTLS(t)
	for i, m := range misbehaviours {
		some := ways
		if load.RaceEnabled { // the histograms of a run take 100 ms with the race detector
			some = ways[i%len(ways):][:1]
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup // runs mostly wait
			for _, w := range some {
				var config *tls.Config
				if w.tls {
					config = serverTLS
				}
				s := newBadServer(t, config, m.behave)
				all.Go(func() { m.meet(t, s, w, clientTLS) })
			}
			all.Wait()
		})
	}
}

// meet runs one way against a server.
func (m *misbehaviour) meet(t *testing.T, s *badServer, w way, config *tls.Config) {
	p := w.plan
	p.Targets, p.TLS, p.Connections = targets(s.url), config, 2
	p.Requests, p.Timeout, p.Process = 6, waitLimit, -1
	switch {
	case m.slow && w.tls: // the handshake must be shorter than the timeout
		p.Requests, p.Timeout = 2, 5*time.Second
	case m.slow:
		p.Requests, p.Timeout = 4, 50*time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if os.Getenv("WEIR_ENGINE") == "goroutines" {
		p = load.OnGoroutines(p)
	}
	r, err := load.Run(ctx, p)
	s.settle(t)
	s.die()
	switch {
	case m.deaf && unreachable(err, w.tls):
	case err != nil:
		t.Errorf("%s: %v", w.name, err)
	default:
		checkSums(t, r)
		for _, wrong := range m.judge(r, p, s.asked.Load()) {
			t.Errorf("%s: %s", w.name, wrong)
		}
	}
}

// unreachable reports whether no connection was made, for an expected reason: a reset may
// come before the end of the handshake.
func unreachable(err error, tls bool) bool {
	var unreachable *load.UnreachableError
	return errors.As(err, &unreachable) && (unreachable.Kind == "reset" || tls && unreachable.Kind == "tls")
}

// quickTLS returns configurations of a server and a client with a fast handshake, since the
// race detector makes handshakes slow.
func quickTLS(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	curves := []tls.CurveID{tls.CurveP256}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
			CurvePreferences: curves},
		&tls.Config{InsecureSkipVerify: true, CurvePreferences: curves}
}

// judge returns the mistakes in a result.
func (m *misbehaviour) judge(r *load.Result, p load.Plan, arrived int64) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if r.Interrupted {
		fail("the run did not end by itself")
	}
	if r.Asked != p.Requests {
		fail("%d requests were asked for, want %d", r.Asked, p.Requests)
	}
	single := p.NoKeepAlive || len(p.Pace.Stages) > 0 // connections may serve one request each
	for _, kind := range m.errors {
		if r.Errors[kind] == 0 && !(m.kept && single) {
			fail("no error of kind %s: %v", kind, r.ErrorExamples)
		}
	}
	for kind, n := range r.Errors {
		if !slices.Contains(m.errors, kind) && !slices.Contains(m.perhaps, kind) {
			fail("%d errors of kind %s: %s", n, kind, r.ErrorExamples[kind])
		}
	}
	switch {
	case m.answers == "all" && r.Requests != p.Requests,
		m.answers == "none" && (r.Requests > 0 || r.Failed != r.Sent),
		m.answers == "some" && r.Requests == 0:
		fail("of %d requests %d were answered and %d failed, want %s answered; %v %v", r.Sent, r.Requests, r.Failed,
			m.answers, r.Errors, r.ErrorExamples)
	}
	for i, second := range r.Series {
		if second.Connections < 0 || second.Connections > r.Connections {
			fail("%d connections were open at the end of second %d, and %d at most", second.Connections,
				i, r.Connections)
		}
	}
	if again := m.again && p.Pipeline > 1; arrived > r.Sent && !again || arrived < r.Sent && !m.unread {
		fail("%d requests were sent, and %d arrived", r.Sent, arrived)
	}
	return wrong
}

// TestLargeResponsesAreRead reads a response of 100 MB, with a length and in chunks.
func TestLargeResponsesAreRead(t *testing.T) {
	t.Parallel()
	const size, piece = 100 << 20, 1 << 20
	block := strings.Repeat("x", piece)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", piece, block)
	for name, parts := range map[string][3]string{
		"length": {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size), block, ""},
		"chunks": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk, "0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBadServer(t, nil, func(v *visit) {
				for v.ask() {
					v.say(parts[0])
					for range size / piece {
						v.say(parts[1])
					}
					v.say(parts[2])
				}
			})
			r := run(t, load.Plan{Targets: targets(s.url), Requests: 1, Connections: 1, Timeout: waitLimit,
				Process: -1})
			if r.Requests != 1 || r.BytesRead < size || r.BytesRead > size+1<<16 {
				t.Errorf("%d responses of %d bytes together, want one of %d; %v", r.Requests, r.BytesRead,
					size, r.ErrorExamples)
			}
		})
	}
}

// TestEarlyResponsesAreCounted uses a server that responds to requests before it has read their bodies.
func TestEarlyResponsesAreCounted(t *testing.T) {
	t.Parallel()
	const size = 8 << 20 // more than socket buffers hold
	for name, text := range map[string]string{
		"keep-alive": "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n",
		"close":      "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newBadServer(t, nil, func(v *visit) {
				for v.ask() {
					v.say(text)
					if _, err := io.CopyN(io.Discard, v.in, size); err != nil {
						return
					}
				}
			})
			body := target.Body{Text: strings.Repeat("x", size)}
			r := run(t, load.Plan{Targets: []target.Target{{URL: s.url, Body: body}}, Requests: 8, Connections: 2,
				Timeout: waitLimit, Process: -1})
			s.die()
			if r.Status["4xx"] != 8 || r.Interrupted || s.asked.Load() != 8 {
				t.Errorf("%v responses, and %d requests arrived; want 8; %v", r.Status, s.asked.Load(), r.ErrorExamples)
			}
		})
	}
}

// TestRunContinuesAfterServerRestart stops a server until the run has noticed it, and starts it again at
// the same address.
func TestRunContinuesAfterServerRestart(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		if way.tls || way.plan.NoKeepAlive {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			asked, refused := make(chan struct{}, 1), make(chan struct{}, 1)
			s := newBadServer(t, nil, func(v *visit) {
				for v.ask() {
					v.say(good)
					notify(asked)
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			defer cancel()
			p := way.plan
			p.Targets, p.Connections, p.Duration, p.Timeout = targets(s.url), 2, time.Hour, waitLimit
			p.Progress = func(p load.Progress) {
				if p.Errors > 4 && p.Connections == 0 {
					notify(refused)
				}
			}
			var r *load.Result
			var err error
			over := make(chan struct{})
			go func() {
				defer close(over)
				r, err = load.Run(ctx, p)
			}()
			happens := func(what string, c <-chan struct{}) {
				t.Helper()
				select {
				case <-c:
				case <-over: // after waitLimit at the latest
					t.Fatalf("the run has ended, and has not seen %s: %v", what, err)
				}
			}
			happens("a response", asked)
			s.die()
			happens("that the server is away", refused)
			l, listenErr := net.Listen("tcp", s.Addr().String())
			if listenErr != nil {
				cancel()
				<-over
				t.Skip("the port is someone else's: ", listenErr)
			}
			before := s.asked.Load()
			s.serve(l)
			for s.asked.Load() < before+10 {
				happens("that the server is back", asked)
			}
			cancel()
			<-over
			if err != nil {
				t.Fatal(err)
			}
			checkSums(t, r)
			s.die()
			if r.Errors["refused"] == 0 || r.UnsentFor["no_connection"] == 0 {
				t.Errorf("nothing says that the server was away: %v %v", r.Errors, r.UnsentFor)
			}
			if r.Requests < before/2 || s.asked.Load() > r.Sent {
				t.Errorf("%d requests were sent and %d answered, %d arrived", r.Sent, r.Requests, s.asked.Load())
			}
		})
	}
}

// notify does not block if a notification is pending.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
