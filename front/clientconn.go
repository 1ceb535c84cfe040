package front

import (
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// clientConn is a client's connection under net/http. It knows what net/http
// does not tell its handlers: when the client leaves, when an answer is
// written to its last byte, and what stood in a head that net/http has
// already interpreted.
type clientConn struct {
	patientConn
	server *server
	heads  absoluteHeads

	busyMu sync.Mutex
	busy   *held // the exchange under way over HTTP/1, guarded by busyMu
}

func newClientConn(nc *net.TCPConn, s *server) *clientConn {
	c := &clientConn{server: s}
	c.patientConn.init(nc)
	return c
}

// Read implements net.Conn. Reads of one byte are net/http's reading ahead; an
// error then means that the client is not there any more.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.patientConn.Read(p)
	if err != nil && len(p) == 1 && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.leave()
	}
	if n > 0 {
		c.heads.look(p[:n])
	}
	return n, err
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.server.conns.remove(c)
	c.letGo()
	return c.TCPConn.Close()
}

// leave cancels the exchange that the client does not wait for any more.
func (c *clientConn) leave() {
	c.busyMu.Lock()
	defer c.busyMu.Unlock()
	if c.busy != nil {
		c.busy.Cancel()
	}
}

// hold makes the exchange the one that the connection is busy with.
func (c *clientConn) hold(h *held) {
	c.busyMu.Lock()
	c.busy = h
	c.busyMu.Unlock()
}

// release gives the exchange back to the pool, once its answer is written or
// never will be.
func (c *clientConn) release() {
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
	if !ok {
		return
	}
	switch state {
	case http.StateIdle, http.StateClosed:
		c.release()
	case http.StateHijacked:
		c.letGo()
	}
}

// conns are the connections of clients that are open, those included that
// net/http has let go of.
type conns struct {
	mu  sync.Mutex
	set map[*clientConn]struct{} // guarded by mu
}

func (cs *conns) add(c *clientConn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.set == nil {
		cs.set = make(map[*clientConn]struct{})
	}
	cs.set[c] = struct{}{}
}

func (cs *conns) remove(c *clientConn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.set, c)
}

// each calls f for every connection.
func (cs *conns) each(f func(*clientConn)) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.set {
		f(c)
	}
}

// readAheadRound counts the rounds of all watches. A goroutine that waits to
// read ahead notes it, which costs less than to look at the clock.
var readAheadRound atomic.Uint64

// readAheadAfter is how long a request is served, twice that at most, before
// its client is watched for leaving.
const readAheadAfter = 20 * time.Millisecond

// watch has the connections read ahead whose requests take long, until stop is
// closed.
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
