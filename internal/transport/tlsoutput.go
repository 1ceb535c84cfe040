package transport

import (
	"bytes"
	"errors"
	"net"
	"sync"
)

// maxReplies limits the unsent bytes that reading has caused, such as the responses to key
// updates (RFC 8446, section 4.6.3).
const maxReplies = 16 << 10

var errReplies = errors.New("transport: too many records of TLS to be answered")

// An output holds records until the carrier has taken them. Only the writer sends them. The
// reader may add some: a response to a key update precedes the next write, and an alert about
// a bad record is sent by Close.
type output struct {
	mu      sync.Mutex // guards the fields below
	block   *block     // the memory of unsent; nil without bytes
	unsent  []byte
	sending *block // the memory of records that are being sent
	busy    bool   // records are being sent, or none may be sent any more
}

// add adds a record. It fails if too many are unsent.
func (o *output) add(p []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.unsent)+len(p) > blockSize+maxReplies {
		return errReplies
	}
	if o.block == nil {
		o.block = takeBlock()
		o.unsent = o.block[:0]
	}
	o.unsent = append(o.unsent, p...)
	return nil
}

// begin returns the records to send, or nil without any. A call of end follows.
func (o *output) begin() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy || o.block == nil {
		return nil
	}
	b := o.unsent
	o.sending, o.block, o.unsent, o.busy = o.block, nil, nil, true
	return b
}

// end keeps the bytes that were not sent, before those that were added meanwhile.
func (o *output) end(rest []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch added := o.block; {
	case len(rest) == 0:
		o.sending.release()
	case added == nil:
		o.block, o.unsent = o.sending, rest
	default:
		o.block, o.unsent = o.sending, append(rest, o.unsent...)
		added.release()
	}
	o.sending, o.busy = nil, false
}

// last returns the records to send before the connection is closed. Nothing is sent
// afterwards.
func (o *output) last() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy || o.block == nil {
		return nil
	}
	b := bytes.Clone(o.unsent) // usually only an alert
	o.block.release()
	o.block, o.unsent, o.busy = nil, nil, true
	return b
}

// send sends the records, and keeps those that the carrier does not take. If wait is true,
// it waits until all are sent. left of total bytes remain.
func (c *TLSConn) send(wait bool) (total, left int, err error) {
	b := c.out.begin()
	if b == nil {
		return 0, 0, nil
	}
	n := 0
	if wait {
		n, err = c.inner.Write(b)
	} else {
		n, err = c.inner.TryWrite(b)
	}
	c.out.end(b[n:])
	return len(b), len(b) - n, err
}

// push encrypts a part of p, or continues with bytes that are encrypted already, and sends
// it. It returns how many bytes of p were taken. more is false if the carrier takes no more
// now.
func (c *TLSConn) push(p []byte, wait bool) (taken int, more bool, err error) {
	if c.closed.Load() {
		return 0, false, net.ErrClosed
	}
	if c.ahead == 0 {
		n := min(len(p), maxBatch)
		if _, err := c.tls.Write(p[:n]); err != nil {
			return 0, false, err
		}
		c.ahead = n
	}
	total, left, err := c.send(wait)
	taken = c.ahead
	if left > 0 {
		// The bytes that count as taken are in proportion to those of the records. At least
		// one does not count, so that the caller comes back.
		taken -= (c.ahead*left + total - 1) / total
	}
	taken = min(taken, len(p))
	c.ahead -= taken
	return taken, left == 0, err
}

// Write implements Conn.
func (c *TLSConn) Write(p []byte) (int, error) { return c.write(p, true) }

// TryWrite implements Conn.
func (c *TLSConn) TryWrite(p []byte) (int, error) { return c.write(p, false) }

func (c *TLSConn) write(p []byte, wait bool) (written int, err error) {
	for more := true; written < len(p) && more && err == nil; {
		var n int
		n, more, err = c.push(p[written:], wait)
		written += n
	}
	return written, err
}

// WriteReadInto implements Conn.
func (c *TLSConn) WriteReadInto(p []byte, s Space) (written, n int, writeErr, readErr error) {
	written, writeErr = c.TryWrite(p)
	if writeErr == nil && written == len(p) {
		n, readErr = c.ReadInto(s)
	}
	return written, n, writeErr, readErr
}

// Room implements Conn.
func (c *TLSConn) Room() (int, error) { return c.inner.Room() }
