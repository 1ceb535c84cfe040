package front

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

const (
	// turnAwayLinger is how long a client that is turned away may take to close
	// the connection.
	turnAwayLinger = 50 * time.Millisecond
	// turnedAway is how many may do so at once; others are not waited for.
	turnedAway = 16
	// turnAwayDrain is how much of what such a client sends is read.
	turnAwayDrain = 16 << 10
)

// answerBusy is what a client gets that is turned away, whatever it asks for.
var answerBusy = []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Content-Length: 24\r\nRetry-After: 1\r\nConnection: close\r\n\r\n503 Service Unavailable\n")

// turnAway tells a client that its connection is one too many, and closes it.
// Closed at once, with what the client sends unread, it would be reset and the
// answer lost; so that is waited for, though not by too many at once.
func (s *server) turnAway(nc *net.TCPConn, broken limitName) {
	s.door.metrics.refusal(broken, allRoutes).Inc()
	s.crowd.note(broken)
	nc.SetDeadline(time.Now().Add(turnAwayLinger))
	nc.Write(answerBusy) // fits the buffer of a new socket
	nc.CloseWrite()
	if broken != limitFiles {
		select {
		case s.turning <- struct{}{}:
			s.turned.Go(func() {
				io.CopyN(io.Discard, nc, turnAwayDrain)
				nc.Close()
				<-s.turning
			})
			return
		default:
		}
	}
	nc.Close()
}

// A crowd tells the log of connections that are turned away: of the first at
// once, then of how many there were, at most once a crowdPause.
type crowd struct {
	log *log.Logger

	mu     sync.Mutex // guards what follows
	counts map[limitName]int
	timer  *time.Timer // nil when nothing was turned away for a while
}

const (
	eventTurnedAway = "connections turned away"
	crowdPause      = time.Second
)

// note counts a connection.
func (c *crowd) note(broken limitName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.counts[broken]++
		return
	}
	c.counts = map[limitName]int{broken: 1}
	c.tell()
	c.timer = time.AfterFunc(crowdPause, c.again)
}

// again tells of those since the last time.
func (c *crowd) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		return // ended
	}
	if len(c.counts) == 0 {
		c.timer = nil
		return
	}
	c.tell()
	c.timer.Reset(crowdPause)
}

// tell logs the counts and forgets them. The caller holds mu.
func (c *crowd) tell() {
	for broken, n := range c.counts {
		c.log.Warn(eventTurnedAway).Str("limit", string(broken)).Int("count", n).Send()
	}
	clear(c.counts)
}

// end tells what is left to tell.
func (c *crowd) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}
