package front

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/lazydeadline"
	"github.com/weirhq/weir/internal/transport"
)

// An engine serves the connections of clients.
type engine interface {
	// start serves an accepted connection. The engine sets c.Conn.
	start(c *clientConn, a transport.Accepted)
	// close ends the engine after the last connection.
	close()
}

// goroutines is the engine with a goroutine for each connection.
type goroutines struct{ server *server }

func (e goroutines) start(c *clientConn, a transport.Accepted) {
	nc, err := a.NetConn()
	if err != nil {
		c.finish()
		return
	}
	c.move(nc)
	e.server.serveAsync(c, incomplete, nil)
}

func (e goroutines) close() {}

// serveAsync serves a connection in a goroutine, from the given step.
func (s *server) serveAsync(c *clientConn, first step, failure *http1.Error) {
	s.serving.Go(func() { s.serveConn(c, first, failure) })
}

// serveConn serves a connection until its end.
func (s *server) serveConn(c *clientConn, step step, failure *http1.Error) {
	for r := newHeadReader(c); ; step, failure = c.next() {
		switch step {
		case http2Preface:
			c.serveHTTP2()
			return
		case refusedHeader:
			c.finish()
			return
		case badHead:
			c.refuse(failure.Status, failure.Reason)
			c.finish()
			return
		case clientHello:
			if c.handshake(transport.Goroutines, r.due) == nil {
				c.finish()
				return
			}
			r = newHeadReader(c)
		case incomplete:
			if !r.more() {
				c.finish()
				return
			}
		case completeHead:
			if r.due = (time.Time{}); !c.serveRequest(transport.Goroutines) {
				c.finish()
				return
			}
		}
	}
}

// A headReader knows when the head of a request must be complete.
type headReader struct {
	client *clientConn
	due    time.Time // when the head must be complete; zero if it has not begun
	want   time.Time // the deadline of the present read
}

// newHeadReader returns the headReader of a new connection. Its first head is due after
// the header timeout, even if it does not begin.
func newHeadReader(c *clientConn) headReader {
	return headReader{client: c, due: time.Now().Add(c.server.limits().HeaderTimeout)}
}

// more waits for more bytes of a head. It returns false if the connection has ended.
func (r *headReader) more() bool {
	c := r.client
	for r.arm() {
		n, err := c.ReadInto(c)
		switch {
		case n > 0:
			c.in.w += n
			return true
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false
		}
		switch r.expired() {
		case refuseSlow:
			c.refuse(slowHead.Status, slowHead.Reason)
			return false
		case endIdle:
			return false
		}
	}
	return false
}

// An expiry is what follows from a deadline that has passed.
type expiry uint8

const (
	waitOn     expiry = iota // the deadline was set to interrupt, or has moved
	refuseSlow               // the head has taken too long
	endIdle                  // no head has begun
)

// slowHead is the refusal of a head that takes too long.
var slowHead = &http1.Error{Status: 408, Reason: "the head of the request took too long"}

// expired is called when the read deadline has passed.
func (r *headReader) expired() expiry {
	c := r.client
	switch {
	case c.listener.ending.Load() || time.Now().Before(r.want):
		return waitOn
	case c.header.trusted() && c.in != nil:
		c.refuseHeader(headerSlow, nil)
	case c.inHead():
		return refuseSlow
	case c.awaitsHandshake():
		c.server.door.metrics.handshakes.count(handshake.Timeout)
	case !c.hasSeen():
		c.server.door.metrics.refusal(limitHeaderTime, allRoutes).Inc()
	}
	return endIdle
}

// arm sets the deadline of a read. It returns false if the connection must end and nothing
// has arrived.
func (r *headReader) arm() bool {
	c, limits := r.client, r.client.server.limits()
	now, timeout := time.Now(), limits.HeaderTimeout
	if c.in != nil && r.due.IsZero() {
		r.due = now.Add(timeout)
	}
	if r.want = r.due; r.due.IsZero() {
		timeout = limits.IdleTimeout
		r.want = now.Add(timeout)
	}
	ending := c.listener.ending.Load()
	if ending && (c.in == nil || !c.hasSeen()) {
		if _, arrived := c.Quiet(); !arrived {
			// A new connection, or one after its handshake, may be about to send its first request.
			r.want = r.due.Add(firstRequestGrace - timeout)
			if c.hasSeen() || !now.Before(r.want) {
				return false
			}
			timeout = firstRequestGrace
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener.ending.Load() != ending {
		return true // perhaps interrupted already
	}
	if next, change := lazydeadline.Next(c.readBy, r.want, timeout); change {
		c.setReadDeadline(next)
	}
	return true
}

// interrupt ends a read of more, because the connection must end. Over HTTP/2, it ends the
// connection after its requests.
func (c *clientConn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.http2 != nil:
		c.http2.drain()
	case c.shaking:
		c.setReadDeadline(time.Now().Add(handshakeGrace))
	case c.Conn != nil && c.busy == nil:
		c.setReadDeadline(past)
	}
}

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
		case c.stalled(&writes):
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
