package line

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/response"
)

// An http1Line speaks HTTP/1.1, with or without TLS. Several exchanges may be under
// way (pipelining): each writes its request and then waits for its turn to read.
type http1Line struct {
	server string
	tls    *tls.Config // nil for plain TCP

	mu sync.Mutex // guards c, and orders requests
	c  *http1Conn
}

// An http1Conn is a connection. The fields after turn belong to the exchange whose
// turn it is.
type http1Conn struct {
	net.Conn // counted, or TLS over counted
	counted  *countedConn
	turn     chan struct{} // done of the last exchange that has sent; guarded by the line's lock

	parser response.Parser
	in     []byte
	unread []byte // part of in: bytes of the next response
	end    error  // why the connection is not usable; nil if it is
}

// HTTP1 returns a line of HTTP/1.1. The configuration of TLS is nil for plain TCP.
func HTTP1(server string, config *tls.Config) Line { return &http1Line{server: server, tls: config} }

// Open implements Line.
func (l *http1Line) Open(ctx context.Context) (Opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.c != nil && l.c.gone()
	if lost {
		l.c.Close()
		l.c = nil
	}
	if l.c != nil {
		return Opened{}, nil
	}
	counted, o, err := dial(ctx, l.server)
	o.Lost = lost
	if err != nil {
		return o, err
	}
	var c net.Conn = counted
	if l.tls != nil {
		if c, err = secure(ctx, c, l.tls, &o); err != nil {
			return Opened{Lost: lost}, err
		}
	}
	turn := make(chan struct{})
	close(turn)
	l.c = &http1Conn{Conn: c, counted: counted, turn: turn, in: make([]byte, 16<<10)}
	return o, nil
}

// Exchange implements Line.
func (l *http1Line) Exchange(ctx context.Context, m *program.Message, watch Watch) (Outcome, error) {
	watch.Sending()
	c, q, err := l.send(ctx, m)
	if c == nil {
		return Outcome{}, ErrGone
	}
	defer close(q.done)
	var o Outcome
	<-q.before
	if err = cmp.Or(c.end, err); err == nil {
		err = c.receive(m.NoBody, watch.Began, &o)
	}
	c.counted.settle(&o)
	if failure.OfExchange(err) == failure.Timeout {
		err = failure.ErrTimeout
	}
	inTime := q.stop()
	switch {
	case o.Last: // the server does not process the requests behind it (RFC 9112, section 9.6)
		c.end = ErrGone
	case !inTime || err != nil:
		c.end = cmp.Or(c.end, err, failure.ErrClosed)
	}
	if c.end != nil {
		o.Last = l.leave(c)
	}
	return o, err
}

// A queued exchange has a position in the order of responses. Its turn is when before is
// closed, and it closes done afterwards. When its context ends, the connection ends for
// all exchanges on it. stop cancels that, and reports whether it was in time. The
// deadline of a connection is never extended, so that no exchange waits longer than
// the first one may.
type queued struct {
	before, done chan struct{}
	stop         func() bool
}

// send writes the request and queues the exchange. c is nil if there is no connection, or if leave has closed it.
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
	if errors.Is(err, net.ErrClosed) {
		q.stop()
		c.turn = q.before
		return nil, queued{}, nil
	}
	if err == nil && m.File != nil {
		_, err = io.Copy(c.Conn, io.NewSectionReader(m.File, 0, m.Size))
	}
	return c, q, err
}

// gone reports whether the server has closed an idle connection. A request on it would
// be lost, although the server has not processed it.
func (c *http1Conn) gone() bool {
	select {
	case <-c.turn:
		return hungUp(c.counted.Conn)
	default: // in use; its exchange will notice
		return false
	}
}

// receive reads a response.
func (c *http1Conn) receive(noBody bool, began func(), o *Outcome) error {
	for first := true; ; {
		if len(c.unread) == 0 {
			n, err := c.Read(c.in)
			c.unread = c.in[:n]
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
		n, done, err := c.parser.Feed(c.unread, noBody)
		c.unread = c.unread[n:]
		if err != nil {
			return failure.New(failure.BadResponse, err)
		}
		if done {
			o.Status, o.Last = c.parser.Status(), c.parser.Close()
			return nil
		}
	}
}

// endOfStream handles the end of the stream, which may be the end of the response.
func (c *http1Conn) endOfStream(o *Outcome) error {
	whole, err := c.parser.EOF()
	if !whole {
		return failure.ClosedEarly(err)
	}
	o.Status, o.Last = c.parser.Status(), true
	return nil
}

// leave closes a connection that is not usable, and reports whether it was open.
func (l *http1Line) leave(c *http1Conn) bool {
	c.Close() // which ends a write that holds the lock
	l.mu.Lock()
	defer l.mu.Unlock()
	open := l.c == c
	if open {
		l.c = nil
	}
	return open
}

// Close implements Line.
func (l *http1Line) Close() (o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		l.c.Close()
		l.c.counted.settle(&o)
		l.c = nil
	}
	return o
}
