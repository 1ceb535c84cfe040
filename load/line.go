package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// A line carries exchanges over one connection, which it opens when it has none.
type line interface {
	// open connects, unless there is a connection.
	open(ctx context.Context) (opened, error)

	// exchange sends a request and reads its answer. began is called once, with
	// the answer's first byte. It returns errGone, and has sent nothing, when
	// there is no connection any more.
	exchange(ctx context.Context, m *message, began func()) (outcome, error)

	// close ends the connection; whoever has an exchange under way gets an error.
	// It returns the bytes that no outcome has counted.
	close() outcome
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
