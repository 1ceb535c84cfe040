package http2

import (
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/transport"
)

// NewServer returns the connection of a client, which has sent the beginning of the preface of
// HTTP/2. The caller then calls Serve or Attend.
func NewServer(conn transport.Conn, d transport.Driver, owner Owner) *Conn {
	c := newConn(conn, d, owner)
	c.writeFrames(func(f *http2.Framer) {
		f.WriteSettings(
			http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: MaxStreams},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(owner.Limits().HeaderList)})
		f.WriteWindowUpdate(0, connWindow-startWindow)
	})
	return c
}

// newConn returns the connection of either side.
func newConn(conn transport.Conn, d transport.Driver, owner Owner) *Conn {
	now := time.Now()
	limits := owner.Limits()
	c := &Conn{conn: conn, driver: d, owner: owner, streams: make(map[uint32]*Stream), recvWindow: connWindow,
		recvInitial: startWindow, growth: growth, sendWindow: startWindow, initialWindow: startWindow, idle: now,
		due: now.Add(limits.HeaderTimeout)}
	conn.SetReadDeadline(time.Time{}) // that of what was read before, which readBy does not have
	c.ender, _ = d.(turnEnder)
	c.decode = hpack.NewDecoder(tableSize, c.emit)
	return c
}

// Begin handles the bytes that were received before. It must be called once.
func (c *Conn) Begin(received []byte) {
	c.mu.Lock()
	c.push()
	c.unlock()
	for len(received) > 0 {
		n := copy(c.Space(), received)
		c.received(n)
		received = received[n:]
	}
}
