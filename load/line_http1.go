package load

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/answer"
	"github.com/weirhq/weir/load/internal/program"
)

// An http1Line speaks HTTP/1.1, with TLS or without. Several exchanges may be
// under way (pipelining): requests are written one after the other, and each
// waits for its turn to read.
type http1Line struct {
	server string
	tls    *tls.Config // nil for plain TCP

	mu sync.Mutex // guards what follows, and orders requests
	c  *http1Conn
}

// An http1Conn is a connection; what follows mu belongs to whose turn it is.
type http1Conn struct {
	net.Conn // counted, or TLS over it
	counted  *countedConn
	turn     chan struct{} // closed when the last one that has sent has read; guarded by the line's lock

	parser answer.Parser
	in     []byte
	rest   []byte // of in: the next answer's
	end    error  // why the connection is of no more use, if it is not
}

// open implements line.
func (l *http1Line) open(ctx context.Context) (opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.c != nil && l.c.gone()
	if lost {
		l.c.Close()
		l.c = nil
	}
	if l.c != nil {
		return opened{}, nil
	}
	counted, o, err := dial(ctx, l.server)
	o.lost = lost
	if err != nil {
		return o, err
	}
	var c net.Conn = counted
	if l.tls != nil {
		if c, err = secure(ctx, c, l.tls, &o); err != nil {
			return opened{lost: lost}, err
		}
	}
	turn := make(chan struct{})
	close(turn)
	l.c = &http1Conn{Conn: c, counted: counted, turn: turn, in: make([]byte, 16<<10)}
	return o, nil
}

// exchange implements line.
func (l *http1Line) exchange(ctx context.Context, m *program.Message, watch exchangeWatch) (outcome, error) {
	watch.sending()
	c, q, err := l.send(ctx, m)
	if c == nil {
		return outcome{}, errGone
	}
	defer close(q.done)
	var o outcome
	<-q.before
	if err == nil {
		err = c.end
	}
	if err == nil {
		err = c.receive(m.NoBody, watch.began, &o)
	}
	c.counted.settle(&o)
	if failKind(err) == timeout {
		err = errTimeout
	}
	if !q.stop() || err != nil || o.last {
		c.end = cmp.Or(c.end, err, errClosed)
		o.last = l.leave(c)
	}
	return o, err
}

// A queued exchange has a place in the order of the answers: it is its turn when
// before is closed, and it closes done after it. Until stop is called the
// connection ends with the exchange's context, for all that are under way on it;
// stop tells whether it has not. Nothing gives it more time again, so that nobody
// waits longer than the first of them may.
type queued struct {
	before, done chan struct{}
	stop         func() bool
}

// send writes the request and takes a place. There is no connection when c is
// nil.
func (l *http1Line) send(ctx context.Context, m *program.Message) (c *http1Conn, q queued, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.c; c == nil {
		return nil, queued{}, nil
	}
	q = queued{before: c.turn, done: make(chan struct{})}
	c.turn = q.done
	q.stop = context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	_, err = c.Write(m.Head)
	if err == nil && m.File != nil {
		_, err = io.Copy(c.Conn, io.NewSectionReader(m.File, 0, m.Size))
	}
	return c, q, err
}

// gone tells that the server has closed a connection that nobody uses. A request
// on it would be lost, though nobody has heard of it.
func (c *http1Conn) gone() bool {
	select {
	case <-c.turn:
		return hungUp(c.counted.Conn)
	default: // who uses it finds out
		return false
	}
}

// receive reads an answer.
func (c *http1Conn) receive(noBody bool, began func(), o *outcome) error {
	for first := true; ; {
		if len(c.rest) == 0 {
			n, err := c.Read(c.in)
			c.rest = c.in[:n]
			if n == 0 && errors.Is(err, io.EOF) {
				return c.endOfStream(o)
			}
			if n == 0 && err != nil {
				return err
			}
		}
		if first {
			first = false
			began()
		}
		n, done, err := c.parser.Feed(c.rest, noBody)
		c.rest = c.rest[n:]
		if err != nil {
			return &kindError{badAnswer, err}
		}
		if done {
			o.status, o.last = c.parser.Status(), c.parser.Close()
			return nil
		}
	}
}

// endOfStream tells whether the end of the stream is the answer's.
func (c *http1Conn) endOfStream(o *outcome) error {
	whole, err := c.parser.EOF()
	if !whole {
		return closedEarly(err)
	}
	o.status, o.last = c.parser.Status(), true
	return nil
}

// leave closes a connection that is of no more use, and tells whether it was
// open.
func (l *http1Line) leave(c *http1Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Close()
	open := l.c == c
	if open {
		l.c = nil
	}
	return open
}

// close implements line.
func (l *http1Line) close() (o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		l.c.Close()
		l.c.counted.settle(&o)
		l.c = nil
	}
	return o
}
