package wire

import (
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/transport"
)

// An engine serves the connections of clients.
type engine interface {
	// start serves an accepted connection. The engine sets c.Conn.
	start(c *clientConn, a transport.Accepted)
	// close ends the engine after the last connection.
	close()
	// cpu returns the CPU time of each event loop.
	cpu() []time.Duration
}

// goroutines is the engine with a goroutine for each connection.
type goroutines struct{ server *shared }

func (e goroutines) start(c *clientConn, a transport.Accepted) {
	nc, err := a.NetConn()
	if err != nil {
		c.finish()
		return
	}
	c.move(nc)
	e.server.serveAsync(c, incomplete, nil)
}

func (e goroutines) cpu() []time.Duration { return nil }

func (e goroutines) close() {}

// serveAsync serves a connection in a goroutine, from the given step.
func (s *shared) serveAsync(c *clientConn, first step, failure *http1.Error) {
	s.serving.Go(func() { s.serveConn(c, first, failure) })
}

// serveConn serves a connection until its end.
func (s *shared) serveConn(c *clientConn, step step, failure *http1.Error) {
	for r := newHeadReader(c); ; step, failure = c.next() {
		switch step {
		case http2Preface:
			c.serveHTTP2()
			return
		case refusedHeader:
			c.finish()
			return
		case refusal:
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
