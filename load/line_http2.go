package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// An http2Line speaks HTTP/2, with TLS or with prior knowledge. Its exchanges
// are streams.
type http2Line struct {
	server    string
	tls       *tls.Config // nil for h2c
	transport *http2.Transport

	mu sync.Mutex // guards c
	c  *http2Conn
}

// An http2Conn counts its bytes.
type http2Conn struct {
	net.Conn
	client        *http2.ClientConn
	read, written atomic.Int64
}

func (c *http2Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func (c *http2Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// open implements line.
func (l *http2Line) open(ctx context.Context) (opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil && l.c.client.CanTakeNewRequest() {
		return opened{}, nil
	}
	nc, o, err := dial(ctx, l.server, l.tls)
	if err != nil {
		return o, err
	}
	if secure, ok := nc.(*tls.Conn); ok && secure.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		nc.Close()
		return opened{}, &kindError{handshake, errors.New("TLS handshake: the server does not offer HTTP/2")}
	}
	c := &http2Conn{Conn: nc}
	if c.client, err = l.transport.NewClientConn(c); err != nil {
		nc.Close()
		return opened{}, fmt.Errorf("HTTP/2: %w", err)
	}
	l.c = c
	return o, nil
}

// exchange implements line.
func (l *http2Line) exchange(ctx context.Context, m *message, began func()) (outcome, error) {
	l.mu.Lock()
	c := l.c
	l.mu.Unlock()
	if c == nil {
		return outcome{}, errClosed
	}
	o, err := c.exchange(ctx, m, began)
	// What was read and written meanwhile is counted once, by whoever looks
	// first: streams share their connection's bytes.
	o.read, o.written = int(c.read.Swap(0)), int(c.written.Swap(0))
	if err == nil {
		return o, nil
	}
	var stream http2.StreamError
	if !errors.As(err, &stream) && ctx.Err() == nil {
		o.last = true
		l.leave(c)
	}
	return o, describe2(err)
}

func (c *http2Conn) exchange(ctx context.Context, m *message, began func()) (outcome, error) {
	resp, err := c.client.RoundTrip(m.request().WithContext(ctx))
	if err != nil {
		return outcome{}, err
	}
	began()
	defer resp.Body.Close()
	o := outcome{status: resp.StatusCode}
	_, err = io.Copy(io.Discard, resp.Body)
	return o, err
}

func (l *http2Line) leave(c *http2Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.client.Close()
	if l.c == c {
		l.c = nil
	}
}

// close implements line.
func (l *http2Line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		l.c.client.Close()
		l.c = nil
	}
}

// describe2 gives an error of HTTP/2 its kind.
func describe2(err error) error {
	var stream http2.StreamError
	var connection http2.ConnectionError
	var away http2.GoAwayError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errTimeout
	case errors.As(err, &away):
		return &kindError{eof, err}
	case errors.As(err, &stream):
		return &kindError{reset, err}
	case errors.As(err, &connection):
		return &kindError{badAnswer, err}
	}
	return err
}
