package front

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A patientConn saves work that net/http spends on read deadlines and background
// reads. While a handler runs, a goroutine of net/http reads one byte, to notice that
// the client disconnects. When the handler returns, net/http interrupts the read with
// a deadline in the past. For a request of less than a millisecond, that is a failed
// read, a park, a wake-up and six deadlines: a tenth of the cost of the request.
// Therefore
//
//   - a background read returns immediately without data. Only during a slow request
//     does a goroutine wait for the client to disconnect (lookout.go), and call left;
//   - a deadline is recorded, and set on the socket only when an operation needs it
//     and the one on the socket does not serve: it may be late by deadlineSlack, and
//     an early one is set again when it expires.
//
// All other reads return as they would without this type, up to deadlineSlack later.
type patientConn struct {
	*net.TCPConn
	left func() // called by any goroutine when the client has disconnected

	mu      sync.Mutex // guards the fields below
	in, out deadline   // of reads and of writes
	reading bool       // a read on the socket is in progress
	writing bool       // a write is in progress
	plain   bool       // hijacked or HTTP/2: no read is a background read
	lookout lookout

	socketSpace *socketSpace // created on first use; only the writer uses it
}

// A deadline is the requested deadline and the one set on the socket.
type deadline struct{ want, set time.Time }

const deadlineSlack = time.Second

// isPast reports whether a deadline interrupts an operation. net/http and proxy use
// one second after the epoch for that.
func isPast(t time.Time) bool { return !t.IsZero() && t.Unix() < 1e9 }

// read is Read. ahead means that it is a background read.
func (c *patientConn) read(p []byte, ahead bool) (int, error) {
	if ahead && c.noteReadAhead() {
		return 0, nil
	}
	for {
		if err := c.beginRead(); err != nil {
			return 0, err
		}
		n, err := c.TCPConn.Read(p)
		if c.endRead(err) {
			return n, err
		}
	}
}

// beginRead sets the deadline for a read.
func (c *patientConn) beginRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isPast(c.in.want) {
		return os.ErrDeadlineExceeded
	}
	if !c.in.covered() {
		c.setIn()
	}
	c.reading = true
	return nil
}

// covered reports whether the deadline on the socket serves for the requested one.
// An early one does: when it expires, endRead sets the next one.
func (d *deadline) covered() bool {
	if d.want.IsZero() || isPast(d.set) {
		return !isPast(d.set)
	}
	return !d.set.IsZero() && !d.set.After(d.want.Add(deadlineSlack))
}

// next returns the deadline to set on the socket: the requested one, or a little
// later, so that it also serves for the following ones.
func (d *deadline) next() time.Time {
	d.set = d.want
	if !d.want.IsZero() && !isPast(d.want) {
		d.set = d.want.Add(deadlineSlack)
	}
	return d.set
}

// meant reports whether the requested deadline has passed.
func (d *deadline) meant() bool {
	return isPast(d.want) || !d.want.IsZero() && !time.Now().Before(d.want)
}

// setIn and setOut set the deadlines of the socket. The operations that follow
// return an error, if there is one.
func (c *patientConn) setIn()  { c.TCPConn.SetReadDeadline(c.in.next()) }
func (c *patientConn) setOut() { c.TCPConn.SetWriteDeadline(c.out.next()) }

// endRead reports whether the result of a read is final. It is not if the read ended
// at a deadline that was not requested.
func (c *patientConn) endRead(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || c.in.meant() {
		return true
	}
	c.setIn()
	return false
}

// SetReadDeadline implements net.Conn.
func (c *patientConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.want = t
	if c.reading && (isPast(t) || !c.in.covered()) {
		c.setIn()
	}
	return nil
}

// Write implements net.Conn.
func (c *patientConn) Write(p []byte) (n int, err error) {
	for {
		c.beginWrite()
		m, err := c.TCPConn.Write(p[n:])
		n += m
		if c.endWrite(err) {
			return n, err
		}
	}
}

func (c *patientConn) beginWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.out.covered() {
		c.setOut()
	}
	c.writing = true
}

// endWrite is endRead for writes.
func (c *patientConn) endWrite(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || c.out.meant() {
		return true
	}
	c.setOut()
	return false
}

// SetWriteDeadline implements net.Conn. net/http removes the deadline after each
// request, whether it has set one or not.
func (c *patientConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.want = t
	if c.writing && (isPast(t) || !c.out.covered()) {
		c.setOut()
	}
	return nil
}

// SetDeadline implements net.Conn.
func (c *patientConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// letGo ends the special treatment, because the connection is hijacked, is HTTP/2 or
// is being closed.
func (c *patientConn) letGo() {
	c.mu.Lock()
	c.plain = true
	c.mu.Unlock()
	c.endLookout()
}
