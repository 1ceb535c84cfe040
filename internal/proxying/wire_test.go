package proxying_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// patience limits every wait of these tests, so that a fault becomes a failure
// instead of a hang. No test waits for it to pass.
const patience = time.Minute

// brief is a timeout of exchanges that a test waits for. It is long enough that
// a busy machine does not exceed it by accident.
const brief = 600 * time.Millisecond

// An outcome is the result of an exchange, from its Done event.
type outcome struct {
	err                *proxying.Error
	kind               proxying.Kind // "" without an error
	status             int
	bodySent, bodyRead int64
	retried            proxying.RetryReason
	cut                bool
	upgraded, began    bool
	server             string
}

func outcomeOf(x *proxying.Exchange) outcome {
	o := outcome{
		status: x.Status, bodySent: x.BodySent, bodyRead: x.BodyRead,
		cut: x.Cut, retried: x.Retried, upgraded: x.Upgraded, began: x.Began,
	}
	if x.Err != nil {
		o.err = x.Err.(*proxying.Error)
		o.kind = o.err.Kind
	}
	if x.Server != nil {
		o.server = x.Server.URL()
	}
	return o
}

// A door is a net/http server, for HTTP/1 and unencrypted HTTP/2, whose
// handler is a Proxy.
type door struct {
	*httptest.Server
	t        testing.TB
	outcomes chan outcome
}

// openDoor starts a door to the upstream servers at the given URLs.
func openDoor(t testing.TB, adjust func(*proxying.Proxy), urls ...string) *door {
	t.Helper()
	d := &door{t: t, outcomes: make(chan outcome, 1<<16)}
	p := &proxying.Proxy{Hook: func(x *proxying.Exchange, e proxying.Event) {
		if e == proxying.Done {
			d.outcomes <- outcomeOf(x)
		}
	}}
	if adjust != nil {
		adjust(p)
	}
	if p.Upstream == nil {
		p.Upstream = openUpstream(t, proxying.Options{}, urls...)
	}
	d.Server = httptest.NewUnstartedServer(p)
	d.Config.Protocols = new(http.Protocols)
	d.Config.Protocols.SetHTTP1(true)
	d.Config.Protocols.SetUnencryptedHTTP2(true)
	d.Start()
	t.Cleanup(d.Close)
	return d
}

// openUpstream returns an upstream of the servers at the given URLs.
func openUpstream(t testing.TB, options proxying.Options, urls ...string) *proxying.Upstream {
	t.Helper()
	for _, url := range urls {
		options.Servers = append(options.Servers, proxying.Endpoint{URL: url})
	}
	up, err := proxying.NewUpstream("test", options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	return up
}

// outcome waits for the next exchange to be over.
func (d *door) outcome() outcome {
	d.t.Helper()
	return testkit.Receive(d.t, "the end of the exchange", d.outcomes)
}

// dial connects a raw client.
func (d *door) dial() *wire {
	d.t.Helper()
	nc, err := net.Dial("tcp", d.Listener.Addr().String())
	if err != nil {
		d.t.Fatal(err)
	}
	w := newWire(nc)
	d.t.Cleanup(func() { w.Close() })
	return w
}

// client returns an HTTP client for the given major version.
func (d *door) client(major int) *http.Client {
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(major == 1)
	transport.Protocols.SetUnencryptedHTTP2(major == 2)
	d.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A wire is one end of a raw connection.
type wire struct {
	*net.TCPConn
	r *bufio.Reader
}

func newWire(nc net.Conn) *wire {
	nc.SetDeadline(time.Now().Add(patience))
	return &wire{nc.(*net.TCPConn), bufio.NewReader(nc)}
}

func (w *wire) say(text string) error {
	_, err := io.WriteString(w.TCPConn, text)
	return err
}

func (w *wire) sayf(format string, args ...any) error {
	_, err := fmt.Fprintf(w.TCPConn, format, args...)
	return err
}

// reset closes the connection with an RST.
func (w *wire) reset() {
	w.SetLinger(0)
	w.Close()
}

// A head is a message's head as it was on the wire.
type head struct {
	raw   string
	first string // request line or status line
	lines []string
}

// values returns the values of the fields called name, in wire order.
func (h *head) values(name string) []string {
	var values []string
	for _, line := range h.lines {
		n, v, _ := strings.Cut(line, ":")
		if strings.EqualFold(n, name) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

func (h *head) get(name string) string { return strings.Join(h.values(name), ", ") }

// readHead reads to the end of a head.
func (w *wire) readHead() (*head, error) {
	h := new(head)
	for {
		line, err := w.r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		h.raw += line
		line = strings.TrimSuffix(line, "\r\n")
		switch {
		case line == "":
			return h, nil
		case h.first == "":
			h.first = line
		default:
			h.lines = append(h.lines, line)
		}
	}
}

// A message is a head with its body.
type message struct {
	*head
	body     string // decoded
	trailers []string
}

// readMessage reads a request, or a response with a body.
func (w *wire) readMessage() (*message, error) {
	h, err := w.readHead()
	if err != nil {
		return nil, err
	}
	m := &message{head: h}
	switch length := h.get("Content-Length"); {
	case h.get("Transfer-Encoding") == "chunked":
		return m, w.readChunks(m)
	case length != "":
		n, err := strconv.Atoi(length)
		if err != nil {
			return m, err
		}
		body := make([]byte, n)
		n, err = io.ReadFull(w.r, body)
		m.body = string(body[:n])
		return m, err
	}
	return m, nil
}

func (w *wire) readChunks(m *message) error {
	var body bytes.Buffer
	defer func() { m.body = body.String() }()
	for {
		line, err := w.r.ReadString('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(strings.TrimSuffix(line, "\r\n"), 16, 64)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		if _, err := io.CopyN(&body, w.r, size); err != nil {
			return err
		}
		if _, err := w.r.Discard(2); err != nil {
			return err
		}
	}
	for {
		line, err := w.r.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\r\n" {
			return nil
		}
		m.trailers = append(m.trailers, strings.TrimSuffix(line, "\r\n"))
	}
}

// roundTrip sends a request and reads the response.
func (w *wire) roundTrip(t testing.TB, request string) *message {
	t.Helper()
	if err := w.say(request); err != nil {
		t.Fatal(err)
	}
	m, err := w.readMessage()
	if err != nil {
		t.Fatalf("reading the response: %v", err)
	}
	return m
}

// An origin is a scripted upstream: a function handles each of its connections.
type origin struct {
	net.Listener
	url   string
	mu    sync.Mutex
	conns map[*wire]bool
	made  int // connections so far
}

// openOrigin starts an origin. play owns the connection until it returns; then
// it is closed.
func openOrigin(t testing.TB, play func(w *wire)) *origin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &origin{Listener: l, url: "http://" + l.Addr().String(), conns: make(map[*wire]bool)}
	var players sync.WaitGroup
	players.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			w := newWire(nc)
			o.add(w)
			players.Go(func() {
				defer o.remove(w)
				play(w)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		o.closeAll()
		players.Wait()
	})
	return o
}

func (o *origin) add(w *wire) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conns[w] = true
	o.made++
}

func (o *origin) remove(w *wire) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.conns, w)
	w.Close()
}

func (o *origin) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for w := range o.conns {
		w.Close()
	}
}

// connections returns the number of connections made to the origin so far.
func (o *origin) connections() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.made
}

// answering returns a script that responds to each request of a connection with
// the same bytes, and sends the requests to got if it is not nil.
func answering(answer string, got chan<- *message) func(*wire) {
	return func(w *wire) {
		for {
			m, err := w.readMessage()
			if err != nil {
				return
			}
			if got != nil {
				got <- m
			}
			if w.say(answer) != nil {
				return
			}
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
