package proxying

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

// An ending driver has connections that end after the response, which has arrived whole. If quiet is above 0, the last
// quiet bytes arrive only after a wait.
type ending struct {
	replay
	quiet int
}

func (d *ending) Dial(context.Context, string) (transport.Conn, error) {
	return &endingConn{replayConn{replay: &d.replay}, d.quiet}, nil
}

type endingConn struct {
	replayConn
	quiet int
}

func (c *endingConn) WriteReadInto(p []byte, s transport.Space) (written, n int, writeErr, readErr error) {
	time.Sleep(time.Millisecond)
	return c.replayConn.WriteReadInto(p, s)
}

func (c *endingConn) TryRead(p []byte) (n int, ok bool, err error) {
	if len(c.left) < c.quiet {
		return 0, false, nil
	}
	n = copy(p, c.left)
	c.left = c.left[n:]
	return n, true, nil
}

func (c *endingConn) ReadInto(s transport.Space) (int, error) {
	time.Sleep(2 * clientPause)
	c.quiet = 0
	return c.replayConn.ReadInto(s)
}

// A pausing client makes a pause in each call of Write.
type pausing struct {
	discard
	first, other time.Duration // of the first call, and of the others
	written      int
}

func (c *pausing) Write(p []byte) (int, error) {
	pause := c.other
	if c.written == 0 {
		pause = c.first
	}
	time.Sleep(pause)
	c.written += len(p)
	return len(p), nil
}

// TestOnlyPauseBlamesTheClient has a server end its response too early, and a client read it more slowly than the
// server sends it. The client is to blame only if it has made a pause after which the server may have sent nothing.
func TestOnlyPauseBlamesTheClient(t *testing.T) {
	t.Parallel()
	const brief, long = clientPause / 10, 2 * clientPause
	for _, c := range []struct {
		name         string
		size         int // of the part of the body that arrives
		quiet        int
		first, other time.Duration
		want         Kind
	}{
		{"without a pause", 4 << 20, 0, brief, brief, Truncated},
		{"after a pause", 1 << 20, 0, long, 0, ClientSlow},
		{"while the client reads what arrived in a pause", 1 << 20, 0, long, brief, ClientSlow},
		{"after more than can arrive in a pause", maxOwed + 1<<20, 0, long, brief, Truncated},
		{"after a pause and a wait for the server", 1 << 20, 1 << 19, long, brief, Truncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				up, err := NewUpstream("test", Options{Servers: oneServer})
				if err != nil {
					t.Fatal(err)
				}
				defer up.Close()
				d := &ending{replay{index: 1}, c.quiet}
				d.response = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", c.size+1,
					strings.Repeat("x", c.size))
				client := &pausing{first: c.first, other: c.other}
				x := &Exchange{Method: "GET", Target: "/", Host: "a", Scheme: "http", Driver: d, Client: client}
				(&Proxy{Upstream: up}).Serve(x)
				if failed, ok := x.Err.(*Error); !ok || failed.Kind != c.want || client.written != c.size {
					t.Errorf("%d of %d bytes arrived: %v; want kind %s", client.written, c.size, x.Err, c.want)
				}
			})
		})
	}
}
