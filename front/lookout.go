package front

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// A lookout watches for the disconnect of the client of a slow request.
type lookout struct {
	due   bool          // net/http has started its background read: the request is read completely
	since uint64        // the readAheadRound in which that read began
	ended chan struct{} // closed by the watching goroutine; nil if there is none
	stop  bool          // the goroutine must end
}

// readAheadRound counts the ticks of all watches. A background read records it,
// because that costs less than reading the clock.
var readAheadRound atomic.Uint64

// readAheadAfter is the interval of the rounds. The client of a request is watched
// after one to two intervals.
const readAheadAfter = 20 * time.Millisecond

// noteReadAhead records the background read of net/http and reports whether this is
// one. There is one for each request; a second read of one byte is a real read.
func (c *patientConn) noteReadAhead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plain || c.lookout.due {
		return false
	}
	c.lookout.due, c.lookout.since = true, readAheadRound.Load()
	return true
}

// watch starts the watcher if the background read began before the given round.
func (c *patientConn) watch(round uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.lookout
	if l.due && l.since < round && l.ended == nil && !c.plain {
		l.ended = make(chan struct{})
		go c.lookOut(l.ended)
	}
}

// lookOut waits until the client disconnects or sends more, or until endLookout is
// called. It peeks and so leaves all bytes in the socket.
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

// mayLook reports whether to continue. If so, it removes the deadline of the socket,
// which net/http has set for the next request.
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

// endLookout ends the watcher and waits for it.
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
