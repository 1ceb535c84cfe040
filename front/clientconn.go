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

// A clientConn is the connection of a client that net/http reads and writes. It
// provides two facts that net/http hides from handlers: when the client disconnects,
// and when a response is completely written. It also rejects ambiguous requests,
// which net/http would repair.
type clientConn struct {
	patientConn
	server  *server
	client  netip.Addr // counted for connections_per_client; the zero value if it is not
	framing framing

	// serving is true from the head of a request to the end of its response. It
	// changes between reads: net/http ends a read before it reports a state.
	serving bool

	busyMu sync.Mutex // guards the fields below
	busy   *held      // the exchange in progress over HTTP/1
	gone   bool       // the client has disconnected
	seen   bool       // it has sent a request or the preface of HTTP/2
	past   bool       // no further request of HTTP/1 follows
}

func newClientConn(nc *net.TCPConn, s *server) *clientConn {
	c := &clientConn{server: s}
	c.patientConn = patientConn{TCPConn: nc, left: c.leave}
	return c
}

// Read implements net.Conn. After the head of a request, a read of one byte is the
// background read of net/http.
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
	return n, nil // the next read returns err again
}

// refuse returns the error of the framing. If the error is in a head, refuse also
// sends a response, because net/http sends none on a connection that has carried a
// request. The reader of a body handles an error in it.
func (c *clientConn) refuse() error {
	if why, ok := c.framing.err.(ambiguity); ok && c.between() {
		c.Write(answerTo(why))
		c.framing.err = &net.OpError{Op: "read", Net: "tcp", Err: why} // net/http sends no response for a net.OpError
	}
	return c.framing.err
}

// noteTimeout responds to a head that takes too long, and counts it. net/http only
// closes the connection.
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

// isFresh reports whether the connection has not carried a request.
func (c *clientConn) isFresh() bool {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	return !c.seen
}

// isHTTP2 reports whether the client has sent the preface of HTTP/2.
func (c *clientConn) isHTTP2() bool { return c.framing.state == outOfSight }

// Write implements net.Conn. An error response while no exchange is in progress
// comes from net/http itself, which could not read a request.
func (c *clientConn) Write(p []byte) (int, error) {
	if !isRefusal(p) || !c.between() {
		return c.patientConn.Write(p)
	}
	c.server.door.noteRefusal(c, p)
	defer c.linger()
	c.TCPConn.SetWriteDeadline(time.Now().Add(refusalLinger))
	return c.TCPConn.Write(p)
}

// refusalLinger is how long a client may take to close a connection after a refused
// request.
const refusalLinger = 500 * time.Millisecond

// linger waits until the client closes the connection, and discards its bytes.
// net/http is about to close the connection. Closing it with unread bytes would
// reset it, and the client might lose the response.
func (c *clientConn) linger() {
	c.TCPConn.CloseWrite()
	c.TCPConn.SetReadDeadline(time.Now().Add(refusalLinger))
	var space [512]byte // small, because thousands of connections may linger
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

// leave cancels the exchange because the client has disconnected. It may be called
// before there is an exchange.
func (c *clientConn) leave() {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	c.gone = true
	if c.busy != nil {
		c.busy.Cancel()
	}
}

// hold sets the exchange in progress.
func (c *clientConn) hold(h *held) {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	c.busy = h
	if c.gone {
		h.Cancel()
	}
	c.see()
}

// see records that the connection has carried a request. The caller holds busyMu.
func (c *clientConn) see() {
	if !c.seen {
		c.seen = true
		c.server.conns.fresh.Add(-1)
	}
}

// between reports whether the connection is between two requests of HTTP/1.
func (c *clientConn) between() bool {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	return c.busy == nil && !c.past
}

// finish records that no further request of HTTP/1 follows, and releases the
// exchange if there is one.
func (c *clientConn) finish() {
	c.busyMu.Lock()
	c.past = true
	c.see()
	c.busyMu.Unlock()
	c.letGo()
	c.release()
}

// release returns the exchange to the pool, after its response is written or
// abandoned.
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

// stateChanged is the ConnState hook of the public server.
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

// conns are the open connections of clients, including hijacked ones.
type conns struct {
	fresh atomic.Int64 // number of connections that have not sent a request

	most      int            // maximum number of connections; 0 for no limit
	mostOfOne int            // maximum number for one client; 0 for no limit
	exempt    []netip.Prefix // clients without the limit mostOfOne

	mu      sync.Mutex // guards the fields below
	set     map[*clientConn]struct{}
	clients map[netip.Addr]int // number of connections by client, if counted
}

// admit adds a connection of s. If it would exceed a limit, admit returns the limit
// instead.
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

// countedFor returns the address for which a connection counts: that of the client,
// or the first of its IPv6 /64. It is invalid for a client without a limit.
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
			c.TCPConn.Close() // net/http notices and closes c
		}
	})
}

// watch starts the disconnect watchers of connections with slow requests, until stop
// is closed.
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
