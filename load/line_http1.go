package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/answer"
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
	net.Conn
	turn chan struct{} // closed when the last one that has sent has read; guarded by the line's lock

	parser answer.Parser
	in     []byte
	rest   []byte // of in: the next answer's
	broken bool
}

// open implements line.
func (l *http1Line) open(ctx context.Context) (opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		return opened{}, nil
	}
	c, o, err := dial(ctx, l.server, l.tls)
	if err != nil {
		return o, err
	}
	turn := make(chan struct{})
	close(turn)
	l.c = &http1Conn{Conn: c, turn: turn, in: make([]byte, 16<<10)}
	return o, nil
}

// dial connects, and shakes hands when config is not nil.
func dial(ctx context.Context, server string, config *tls.Config) (net.Conn, opened, error) {
	began := time.Now()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, opened{}, err
	}
	o := opened{made: true, connect: time.Since(began)}
	if config == nil {
		return c, o, nil
	}
	secure := tls.Client(c, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, opened{}, &kindError{handshake, fmt.Errorf("TLS handshake: %w", err)}
	}
	o.handshake = time.Since(began) - o.connect
	return secure, o, nil
}

// exchange implements line.
func (l *http1Line) exchange(ctx context.Context, m *message, began func()) (outcome, error) {
	deadline, _ := ctx.Deadline()
	c, before, done, written, err := l.send(m, deadline)
	if c == nil {
		return outcome{}, errClosed // by the one before it in the pipeline
	}
	defer close(done)
	o := outcome{written: written}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	<-before
	if err == nil && c.broken {
		err = errClosed
	}
	if err == nil {
		err = c.receive(m.noBody, began, &o)
	}
	if err != nil || o.last {
		c.broken = true
		l.leave(c)
	}
	if err != nil {
		return o, describe(err)
	}
	return o, nil
}

// send writes the request and takes a place in the order of the answers: it is
// the exchange's turn when before is closed, and it closes done after it.
func (l *http1Line) send(m *message, deadline time.Time) (c *http1Conn, before, done chan struct{}, written int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.c; c == nil {
		return nil, nil, nil, 0, nil
	}
	before, done = c.turn, make(chan struct{})
	c.turn = done
	c.SetDeadline(deadline)
	written, err = c.Write(m.head)
	if err == nil && m.file != nil {
		var n int64
		n, err = io.Copy(c.Conn, io.NewSectionReader(m.file, 0, m.size))
		written += int(n)
	}
	return c, before, done, written, err
}

// receive reads an answer.
func (c *http1Conn) receive(noBody bool, began func(), o *outcome) error {
	for first := true; ; {
		if len(c.rest) == 0 {
			n, err := c.Read(c.in)
			c.rest, o.read = c.in[:n], o.read+n
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
	whole, _ := c.parser.EOF()
	if !whole {
		return errClosed
	}
	o.status, o.last = c.parser.Status(), true
	return nil
}

// leave closes a connection that is of no more use.
func (l *http1Line) leave(c *http1Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Close()
	if l.c == c {
		l.c = nil
	}
}

// close implements line.
func (l *http1Line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		l.c.Close()
		l.c = nil
	}
}

// describe says of an error of reading or writing in a line's words.
func describe(err error) error {
	if failKind(err) == timeout {
		return errTimeout
	}
	return err
}
