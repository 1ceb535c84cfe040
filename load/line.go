package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/program"
)

// A line carries exchanges over one connection at a time.
type line interface {
	// open connects if there is no usable connection.
	open(ctx context.Context) (opened, error)

	// exchange sends a request and reads its response. It returns errGone if the
	// connection has ended, or is ending, and the server cannot have processed the
	// request. The outcome then has only bytes.
	exchange(ctx context.Context, m *program.Message, watch exchangeWatch) (outcome, error)

	// close ends the connection and fails its exchanges. It returns the bytes that no
	// outcome has counted.
	close() outcome
}

// An exchangeWatch is called at the steps of an exchange. The call may come from
// another goroutine, and after the exchange has returned an error.
type exchangeWatch struct {
	sending func() // the request's header will be written next, for each attempt
	began   func() // the first byte of the response was read
}

var (
	errGone    = errors.New("the connection was closed before the request was sent")
	errRefused = errors.New("the server refused the stream")
)

// opened is the result of opening a line.
type opened struct {
	made               bool // a connection was made
	lost               bool // an earlier connection had ended and was not counted as closed
	connect, handshake time.Duration
}

// An outcome is the result of an exchange.
type outcome struct {
	status        int
	read, written int  // bytes of the connection since the previous outcome, of all exchanges
	last          bool // this exchange has ended the connection
}

// add adds the bytes of another outcome.
func (o *outcome) add(other outcome) {
	o.read += other.read
	o.written += other.written
}

// A countedConn counts the bytes on the wire, with those of TLS.
type countedConn struct {
	net.Conn
	read, written atomic.Int64
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// settle moves the counts into an outcome.
func (c *countedConn) settle(o *outcome) {
	o.read, o.written = int(c.read.Swap(0)), int(c.written.Swap(0))
}

// dial connects.
func dial(ctx context.Context, server string) (*countedConn, opened, error) {
	began := time.Now()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the caller adds the address
	}
	if err != nil {
		return nil, opened{}, err
	}
	return &countedConn{Conn: c}, opened{made: true, connect: time.Since(began)}, nil
}

// secure does the TLS handshake, and closes the connection if it fails.
func secure(ctx context.Context, c net.Conn, config *tls.Config, o *opened) (*tls.Conn, error) {
	began := time.Now()
	t := tls.Client(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, failure.New(failure.Handshake, fmt.Errorf("TLS handshake: %w", err))
	}
	o.handshake = time.Since(began)
	return t, nil
}
