package front_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
)

// TestMalformedRequestsAreRefused sends bytes that are not the head of a request. The refusals are
// counted and logged.
func TestMalformedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	for _, c := range []struct {
		name, raw string
		status    int
		reason    string
	}{
		{"no Host", "GET / HTTP/1.1\r\n\r\n", 400, "there is no Host"},
		{"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "400 Bad Request"},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", 400, "400 Bad Request"},
		{"version", "GET / HTTP/7.1\r\nHost: a\r\n\r\n", 505, "the version is not HTTP/1.0 or HTTP/1.1"},
		{"coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "Transfer-Encoding is not chunked"},
		{"expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nContent-Length: 1\r\n\r\nx", 417,
			"417 Expectation Failed"},
		{"long head", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431,
			"431 Request Header Fields Too Large"},
		{"behind another", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400, "there is no Host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := d.metric(t, "weir_malformed_requests_total")
			conn := dial(t, d.addr)
			conn.send(c.raw)
			resp, _ := conn.response("GET")
			if c.name == "behind another" {
				if resp.StatusCode != 200 {
					t.Errorf("first answer %d, want 200", resp.StatusCode)
				}
				resp, _ = conn.response("GET")
			}
			if resp.StatusCode != c.status {
				t.Errorf("answered %d, want %d", resp.StatusCode, c.status)
			}
			e := d.log.find(t, func(e event) bool {
				reason, _ := e.Data["reason"].(string)
				return e.Event == "http request refused" && e.HTTP.StatusCode == c.status && strings.Contains(reason, c.reason)
			})
			if e.Severity != 2 || e.HTTP.Client != "127.0.0.1" {
				t.Errorf("the event is %s", e.raw)
			}
			if got := d.metric(t, "weir_malformed_requests_total") - before; got != 1 {
				t.Errorf("counted %v times, want once", got)
			}
		})
	}
}

// TestResponsesAreNotRefusals checks that complete and cut error responses of the
// upstream and the front door are not counted as refusals by net/http.
func TestResponsesAreNotRefusals(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		for r := c.request(); r != nil; r = c.request() {
			switch r.URL.Path {
			case "/cut":
				c.send("HTTP/1.1 404 Not Found\r\nContent-Length: 500\r\n\r\nHTTP/1.1 400 Bad Request")
				return
			case "/malformed": // net/http still buffers the response when it is cut, and then writes it
				c.send("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\nbb8\r\n" + strings.Repeat("x",
					3000) + "\r\nzz\r\n")
				return
			}
			c.send("HTTP/1.1 404 Not Found\r\nContent-Length: 24\r\n\r\nHTTP/1.1 400 Bad Request")
		}
	})
	d := openDoor(t, "http://"+back, func(cfg *config.Config) {
		cfg.Limits.IdleTimeout = 100 * time.Millisecond // for the client that keeps its connection
	})
	for _, raw := range []string{
		"GET /whole HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		"GET /whole HTTP/1.0\r\nHost: a\r\n\r\n",
		"GET /cut HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /cut HTTP/1.0\r\nHost: a\r\n\r\n",
		"GET /malformed HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /malformed HTTP/1.0\r\nHost: a\r\n\r\n",
		"GET /.. HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a..b\r\nConnection: close\r\n\r\n",
	} {
		c := dial(t, d.addr)
		c.send(raw)
		io.Copy(io.Discard, c) // a cut response may end in a reset
	}
	if resp, _ := get(t, h2cClient(t), d.url("/whole")); resp.StatusCode != 404 {
		t.Errorf("over HTTP/2: %d, want 404", resp.StatusCode)
	}
	if n := d.metric(t, "weir_malformed_requests_total"); n != 0 {
		t.Errorf("%v answers were counted", n)
	}
	for _, e := range d.log.events(t) {
		if e.Event == "http request refused" {
			t.Errorf("logged %s", e.raw)
		}
	}
}
