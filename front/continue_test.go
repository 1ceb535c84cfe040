package front_test

import (
	"io"
	"net/http"
	"testing"
)

// TestContinueAndHintsAreSentWhole has a server send 100 and 103 in one packet, to a client that waits for 100 over
// TLS. Both reach the client whole: one goroutine writes 103, and the one that reads the body writes 100.
func TestContinueAndHintsAreSentWhole(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		for {
			r, err := http.ReadRequest(c.r)
			if err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			io.Copy(io.Discard, r.Body)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	d := openTLSDoor(t, "http://"+back)
	conn, raw := d.dialTLS(t, d.client("localhost"))
	for range 100 {
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
		got := map[int]string{}
		for range 2 {
			resp, _ := raw.response("POST")
			got[resp.StatusCode] = resp.Header.Get("Link")
		}
		if link, ok := got[100]; !ok || link != "" || got[103] != "</a>" {
			t.Fatalf("the informational responses have the links %v", got)
		}
		io.WriteString(conn, "body")
		if resp, body := raw.response("POST"); resp.StatusCode != 200 || body != "ok" {
			t.Fatalf("%s, %q", resp.Status, body)
		}
	}
}
