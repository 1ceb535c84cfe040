package wire

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

// A watch notices that the client of a slow request disconnects, for the driver of
// goroutines. Its fields are guarded by the mutex of the connection.
type watch struct {
	due   bool          // the request is read completely, so the connection is watched
	since uint64        // the watchRound in which that happened
	ended chan struct{} // closed by the watching goroutine; nil if there is none
	stop  bool          // the goroutine must end
}

// watchRound counts the ticks of all servers. A request records it, because that costs
// less than reading the clock.
var watchRound atomic.Uint64

const (
	// watchAfter is the interval of the rounds. The client of a request is watched after
	// one to two intervals.
	watchAfter = 20 * time.Millisecond
	// halfCloseGrace is the longest pause of a response, or before it, after the client has
	// closed its side of the connection. Then the client counts as disconnected.
	halfCloseGrace = time.Second
)

func (w *watch) begin() { w.due, w.since = true, watchRound.Load() }

// watchSlow starts to watch the connections with slow requests, until stop is closed.
func (cs *conns) watchSlow(stop <-chan struct{}, inFlight func() bool) {
	tick := time.NewTicker(watchAfter)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if round := watchRound.Add(1) - 1; inFlight() {
			cs.each(func(c *clientConn) { c.startWatch(round) })
		}
	}
}

// startWatch starts the watching goroutine if the request was read before the given round.
func (c *clientConn) startWatch(round uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.awaiter()
	if w := &c.watch; conn != nil && w.due && w.since < round && w.ended == nil {
		w.ended = make(chan struct{})
		go c.watchClient(conn, w.ended)
	}
}

// An awaiter is a connection of the driver of goroutines. Its Await is that of
// [transport.NetConn].
type awaiter interface {
	Await(hasEnded bool) (end bool, err error)
}

// awaiter returns nil for a connection on a loop. The caller holds mu.
func (c *clientConn) awaiter() awaiter {
	switch conn := c.Conn.(type) {
	case *transport.NetConn:
		return conn
	case *transport.TLSConn:
		if _, ok := conn.Carrier().(*transport.NetConn); ok {
			return conn
		}
	}
	return nil
}

// watchClient cancels the exchange if the client disconnects. It ends when the client
// sends more, or when endWatch is called. It leaves all bytes in the socket.
func (c *clientConn) watchClient(conn awaiter, ended chan struct{}) {
	defer close(ended)
	hasEnded, writes := false, uint64(0)
	for limit := (time.Time{}); c.mayWatch(limit); {
		end, err := conn.Await(hasEnded)
		switch {
		case err == nil && !end:
			return
		case err == nil:
			hasEnded, writes, limit = true, c.writes.Load(), time.Now().Add(halfCloseGrace)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			c.leave()
			return
		case limit.IsZero(): // a deadline of the time before the request
		case time.Now().Before(limit): // interrupted
		case c.checkStalled(&writes):
			c.leave()
			return
		default:
			limit = time.Now().Add(halfCloseGrace)
		}
	}
}

// mayWatch reports whether to continue. If so, it sets the deadline of the socket.
func (c *clientConn) mayWatch(limit time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch.stop {
		return false
	}
	c.setReadDeadline(limit)
	return true
}

// endWatch ends the watch and waits for its goroutine.
func (c *clientConn) endWatch() {
	c.mu.Lock()
	c.watch.due = false
	ended := c.watch.ended
	if ended == nil {
		c.mu.Unlock()
		return
	}
	c.watch.stop = true
	c.setReadDeadline(past)
	c.mu.Unlock()
	<-ended
	c.mu.Lock()
	c.watch = watch{}
	c.mu.Unlock()
}
