package line

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/program"
)

// A Line speaks HTTP with package net/http: HTTP/2 over TLS or with prior knowledge, or
// HTTP/1.1. Its exchanges are streams of HTTP/2; with HTTP/1.1 there is one at a time.
type Line struct {
	scheme, server string
	http1          bool
	tls            *tls.Config // nil for h2c

	mu   sync.Mutex // guards the fields below
	c    *conn
	lost bool // a connection was retired, and open has not returned it as lost
}

type conn struct {
	client  *http.ClientConn
	counted *countedConn
}

// New returns a line to a server. The configuration of TLS is nil without it.
func New(server string, config *tls.Config, http1 bool) *Line {
	if config == nil {
		return &Line{scheme: "http", server: server, http1: http1}
	}
	if config = config.Clone(); !http1 {
		config.VerifyConnection = onlyHTTP2
	}
	return &Line{scheme: "https", server: server, http1: http1, tls: config}
}

// Open connects if there is no usable connection.
func (l *Line) Open(ctx context.Context) (Opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil && l.c.client.Err() == nil {
		return Opened{}, nil
	}
	c := &conn{}
	lost := l.lost || l.c != nil
	if l.c != nil {
		l.c.client.Close()
	}
	l.c, l.lost = nil, false
	var o Opened
	transport := &http.Transport{
		DisableCompression: true,
		Protocols:          new(http.Protocols),
		TLSClientConfig:    l.tls.Clone(), // the transport changes it
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var err error
			c.counted, o, err = dial(ctx, l.server)
			if err != nil {
				return nil, err
			}
			return c.counted, nil
		},
	}
	transport.Protocols.SetHTTP1(l.http1)
	transport.Protocols.SetHTTP2(!l.http1 && l.tls != nil)
	transport.Protocols.SetUnencryptedHTTP2(!l.http1 && l.tls == nil)
	var began time.Time
	trace := &httptrace.ClientTrace{
		TLSHandshakeStart: func() { began = time.Now() },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { o.Handshake = time.Since(began) },
	}
	var err error
	if c.client, err = transport.NewClientConn(httptrace.WithClientTrace(ctx, trace), l.scheme, l.authority()); err != nil {
		if o.Handshake > 0 {
			err = failure.New(failure.Handshake, fmt.Errorf("TLS handshake: %w", err))
		}
		return Opened{Lost: lost}, err
	}
	l.c = c
	o.Lost = lost
	return o, nil
}

// authority returns a host and port for net/http. Requests have their own.
func (l *Line) authority() string {
	if _, _, err := net.SplitHostPort(l.server); err != nil || strings.Contains(l.server, "/") { // a Unix socket
		return "localhost:80"
	}
	return l.server
}

// onlyHTTP2 returns an error if the server has not negotiated HTTP/2.
func onlyHTTP2(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != "h2" {
		return errors.New("the server does not offer HTTP/2")
	}
	return nil
}

// Exchange sends a request and reads its response. It returns ErrGone if the connection has
// ended, or is ending, and the server cannot have processed the request. The outcome then has
// only bytes. It returns an error that is ErrRefused if the server has refused a stream for
// the request.
func (l *Line) Exchange(ctx context.Context, m *program.Message, watch Watch) (Outcome, error) {
	l.mu.Lock()
	c := l.c
	l.mu.Unlock()
	if c == nil {
		return Outcome{}, ErrGone
	}
	o, err := c.exchange(ctx, m.Request(l.http1), watch)
	c.counted.settle(&o)
	switch {
	case err == nil:
		return o, nil
	case unprocessed(err):
		l.retire(c)
		return o, ErrGone
	}
	if c.client.Err() != nil {
		o.Last = l.leave(c)
	}
	return o, describe(err)
}

// exchange sends a request. If the server's limit of streams is reached it first waits
// for a stream.
func (c *conn) exchange(ctx context.Context, r *http.Request, watch Watch) (Outcome, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// net/http encodes this field first. WroteHeaders is called after the write, when
		// the server may already be working on the request.
		WroteHeaderField: func(name string, _ []string) {
			if name == ":authority" || name == "Host" {
				watch.Sending()
			}
		},
	})
	resp, err := c.client.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return Outcome{}, err
	}
	watch.Began()
	defer resp.Body.Close()
	if s := resp.StatusCode; s < 100 || s > 999 { // net/http accepts them
		return Outcome{}, failure.New(failure.BadResponse, fmt.Errorf("the status is %d", s))
	}
	out := io.Discard
	if watch.Reader != nil {
		watch.Reader.Begin(resp.StatusCode, header(resp.Header))
		out = watch.Reader
	}
	n, err := io.Copy(out, resp.Body)
	if err == nil && watch.Reader != nil {
		watch.Reader.Trailer(header(resp.Trailer))
	}
	return Outcome{Status: resp.StatusCode, Body: n}, err
}

// A header is the header of a response.
type header http.Header

// Values implements expect.Header.
func (h header) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, value := range http.Header(h).Values(name) {
			if !yield([]byte(value)) {
				return
			}
		}
	}
}

// retire stops using a connection on which the server accepts no more streams. net/http
// closes it after the last response.
func (l *Line) retire(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c == c {
		l.c, l.lost = nil, true
	}
}

// leave closes a connection that is not usable, and reports whether it was open.
func (l *Line) leave(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.client.Close()
	if l.c != c {
		return false
	}
	l.c = nil
	return true
}

// Close ends the connection and fails its exchanges. It returns the bytes that no outcome has
// counted.
func (l *Line) Close() (o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		l.c.client.Close()
		l.c.counted.settle(&o)
		l.c = nil
	}
	return o
}

// refusedStream is the code REFUSED_STREAM of RFC 9113: the server has not processed
// the request.
const refusedStream = 7

// A streamError has the fields of net/http's stream error, which is not exported. It
// can be assigned to a type with the same fields by errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream %d: code %d", e.StreamID, e.Code) }

// unprocessed reports whether an error of net/http means that the server has not
// processed the request: its GOAWAY excluded the stream, the connection accepted no
// more streams, or an idle connection of HTTP/1.1 was closed. net/http has neither types nor exported values for these errors, so
// that only their texts distinguish them. TestGoAwayLosesNoRequest fails if a text changes.
func unprocessed(err error) bool {
	text := err.Error()
	return strings.Contains(text, "graceful shutdown GOAWAY") || strings.Contains(text, "client conn not usable") ||
		strings.Contains(text, "server closed idle connection")
}

// describe adds the kind to an error of HTTP/2, and to an expired time.
func describe(err error) error {
	var stream streamError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return failure.ErrTimeout
	case errors.As(err, &stream) && stream.Code == refusedStream:
		return failure.New(failure.Reset, fmt.Errorf("%w: %w", ErrRefused, err))
	case errors.As(err, &stream):
		return failure.New(failure.Reset, err)
	case strings.Contains(err.Error(), "GOAWAY"), strings.Contains(err.Error(), "connection lost"):
		return failure.New(failure.EOF, err)
	}
	return err
}
