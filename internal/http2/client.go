package http2

import (
	"os"
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/transport"
)

const (
	// startStreams is the number of streams that a client opens at most before the server has
	// announced its own limit, as in golang.org/x/net/http2.
	startStreams = 100
	// lastStream is the highest number of a stream that a client opens on a connection.
	lastStream = 1<<31 - 1
)

// NewClient returns the connection of a client to a server, has the preface sent and begins to
// read. It must be called in a task of the driver. The caller then calls AwaitUsable.
func NewClient(conn transport.Conn, d transport.Driver, owner Owner) *Conn {
	c := newConn(conn, d, owner)
	c.client = &client{maxStreams: startStreams, heard: c.idle}
	c.recvInitial = streamWindow
	c.in.prefaced = true
	c.mu.Lock()
	c.out = append(c.output(), http2.ClientPreface...)
	c.writeFrames(func(f *http2.Framer) {
		f.WriteSettings(
			http2.Setting{ID: http2.SettingEnablePush, Val: 0},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(owner.Limits().HeaderList)})
		f.WriteWindowUpdate(0, connWindow-startWindow)
	})
	c.push()
	c.unlock()
	c.start()
	return c
}

// AwaitUsable waits until the first SETTINGS frame of the server has arrived and a stream can be opened, but not longer
// than the limit. A server may allow no stream at first (MAX_CONCURRENT_STREAMS of 0), or end the connection with GOAWAY
// immediately. It must be called in a task.
func (c *Conn) AwaitUsable(limit time.Duration) error {
	c.mu.Lock()
	defer c.unlock()
	return c.wait(limit, func() bool { return c.seen && c.usable() })
}

// Ping sends a PING, which concurrent calls share, and waits until bytes have arrived, but not longer than the limit.
// It must be called in a task.
func (c *Conn) Ping(limit time.Duration) error {
	c.mu.Lock()
	defer c.unlock()
	heard := c.client.heard
	c.sendPing()
	return c.wait(limit, func() bool { return c.client.heard.After(heard) })
}

// wait waits for a condition that changes when bytes have arrived. mu is held, except for the
// wait.
func (c *Conn) wait(limit time.Duration, holds func() bool) error {
	end := time.Now().Add(limit)
	w := &waiter{signal: transport.NewSignal()}
	for !holds() {
		left := time.Until(end)
		switch {
		case c.client.cause != nil:
			return c.client.cause
		case left <= 0:
			return os.ErrDeadlineExceeded
		}
		w.signal.Reset()
		w.waiting = true
		c.client.waits = append(c.client.waits, w)
		c.unlock()
		c.driver.Wait(w.signal, left)
		c.mu.Lock()
	}
	return nil
}

// SilentFor returns how long ago bytes have arrived last.
func (c *Conn) SilentFor(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.unlock()
	return now.Sub(c.client.heard)
}

// Usable reports whether Open can open a stream now, and whether the connection has none.
func (c *Conn) Usable() (usable, unused bool) {
	c.mu.Lock()
	defer c.unlock()
	return c.usable(), c.running == 0
}

// HoldsUp reports whether data of a new stream would have to wait, because the server has not read the data of
// others.
func (c *Conn) HoldsUp() bool {
	c.mu.Lock()
	defer c.unlock()
	return c.sendWindow < maxFrame
}

func (c *Conn) usable() bool {
	return c.state == open && !c.client.goAway && c.client.cause == nil && c.last < lastStream-1 &&
		uint32(c.running) < c.client.maxStreams
}

// Open opens a stream with the head of a request, which it releases. end ends the stream of the
// request. headOnly means that the response has no body whatever it announces, as for HEAD. It
// returns nil if the server accepts no more streams at present. The caller calls Close.
func (c *Conn) Open(h *Head, end, headOnly bool) *Stream {
	defer release(h)
	c.mu.Lock()
	defer c.unlock()
	if !c.usable() {
		return nil
	}
	if c.last++; c.last%2 == 0 {
		c.last++ // the streams of clients are odd
	}
	s := streams.Get().(*Stream)
	s.conn, s.id = c, c.last
	s.declared, s.headOnly = -1, headOnly
	s.window, s.recvWindow, s.sendWindow = c.recvInitial, c.recvInitial, c.initialWindow
	c.streams[s.id] = s
	if c.running++; c.running == 1 {
		c.client.heard, c.client.pinged = time.Now(), false
	}
	c.appendHead(s.id, h.Bytes, end)
	s.headSent, s.sentEnded = true, end
	c.push()
	c.arm()
	return s
}

// Retire ends the connection when the exchanges in progress have ended. Open opens no more
// streams. It must be called on the connection's driver.
func (c *Conn) Retire() {
	c.mu.Lock()
	defer c.unlock()
	c.stopAccepting()
}

// ReadHead waits for the next head of the response. The last one is final: its status is at
// least 200.
func (s *Stream) ReadHead() (Response, error) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	for {
		switch {
		case len(s.heads) > 0:
			h := s.heads[0]
			s.heads = s.heads[1:]
			return h, nil
		case s.err != nil:
			return Response{}, s.err
		}
		if err := s.await(&s.reader); err != nil {
			return Response{}, err
		}
	}
}

// Cancel resets the stream, unless it has ended in both directions. Its operations fail.
func (s *Stream) Cancel() { s.Reset(http2.ErrCodeCancel) }
