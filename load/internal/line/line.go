// Package line carries requests of a load test over connections of one protocol.
//
// A [Line] is a connection that opens again after its end. It does not measure: it returns the
// times and bytes of an exchange to the worker that counts them. The file of a protocol
// implements Line, and package load lists the protocols.
package line

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

// A Line carries exchanges over one connection at a time.
type Line interface {
	// Open connects if there is no usable connection.
	Open(ctx context.Context) (Opened, error)

	// Exchange sends a request and reads its response. It returns ErrGone if the
	// connection has ended, or is ending, and the server cannot have processed the
	// request. The outcome then has only bytes. It returns an error that is ErrRefused if
	// the server has refused a stream for the request.
	Exchange(ctx context.Context, m *program.Message, watch Watch) (Outcome, error)

	// Close ends the connection and fails its exchanges. It returns the bytes that no
	// outcome has counted.
	Close() Outcome
}

// A Watch is called at the steps of an exchange. The call may come from
// another goroutine, and after the exchange has returned an error.
type Watch struct {
	Sending func() // the request's header will be written next, for each attempt
	Began   func() // the first byte of the response was read
}

// The errors of exchanges that may be sent again.
var (
	ErrGone    = errors.New("the connection was closed before the request was sent")
	ErrRefused = errors.New("the server refused the stream")
)

// Opened is the result of opening a line.
type Opened struct {
	Made               bool // a connection was made
	Lost               bool // an earlier connection had ended and was not counted as closed
	Connect, Handshake time.Duration
}

// An Outcome is the result of an exchange.
type Outcome struct {
	Status        int
	Read, Written int  // bytes of the connection since the previous outcome, of all exchanges
	Last          bool // this exchange has ended the connection
}

// Add adds the bytes of another outcome.
func (o *Outcome) Add(other Outcome) {
	o.Read += other.Read
	o.Written += other.Written
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
func (c *countedConn) settle(o *Outcome) {
	o.Read, o.Written = int(c.read.Swap(0)), int(c.written.Swap(0))
}

// dial connects.
func dial(ctx context.Context, server string) (*countedConn, Opened, error) {
	began := time.Now()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the caller adds the address
	}
	if err != nil {
		return nil, Opened{}, err
	}
	return &countedConn{Conn: c}, Opened{Made: true, Connect: time.Since(began)}, nil
}

// secure does the TLS handshake, and closes the connection if it fails.
func secure(ctx context.Context, c net.Conn, config *tls.Config, o *Opened) (*tls.Conn, error) {
	began := time.Now()
	t := tls.Client(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, failure.New(failure.Handshake, fmt.Errorf("TLS handshake: %w", err))
	}
	o.Handshake = time.Since(began)
	return t, nil
}
