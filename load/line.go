package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/load/internal/program"
)

// A line carries exchanges over one connection, which it opens when it has none.
type line interface {
	// open connects, unless there is a connection.
	open(ctx context.Context) (opened, error)

	// exchange sends a request and reads its response. It returns errGone if the
	// server cannot have processed the request because the connection is gone or
	// going; the outcome then has only bytes.
	exchange(ctx context.Context, m *program.Message, watch exchangeWatch) (outcome, error)

	// close ends the connection; whoever has an exchange under way gets an error.
	// It returns the bytes that no outcome has counted.
	close() outcome
}

// An exchangeWatch is called at the steps of an exchange, possibly by another
// goroutine, which may be late: after the exchange has returned an error.
type exchangeWatch struct {
	sending func() // the request's head is being written; again if it is written again
	began   func() // the first byte of the response has come
}

// opened tells how long it took to connect, if that was needed.
type opened struct {
	made               bool
	lost               bool // a connection had ended that nobody has counted
	connect, handshake time.Duration
}

// An outcome is what an answer was.
type outcome struct {
	status        int
	read, written int  // bytes of the connection since the outcome before, whosever they are
	last          bool // this exchange has ended the connection
}

// add adds the bytes of another outcome on the same connection.
func (o *outcome) add(other outcome) {
	o.read += other.read
	o.written += other.written
}

// A countedConn counts its bytes, as TCP carries them.
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

// settle moves what was counted into an outcome.
func (c *countedConn) settle(o *outcome) {
	o.read, o.written = int(c.read.Swap(0)), int(c.written.Swap(0))
}

// dial connects.
func dial(ctx context.Context, server string) (*countedConn, opened, error) {
	began := time.Now()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without the address, which who has asked for it says
	}
	if err != nil {
		return nil, opened{}, err
	}
	return &countedConn{Conn: c}, opened{made: true, connect: time.Since(began)}, nil
}

// secure shakes hands, and closes the connection when that fails.
func secure(ctx context.Context, c net.Conn, config *tls.Config, o *opened) (*tls.Conn, error) {
	began := time.Now()
	t := tls.Client(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, &kindError{handshake, fmt.Errorf("TLS handshake: %w", err)}
	}
	o.handshake = time.Since(began)
	return t, nil
}
