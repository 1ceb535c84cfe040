package front_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestUnannouncedTrailersPass sends trailers without an announcement in both
// directions.
func TestUnannouncedTrailersPass(t *testing.T) {
	t.Parallel()
	var trailers http.Header
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		trailers = r.Trailer
		http.NewResponseController(w).Flush() // so that the response has no Content-Length
		w.Header().Set(http.TrailerPrefix+"X-Sum", "down")
	})
	d := openDoor(t, back.URL)
	c := dial(t, d.addr)
	c.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: up\r\n\r\n")
	resp, _ := c.response("POST")
	if got := trailers.Get("X-Sum"); got != "up" {
		t.Errorf("the upstream got the trailers %v", trailers)
	}
	if got := resp.Trailer.Get("X-Sum"); got != "down" {
		t.Errorf("the client got the trailers %v", resp.Trailer)
	}
	if got := strings.Join(resp.TransferEncoding, ""); got != "chunked" {
		t.Errorf("the response is %q", got)
	}
}
