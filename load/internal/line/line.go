// Package line carries requests of a load test over connections of package net/http. It does not
// measure: a [Line] returns the times and bytes of an exchange to the worker that counts them.
package line

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/load/expect"
)

// A Watch is called at the steps of an exchange. The call may come from
// another goroutine, and after the exchange has returned an error.
type Watch struct {
	Sending func() // the request's header will be written next, for each attempt
	Began   func() // the first byte of the response was read

	Reader Reader // gets the response of each attempt, but not its end; nil if nothing needs it
}

// A Reader gets a response.
type Reader interface {
	Begin(status int, h expect.Header)
	io.Writer                // of the body
	Trailer(h expect.Header) // after the whole body
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
	Body          int64 // bytes of the response's body
	Read, Written int   // bytes of the connection since the previous outcome, of all exchanges
	Last          bool  // this exchange has ended the connection
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
	network := "tcp"
	if path, ok := strings.CutPrefix(server, transport.UnixPrefix); ok {
		network, server = "unix", path
	}
	c, err := new(net.Dialer).DialContext(ctx, network, server)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the caller adds the address
	}
	if err != nil {
		return nil, Opened{}, err
	}
	return &countedConn{Conn: c}, Opened{Made: true, Connect: time.Since(began)}, nil
}
