package front

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// patientConn saves what net/http spends on its read deadlines and on reading
// ahead. While a handler runs, net/http has a goroutine read one byte, to learn
// whether the client leaves, and interrupts it with a deadline in the past when
// the handler is done; for a request that takes less than a millisecond that is
// a read in vain, a park and a wake, and six deadlines, a tenth of what the
// whole request costs. So here
//
//   - a read ahead is noted, and returns at once with nothing. Only behind a
//     request that takes long does a goroutine wait for the client to leave
//     (lookout.go), and left is called when it does;
//   - a deadline is noted, and set on the socket when a read needs it that is
//     not covered by the one that is set: one that is late by up to
//     deadlineSlack is good enough, and one that is early is set again.
//
// Every other read returns as it would without this type, up to deadlineSlack
// later.
type patientConn struct {
	*net.TCPConn
	left func() // called, by any goroutine, when the client has left

	mu      sync.Mutex // guards what follows
	in, out deadline   // of reads and of writes
	reading bool       // a read is under way on the socket
	writing bool       // a write is
	plain   bool       // out of net/http's hands: no read is one ahead
	lookout lookout

	socketSpace *socketSpace // created on first use; only the writer uses it
}

// A deadline is one as it was asked for, and as the socket has it.
type deadline struct{ want, set time.Time }

const deadlineSlack = time.Second

// isPast tells of the deadlines that are set to interrupt: net/http's is a
// second behind the epoch, and so is proxy's.
func isPast(t time.Time) bool { return !t.IsZero() && t.Unix() < 1e9 }

// read is Read, of a goroutine that reads ahead or not.
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

// beginRead sets the deadline that a read needs.
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

// covered tells whether the socket's deadline will do. One that is early will:
// who meets it has another look.
func (d *deadline) covered() bool {
	if d.want.IsZero() || isPast(d.set) {
		return !isPast(d.set)
	}
	return !d.set.IsZero() && !d.set.After(d.want.Add(deadlineSlack))
}

// next makes the socket's deadline the one that is wanted, or a little later, so
// that it covers the next ones, too.
func (d *deadline) next() time.Time {
	d.set = d.want
	if !d.want.IsZero() && !isPast(d.want) {
		d.set = d.want.Add(deadlineSlack)
	}
	return d.set
}

// meant tells whether a deadline that was met is one that was asked for.
func (d *deadline) meant() bool {
	return isPast(d.want) || !d.want.IsZero() && !time.Now().Before(d.want)
}

// setIn and setOut set the socket's deadlines; an error shows in what follows.
func (c *patientConn) setIn()  { c.TCPConn.SetReadDeadline(c.in.next()) }
func (c *patientConn) setOut() { c.TCPConn.SetWriteDeadline(c.out.next()) }

// endRead tells whether a read's result is the caller's: not when it ended at
// a deadline that nobody asked for.
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

// endWrite is to writes what endRead is to reads.
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

// SetWriteDeadline implements net.Conn. net/http takes back a deadline after
// each request, whether it has set one or not.
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

// letGo ends the patience: the connection is somebody else's now.
func (c *patientConn) letGo() {
	c.mu.Lock()
	c.plain = true
	c.mu.Unlock()
	c.endLookout()
}
