package transport

import (
	"cmp"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// A Carrier is a connection that can carry TLS: a [NetConn] or a [LoopConn].
type Carrier interface {
	Conn

	// closeAfter is Close, but before it sends as much of last as the kernel takes
	// immediately. No write may be in progress.
	closeAfter(last []byte) error
}

// A TLSConn is a [Conn] with TLS over another connection. Its handshake must succeed before
// any other method is called, except for the methods that set deadlines, Close, Abort and
// Remote.
//
// crypto/tls does the handshake, and encrypts and decrypts the records, but never waits: a
// TLSConn waits in its carrier while crypto/tls holds no lock. So the same code serves both
// drivers, and the carrier can be replaced.
//
// Rules that differ from a plain connection:
//
//   - Read fails with io.ErrUnexpectedEOF if the peer ends the connection without the alert
//     close_notify, which protects from truncation (RFC 8446, section 6.1).
//   - Bytes that were decrypted may be read after a read deadline has passed.
//   - CloseWrite waits for up to 5 seconds if the kernel does not take the alert.
//   - After a write that did not take all bytes, the next write must begin with the bytes
//     that were not taken: some of them are encrypted already.
type TLSConn struct {
	tls    *tls.Conn
	inner  Carrier
	closed atomic.Bool

	// Fields of the reader.
	in       intake
	more     bool  // crypto/tls may hold decrypted bytes
	hasFirst bool  // first holds a byte that was decrypted to learn whether one has arrived
	first    byte  // the next byte to read
	failure  error // why no more can be read

	// Fields of the writer.
	out   output
	ahead int // bytes of the next writes that are encrypted already

	pause func() bool // during the handshake, waits for more bytes; false ends the handshake
}

// NewTLSServer returns the server's side of a connection. It owns inner. received are bytes
// that were read from inner before, up to 16 KiB; they are copied.
func NewTLSServer(inner Carrier, received []byte, config *tls.Config) *TLSConn {
	c := &TLSConn{inner: inner}
	c.tls = tls.Server((*wire)(c), config)
	if len(received) > 0 {
		c.in.w = copy(c.in.Space(), received)
	}
	return c
}

// NewTLSClient returns the client's side of a connection. It owns inner. The configuration
// must have a ServerName.
func NewTLSClient(inner Carrier, config *tls.Config) *TLSConn {
	c := &TLSConn{inner: inner}
	c.tls = tls.Client((*wire)(c), config)
	return c
}

// ConnectionState returns the result of the handshake. It copies a large struct.
func (c *TLSConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// Move continues on another carrier, such as the result of [LoopConn.Detach]. No operation
// may be in progress.
func (c *TLSConn) Move(to Carrier) { c.inner = to }

// Carrier returns the connection that carries the records.
func (c *TLSConn) Carrier() Carrier { return c.inner }

// Remote implements Conn.
func (c *TLSConn) Remote() netip.AddrPort { return c.inner.Remote() }

// SetDeadline implements Conn.
func (c *TLSConn) SetDeadline(t time.Time) error {
	return cmp.Or(c.inner.SetDeadline(t), c.closedError())
}

// SetReadDeadline implements Conn.
func (c *TLSConn) SetReadDeadline(t time.Time) error {
	return cmp.Or(c.inner.SetReadDeadline(t), c.closedError())
}

// SetWriteDeadline implements Conn.
func (c *TLSConn) SetWriteDeadline(t time.Time) error {
	return cmp.Or(c.inner.SetWriteDeadline(t), c.closedError())
}

// closedError returns net.ErrClosed after Close, which may not have closed the carrier yet.
func (c *TLSConn) closedError() error {
	if c.closed.Load() {
		return net.ErrClosed
	}
	return nil
}

// closeNotifyTimeout limits the wait of CloseWrite.
const closeNotifyTimeout = 5 * time.Second

// CloseWrite implements Conn. It sends the alert close_notify and the end of the stream.
func (c *TLSConn) CloseWrite() error {
	if err := cmp.Or(c.closedError(), c.tls.CloseWrite()); err != nil {
		return err
	}
	if _, left, _ := c.send(false); left > 0 {
		c.inner.SetWriteDeadline(time.Now().Add(closeNotifyTimeout))
		if _, _, err := c.send(true); err != nil {
			return err
		}
	}
	return c.inner.CloseWrite()
}

// Close implements Conn. It sends the alert close_notify if the kernel takes it immediately.
func (c *TLSConn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.tls.CloseWrite() // fails before the end of the handshake
	return c.inner.closeAfter(c.out.last())
}

// Abort implements Conn.
func (c *TLSConn) Abort() error {
	c.closed.Store(true)
	return c.inner.Abort()
}

// A wire is the connection that crypto/tls uses. Its methods do not wait, except for Read
// during the handshake.
type wire TLSConn

// Read takes received bytes. Without any, it fails with errNothing.
func (w *wire) Read(p []byte) (int, error) {
	for !w.in.available() {
		if w.pause == nil {
			return 0, errNothing
		}
		if !w.pause() {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return w.in.take(p), nil
}

// Write keeps records until they are sent. crypto/tls cannot continue after an error, so that a
// full socket must not be one.
func (w *wire) Write(p []byte) (int, error) {
	if err := w.out.add(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *wire) Close() error                     { return nil }
func (w *wire) LocalAddr() net.Addr              { return nil }
func (w *wire) RemoteAddr() net.Addr             { return net.TCPAddrFromAddrPort(w.inner.Remote()) }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// errNothing is the error of a read of crypto/tls that would have to wait. Because it is
// temporary, crypto/tls continues with the next read.
var errNothing net.Error = nothing{}

type nothing struct{}

func (nothing) Error() string   { return "nothing has arrived" }
func (nothing) Timeout() bool   { return true }
func (nothing) Temporary() bool { return true }
