package transport

import (
	"io"
	"net"
)

const recordHeader = 5 // the length of a record's header (RFC 8446, section 5.1)

// An intake holds received bytes until crypto/tls takes them. It gives crypto/tls one record
// at a time, so that the bytes of all others are here, where they can be noticed.
type intake struct {
	block *block // nil without bytes
	r, w  int    // block[r:w] was not taken

	header      [recordHeader]byte // of the record in progress
	have, given int                // bytes of header that have arrived, and that were taken
	left        int                // bytes of the record after its header that were not taken
}

// Space implements Space. All received bytes were taken.
func (in *intake) Space() []byte {
	if in.block == nil {
		in.block = takeBlock()
	}
	return in.block[:]
}

// GiveBack implements Space.
func (in *intake) GiveBack() {
	if in.r == in.w && in.block != nil {
		in.block.release()
		in.block, in.r, in.w = nil, 0, 0
	}
}

// available reports whether there are bytes to take. A part of a header is not taken.
func (in *intake) available() bool {
	if in.have < recordHeader && in.r < in.w {
		n := copy(in.header[in.have:], in.block[in.r:in.w])
		in.r += n
		if in.have += n; in.have == recordHeader {
			in.left = int(in.header[3])<<8 | int(in.header[4])
		}
		in.GiveBack()
	}
	return in.have == recordHeader && (in.given < recordHeader || in.r < in.w)
}

// take takes bytes up to the end of a record.
func (in *intake) take(p []byte) (n int) {
	n = copy(p, in.header[in.given:])
	in.given += n
	m := copy(p[n:min(len(p), n+in.left)], in.unread())
	in.r += m
	in.left -= m
	if in.given == recordHeader && in.left == 0 {
		in.have, in.given = 0, 0
	}
	in.GiveBack()
	return n + m
}

func (in *intake) unread() []byte {
	if in.block == nil {
		return nil
	}
	return in.block[in.r:in.w]
}

// inRecord reports whether a part of a record was received.
func (in *intake) inRecord() bool { return in.have > 0 }

// fill waits for bytes from the carrier.
func (c *TLSConn) fill() error {
	n, err := c.inner.ReadInto(&c.in)
	return c.filled(n, err)
}

// filled adds the bytes of a read from the carrier.
func (c *TLSConn) filled(n int, err error) error {
	c.in.w = n
	switch {
	case n > 0:
		return nil
	case err == nil || err == io.EOF:
		c.failure, err = io.ErrUnexpectedEOF, io.ErrUnexpectedEOF
	}
	c.in.GiveBack()
	return err
}

// ready reports whether pull has something to do.
func (c *TLSConn) ready() bool {
	return c.hasFirst || c.more || c.failure != nil || c.in.available() || c.closed.Load()
}

// pull decrypts bytes that were received into p. It returns errNothing if there are none.
func (c *TLSConn) pull(p []byte) (n int, err error) {
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	if c.hasFirst && len(p) > 0 {
		p[0], c.hasFirst, n = c.first, false, 1
	}
	for n < len(p) && c.failure == nil && (c.more || c.in.available()) {
		m, err := c.tls.Read(p[n:])
		n += m
		c.more = n == len(p)
		if m == 0 && err != errNothing {
			c.failure = err
		}
	}
	switch {
	case n > 0 || len(p) == 0:
		return n, nil
	case c.failure != nil:
		return 0, c.failure
	}
	return 0, errNothing
}

// Read implements Conn.
func (c *TLSConn) Read(p []byte) (int, error) {
	for {
		if c.ready() || len(p) == 0 {
			if n, err := c.pull(p); err != errNothing {
				return n, err
			}
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
}

// ReadInto implements Conn.
func (c *TLSConn) ReadInto(s Space) (int, error) {
	for {
		if c.ready() {
			if n, err := c.pull(s.Space()); err != errNothing {
				return n, err
			}
			s.GiveBack()
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
}

// TryRead implements Conn.
func (c *TLSConn) TryRead(p []byte) (n int, ok bool, err error) {
	for {
		if c.ready() {
			switch n, err = c.pull(p); err {
			case errNothing:
			case io.EOF:
				return 0, true, nil
			default:
				return n, true, err
			}
		}
		n, ok, err = c.inner.TryRead(c.in.Space())
		if !ok {
			c.in.GiveBack()
			return 0, false, nil
		}
		if err = c.filled(n, err); err != nil {
			return 0, true, err
		}
	}
}

// Quiet implements Conn. Records without content, such as a session ticket, do not count. A
// part of a record counts as something that has arrived, because its content is unknown.
func (c *TLSConn) Quiet() (quiet, surplus bool) {
	if quiet, _ := c.inner.Quiet(); quiet && !c.ready() {
		return !c.in.inRecord(), false
	}
	ended, _ := c.peek()
	return !ended && !c.hasFirst && !c.in.inRecord(), c.hasFirst
}

// peek decrypts the first byte that has arrived, if there is one. ended reports whether no
// more can be read, now or because of a deadline.
func (c *TLSConn) peek() (ended bool, err error) {
	if c.hasFirst {
		return false, nil
	}
	var p [1]byte
	n, ok, err := c.TryRead(p[:])
	if n > 0 {
		c.hasFirst, c.first = true, p[0]
	}
	return ok && n == 0, err
}

// Await is [NetConn.Await] for a connection whose carrier is a NetConn. The end of TLS is an
// end of the stream, too.
func (c *TLSConn) Await(hasEnded bool) (end bool, err error) {
	for {
		if ended, err := c.peek(); c.hasFirst || ended && err == nil && !hasEnded {
			return ended, nil
		}
		end, err = c.inner.(*NetConn).Await(hasEnded)
		if end || err != nil || hasEnded {
			return end, err
		}
	}
}
