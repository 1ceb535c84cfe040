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

	mu       sync.Mutex // guards what follows
	reading  bool       // a read is under way on the socket
	want     time.Time  // the read deadline as asked for
	set      time.Time  // the read deadline of the socket
	writeSet bool       // the socket has a write deadline
	plain    bool       // out of net/http's hands: no read is one ahead
	lookout  lookout
}

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
	if isPast(c.want) {
		return os.ErrDeadlineExceeded
	}
	if !c.covered() {
		c.setNow()
	}
	c.reading = true
	return nil
}

// covered tells whether the socket's deadline will do. One that is early will:
// endRead sees to it.
func (c *patientConn) covered() bool {
	if c.want.IsZero() || isPast(c.set) {
		return !isPast(c.set)
	}
	return !c.set.IsZero() && !c.set.After(c.want.Add(deadlineSlack))
}

// setNow sets the socket's deadline to the one that is wanted, or a little
// later, so that it covers the next ones, too.
func (c *patientConn) setNow() {
	c.set = c.want
	if !c.want.IsZero() && !isPast(c.want) {
		c.set = c.want.Add(deadlineSlack)
	}
	c.TCPConn.SetReadDeadline(c.set) // an error shows in the read
}

// endRead tells whether a read's result is the caller's: not when it ended at
// a deadline that nobody asked for.
func (c *patientConn) endRead(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	if isPast(c.want) || !c.want.IsZero() && !time.Now().Before(c.want) {
		return true
	}
	c.setNow()
	return false
}

// SetReadDeadline implements net.Conn.
func (c *patientConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.want = t
	if c.reading && (isPast(t) || !c.covered()) {
		c.setNow()
	}
	return nil
}

// SetWriteDeadline implements net.Conn. net/http takes back a deadline after
// each request, whether it has set one or not.
func (c *patientConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	needed := c.writeSet || !t.IsZero()
	c.writeSet = !t.IsZero()
	c.mu.Unlock()
	if !needed {
		return nil
	}
	return c.TCPConn.SetWriteDeadline(t)
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
