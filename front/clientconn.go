package front

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// clientConn is a client's connection under net/http. It knows what net/http
// does not tell its handlers: when the client leaves, and when an answer is
// written to its last byte. And it keeps from net/http what that would repair.
type clientConn struct {
	patientConn
	server  *server
	client  netip.Addr // that it counts for; not valid for none
	framing framing

	// serving tells that a head was read and is not answered yet. It changes
	// between reads: net/http ends them before it says so.
	serving bool

	busyMu sync.Mutex // guards what follows
	busy   *held      // the exchange under way over HTTP/1
	gone   bool       // the client has left
	seen   bool       // it has sent a request, or begun to speak HTTP/2
	past   bool       // no head of HTTP/1 will follow
}

func newClientConn(nc *net.TCPConn, s *server) *clientConn {
	c := &clientConn{server: s}
	c.patientConn = patientConn{TCPConn: nc, left: c.leave}
	return c
}

// Read implements net.Conn. Reads of one byte behind a head are net/http's
// reading ahead.
func (c *clientConn) Read(p []byte) (int, error) {
	ahead := c.serving && len(p) == 1
	if c.framing.err != nil && !ahead {
		return 0, c.refuse()
	}
	n, err := c.patientConn.read(p, ahead)
	if n == 0 && err != nil && !ahead {
		c.noteTimeout(err)
	}
	if n == 0 || c.framing.state == outOfSight {
		return n, err
	}
	if n = c.framing.inspect(p[:n]); c.framing.state == outOfSight {
		c.finish()
	}
	if n == 0 {
		return 0, c.refuse()
	}
	return n, nil // err comes again
}

// refuse returns why there is nothing more to read. When that is about a head,
// it is answered here: net/http would close without a word where a connection
// has carried a request before. A body is for who reads it to complain of.
func (c *clientConn) refuse() error {
	if why, ok := c.framing.err.(ambiguity); ok && c.between() {
		c.Write(answerTo(why))
		c.framing.err = &net.OpError{Op: "read", Net: "tcp", Err: why} // net/http adds no answer to it
	}
	return c.framing.err
}

// noteTimeout answers a head that takes too long, and counts it. net/http closes
// the connection without a word.
func (c *clientConn) noteTimeout(err error) {
	if !errors.Is(err, os.ErrDeadlineExceeded) || c.framing.state == outOfSight || !c.between() {
		return
	}
	switch {
	case c.framing.inHead():
		c.framing.err = err // net/http may read again
		c.Write(answerTimeout)
	case c.isFresh():
		c.framing.err = err
		c.server.door.metrics.refusal(limitHeaderTime, allRoutes).Inc()
	}
}

// isFresh tells whether the connection has not carried a request.
func (c *clientConn) isFresh() bool {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	return !c.seen
}

// isHTTP2 tells whether the client has begun to speak HTTP/2.
func (c *clientConn) isHTTP2() bool { return c.framing.state == outOfSight }

// Write implements net.Conn. An error that is written while no exchange is
// under way is net/http's own: it could not read a request.
func (c *clientConn) Write(p []byte) (int, error) {
	if !isRefusal(p) || !c.between() {
		return c.patientConn.Write(p)
	}
	c.server.door.noteRefusal(c, p)
	defer c.linger()
	c.TCPConn.SetWriteDeadline(time.Now().Add(refusalLinger))
	return c.TCPConn.Write(p)
}

// refusalLinger is how long a client may take to close a connection on which a
// request was refused.
const refusalLinger = 500 * time.Millisecond

// linger waits for the client to close the connection, and throws away what it
// still sends: net/http is about to close, and a connection that is closed with
// bytes unread is reset, and its client may lose the answer.
func (c *clientConn) linger() {
	c.TCPConn.CloseWrite()
	c.TCPConn.SetReadDeadline(time.Now().Add(refusalLinger))
	var space [512]byte // thousands may be waited for, and few have much to say
	for n := 0; n < 4*maxHead; {
		m, err := c.TCPConn.Read(space[:])
		if n += m; err != nil {
			return
		}
	}
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.busyMu.Lock()
	c.see()
	c.busyMu.Unlock()
	c.server.conns.remove(c)
	c.letGo()
	return c.TCPConn.Close()
}

// leave cancels the exchange that the client does not wait for any more. That
// may become known before there is one.
func (c *clientConn) leave() {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	c.gone = true
	if c.busy != nil {
		c.busy.Cancel()
	}
}

// hold makes the exchange the one that the connection is busy with.
func (c *clientConn) hold(h *held) {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	c.busy = h
	if c.gone {
		h.Cancel()
	}
	c.see()
}

// see notes that the connection is not fresh any more. The caller holds busyMu.
func (c *clientConn) see() {
	if !c.seen {
		c.seen = true
		c.server.conns.fresh.Add(-1)
	}
}

// between tells whether the connection is HTTP/1 and between two requests.
func (c *clientConn) between() bool {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	return c.busy == nil && !c.past
}

// finish notes that the connection carries no further request of HTTP/1, and
// releases the exchange if there is one.
func (c *clientConn) finish() {
	c.busyMu.Lock()
	c.past = true
	c.see()
	c.busyMu.Unlock()
	c.letGo()
	c.release()
}

// release gives the exchange back to the pool, once its answer is written or
// never will be.
func (c *clientConn) release() {
	c.endLookout()
	c.busyMu.Lock()
	h := c.busy
	c.busy = nil
	c.busyMu.Unlock()
	if h != nil {
		h.recycle()
	}
}

// stateChanged is told by net/http what a connection is doing.
func stateChanged(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*clientConn)
	if !ok || c.isHTTP2() {
		return
	}
	switch state {
	case http.StateActive:
		c.serving = true
	case http.StateIdle:
		c.release()
		c.serving = false
	case http.StateClosed:
		c.release()
	case http.StateHijacked:
		c.framing.state = outOfSight
		c.letGo()
	}
}

// conns are the connections of clients that are open, those included that
// net/http has let go of.
type conns struct {
	fresh atomic.Int64 // how many have not sent a request yet

	most      int            // how many there may be; 0 for any number
	mostOfOne int            // how many of one client; 0 for any number
	exempt    []netip.Prefix // clients for whom mostOfOne does not hold

	mu      sync.Mutex // guards what follows
	set     map[*clientConn]struct{}
	clients map[netip.Addr]int // connections by client, when these are counted
}

// admit adds a connection of s, unless there are too many: then it returns the
// limit that says so.
func (cs *conns) admit(nc *net.TCPConn, s *server) (c *clientConn, broken limitName) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.most > 0 && len(cs.set) >= cs.most {
		return nil, limitConnections
	}
	var client netip.Addr
	if cs.mostOfOne > 0 {
		client = cs.countedFor(nc.RemoteAddr())
		if client.IsValid() && cs.clients[client] >= cs.mostOfOne {
			return nil, limitPerClient
		}
	}
	c = newClientConn(nc, s)
	c.client = client
	if cs.set == nil {
		cs.set, cs.clients = make(map[*clientConn]struct{}), make(map[netip.Addr]int)
	}
	if c.client.IsValid() {
		cs.clients[c.client]++
	}
	cs.set[c] = struct{}{}
	cs.fresh.Add(1)
	return c, ""
}

// countedFor returns the address that a connection counts for: the client's, or
// the first of its /64 of IPv6. It is not valid for a client that may have any
// number.
func (cs *conns) countedFor(remote net.Addr) netip.Addr {
	addr := remote.(*net.TCPAddr).AddrPort().Addr().WithZone("").Unmap()
	for _, p := range cs.exempt {
		if p.Contains(addr) {
			return netip.Addr{}
		}
	}
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}

func (cs *conns) remove(c *clientConn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if _, ok := cs.set[c]; !ok {
		return
	}
	delete(cs.set, c)
	if !c.client.IsValid() {
		return
	}
	if cs.clients[c.client]--; cs.clients[c.client] == 0 {
		delete(cs.clients, c.client)
	}
}

func (cs *conns) len() int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return len(cs.set)
}

// each calls f for every connection.
func (cs *conns) each(f func(*clientConn)) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.set {
		f(c)
	}
}

// closeFresh closes the connections that have not sent a request.
func (cs *conns) closeFresh() {
	cs.each(func(c *clientConn) {
		c.busyMu.Lock()
		defer c.busyMu.Unlock()
		if !c.seen {
			c.TCPConn.Close() // net/http sees it, and closes c
		}
	})
}

// watch has the connections look out for their clients whose requests take
// long, until stop is closed.
func (cs *conns) watch(stop <-chan struct{}, inFlight func() bool) {
	tick := time.NewTicker(readAheadAfter)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if round := readAheadRound.Add(1) - 1; inFlight() {
			cs.each(func(c *clientConn) { c.patientConn.watch(round) })
		}
	}
}
