package proxying_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// TestMalformedBodyIsNotTheUpstreamsFault checks that a faulty request body gets 400 and never counts
// as the upstream's failure. If the fault is in the first block, the upstream
// gets no request at all. (D5)
func TestMalformedBodyIsNotTheUpstreamsFault(t *testing.T) {
	t.Parallel()
	const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	megabyte := strings.Repeat("10000\r\n"+strings.Repeat("x", 1<<16)+"\r\n", 16)
	tests := []struct {
		name, request string
		shut          bool // the client sends FIN after it
		first         bool // the fault is in the first block
	}{
		{"bad chunk size", chunked + "zz\r\nab\r\n0\r\n\r\n", false, true},
		{"empty chunk size", chunked + "\r\nab\r\n0\r\n\r\n", false, true},
		{"huge chunk size", chunked + "ffffffffffffffffff\r\nab\r\n0\r\n\r\n", false, true},
		{"chunk longer than its size", chunked + "2\r\nabXX\r\n0\r\n\r\n", false, true},
		{"fault in the second chunk", chunked + "2\r\nab\r\nzz\r\n0\r\n\r\n", false, true},
		{"chunks end early", chunked + "5\r\nab", true, true},
		{"no last chunk", chunked + "2\r\nab\r\n", true, true},
		{"short body, too short", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc", true, true},
		{"long body, too short", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc", true, true},
		{"bad chunk size after 1 MB", chunked + megabyte + "zz\r\n", false, false},
		{"chunks end after 1 MB", chunked + megabyte, true, false},
		{"1 MB of 2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + megabyte, true, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := openOrigin(t, answering(ok, nil))
			d := openDoor(t, nil, o.url)
			c := d.dial()
			c.say(test.request)
			if test.shut {
				c.CloseWrite()
			}
			m, err := c.readMessage()
			if got := d.outcome(); test.shut && got.kind == proxying.ClientGone {
				return // on a FIN, net/http sometimes reports the client as gone before the body's end is noticed
			} else if got.kind != proxying.ClientBody || !got.err.ByClient() || got.status != 400 {
				t.Errorf("outcome: status %d, %v; want 400 and kind client_body", got.status, got.err)
			}
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			if m.first != "HTTP/1.1 400 Bad Request" || m.get("Connection") != "close" && !test.shut {
				t.Errorf("answer %q, Connection %q; want 400 and close", m.first, m.get("Connection"))
			}
			if rest, _ := io.ReadAll(c.r); len(rest) > 0 {
				t.Errorf("after the response came %.60q", rest)
			}
			if n := o.connections(); test.first && n != 0 {
				t.Errorf("the upstream was dialled %d times", n)
			}
		})
	}
}

// TestRestOfBodyIsNoRequest checks that the rest of a body is never parsed as
// the next request: neither after a malformed body nor after an early response.
func TestRestOfBodyIsNoRequest(t *testing.T) {
	t.Parallel()
	const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
	tests := []struct{ name, request string }{
		{"malformed", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + hidden},
		{"answered early", "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" +
			strings.Repeat("x", 90000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			paths := make(chan string, 10)
			o := openOrigin(t, func(w *wire) {
				for {
					h, err := w.readHead()
					if err != nil {
						return
					}
					paths <- h.first
					w.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
				}
			})
			d := openDoor(t, nil, o.url)
			c := d.dial()
			c.say(test.request)
			if _, err := c.readMessage(); err != nil {
				t.Fatal(err)
			}
			d.outcome()
			c.say(hidden) // an error is acceptable
			if m, err := c.readMessage(); err == nil {
				t.Errorf("the rest of the body was answered with %q", m.first)
			}
			for len(paths) > 0 {
				if p := <-paths; strings.Contains(p, "hidden") {
					t.Errorf("the rest of the body reached the upstream as %q", p)
				}
			}
		})
	}
}

// TestSlowUploadIsNotTheUpstreamsFault checks that a slow client does not count as a slow upstream.
func TestSlowUploadIsNotTheUpstreamsFault(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, answering(ok, nil))
	d := openDoor(t, func(p *proxying.Proxy) { p.Timeout = brief }, o.url)
	c := d.dial()
	c.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
	pause := time.NewTicker(2 * brief)
	defer pause.Stop()
	for range 2 {
		<-pause.C
		c.say("1\r\nx\r\n")
	}
	if m := c.roundTrip(t, "0\r\n\r\n"); m.first != "HTTP/1.1 200 OK" {
		t.Errorf("answer %q, %v", m.first, d.outcome().err)
	}
}
