package front

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// A lookout waits for the client of a request that takes long to leave.
type lookout struct {
	due   bool          // net/http has read ahead: the request is read to its end
	since uint64        // the watch's round in which it did
	ended chan struct{} // closed by the goroutine that waits; nil without one
	stop  bool          // it is to end
}

// readAheadRound counts the rounds of all watches. A read ahead notes it, which
// costs less than to look at the clock.
var readAheadRound atomic.Uint64

// readAheadAfter is how long a request is served, twice that at most, before
// its client is watched for leaving.
const readAheadAfter = 20 * time.Millisecond

// noteReadAhead notes that net/http reads ahead, which it does once a request:
// a second time, somebody wants that byte in earnest.
func (c *patientConn) noteReadAhead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plain || c.lookout.due {
		return false
	}
	c.lookout.due, c.lookout.since = true, readAheadRound.Load()
	return true
}

// watch begins to look out when net/http has read ahead before the given round.
func (c *patientConn) watch(round uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.lookout
	if l.due && l.since < round && l.ended == nil && !c.plain {
		l.ended = make(chan struct{})
		go c.lookOut(l.ended)
	}
}

// lookOut waits until the client leaves, sends more, or endLookout says that it
// is enough. It looks without taking anything from the socket.
func (c *patientConn) lookOut(ended chan struct{}) {
	defer close(ended)
	raw, err := c.TCPConn.SyscallConn()
	if err != nil {
		return // closed
	}
	for c.mayLook() {
		gone := false
		err := raw.Read(func(fd uintptr) bool {
			var space [1]byte
			n, _, err := syscall.Recvfrom(int(fd), space[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			gone = err == nil && n == 0 || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
			return err != syscall.EAGAIN && err != syscall.EINTR
		})
		if gone {
			c.left()
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// mayLook takes the socket's deadline away, which is net/http's for the next
// request, unless looking out is over.
func (c *patientConn) mayLook() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lookout.stop {
		return false
	}
	if !c.in.set.IsZero() {
		c.in.set = time.Time{}
		c.TCPConn.SetReadDeadline(c.in.set)
	}
	return true
}

// endLookout returns when nobody looks out any more.
func (c *patientConn) endLookout() {
	c.mu.Lock()
	c.lookout.due = false
	ended := c.lookout.ended
	if ended == nil {
		c.mu.Unlock()
		return
	}
	c.lookout.stop = true
	c.in.set = past
	c.TCPConn.SetReadDeadline(past)
	c.mu.Unlock()
	<-ended
	c.mu.Lock()
	c.lookout = lookout{}
	c.mu.Unlock()
}
