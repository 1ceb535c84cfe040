package front_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestWebSocketEndsWithItsClient ends the connections of clients whose upstream ignores that. A WebSocket ends, while a
// tunnel of another protocol, which has a half-close, still waits for its upstream. A reset ends both.
func TestWebSocketEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	up := "http://" + rawUpstream(t, func(c *rawConn) {
		if r := c.request(); r != nil {
			c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + r.Header.Get("Upgrade") + "\r\n\r\n")
			io.ReadAll(c.r)
			<-ended
		}
	})
	defer close(ended)
	d := openDoor(t, up, func(c *config.Config) { c.Routes[0].Upgrade = []string{"websocket", "mine"} })
	open := func(path, protocol string) *rawConn {
		t.Helper()
		c := dial(t, d.addr)
		c.send("GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: " + protocol + "\r\n\r\n")
		if resp, err := http.ReadResponse(c.r, nil); err != nil || resp.StatusCode != 101 {
			t.Fatalf("upgrade: %v, %v", resp, err)
		}
		return c
	}
	open("/half", "mine").CloseWrite()
	for _, c := range []struct {
		path, protocol string
		reset          bool
	}{{"/closed", "websocket", false}, {"/reset", "websocket", true}, {"/resetmine", "mine", true}} {
		client := open(c.path, c.protocol)
		if c.reset {
			client.SetLinger(0)
		}
		client.Close()
		d.completed(t, c.path)
		if n := d.inUse(t, "in_flight"); n != 1 {
			t.Errorf("%s: %v in flight, want 1: the tunnel with a half-close", c.path, n)
		}
	}
}
