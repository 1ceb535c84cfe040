package front_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
)

// TestUnreadBodyEndsTheConnection sends refused requests that announce a body, and never sends
// the body. The response arrives, and the connection does not wait for the
// body.
func TestUnreadBodyEndsTheConnection(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("/known", "site")}
	})
	for _, framing := range []string{
		"Content-Length: 100000\r\n\r\n",
		"Content-Length: 10\r\n\r\n123",
		"Transfer-Encoding: chunked\r\n\r\n5\r\n123",
		"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n",
	} {
		t.Run(framing, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, d.addr)
			conn.send("POST /unknown HTTP/1.1\r\nHost: a\r\n" + framing)
			if resp, _ := conn.response("POST"); resp.StatusCode != http.StatusNotFound {
				t.Fatalf("status %d, want 404", resp.StatusCode)
			}
			conn.SetReadDeadline(time.Now().Add(testTimeout))
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Errorf("the connection is still open: %v", err)
			}
		})
	}
}
