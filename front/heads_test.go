package front_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/testkit"
)

// A headCase is a request that HTTP/1, HTTP/2 and HTTP/3 must refuse alike.
type headCase struct {
	name   string
	raw    string   // over HTTP/1; "" if it has no such request
	fields []string // over HTTP/2 and HTTP/3; nil if they have no such request
	body   string
	more   bool     // the stream does not end with the head
	after  []string // trailers; the stream may be reset without a response
	status int
}

// pseudo returns the fields of a head: alternating names and values.
func pseudo(method, scheme, authority, path string, more ...string) []string {
	return append([]string{":method", method, ":scheme", scheme, ":authority", authority, ":path", path}, more...)
}

func headCases() []headCase {
	get := func(more ...string) []string { return pseudo("GET", "https", "a", "/", more...) }
	post := func(more ...string) []string { return pseudo("POST", "https", "a", "/", more...) }
	const host = " HTTP/1.1\r\nHost: a\r\n"
	var many []string // short in a frame, because each field counts 32 bytes more
	for range 2000 {
		many = append(many, "x", "y")
	}
	trailer := func(field string) string {
		return "POST /" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + field + "\r\n\r\n"
	}
	return []headCase{
		// Lengths.
		{name: "length 0 with a body", fields: post("content-length", "0"), body: "x", more: true, status: 400},
		{name: "length 0 with a body, GET", fields: get("content-length", "0"), body: "x", more: true, status: 400},
		{name: "body longer than its length",
			fields: post("content-length", "1"), body: "xy", more: true, status: 400},
		{name: "body shorter than its length",
			fields: post("content-length", "5"), body: "x", more: true, status: 400},
		{name: "length without a body", fields: get("content-length", "5"), status: 400},
		{name: "equal lengths", raw: "POST /" + host + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
			fields: post("content-length", "1", "content-length", "1"), body: "x", more: true, status: 400},
		{name: "different lengths", raw: "POST /" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
			fields: post("content-length", "1", "content-length", "2"), body: "xy", more: true, status: 400},
		{name: "a length of 0 and another", raw: "POST /" + host + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
			fields: post("content-length", "0", "content-length", "5"), status: 400},
		{name: "empty length", raw: "GET /" + host + "Content-Length:\r\n\r\n",
			fields: get("content-length", ""), status: 400},
		{name: "empty and other length", raw: "GET /" + host + "Content-Length:\r\nContent-Length: 0\r\n\r\n",
			fields: get("content-length", "", "content-length", "0"), status: 400},
		{name: "length with a sign", raw: "GET /" + host + "Content-Length: +0\r\n\r\n",
			fields: get("content-length", "+0"), status: 400},
		{name: "length with a leading zero", raw: "POST /" + host + "Content-Length: 01\r\n\r\nx",
			fields: post("content-length", "01"), body: "x", more: true, status: 400},
		{name: "list of lengths", raw: "POST /" + host + "Content-Length: 1, 1\r\n\r\nx",
			fields: post("content-length", "1, 1"), body: "x", more: true, status: 400},
		{name: "length beyond 63 bits", raw: "POST /" + host + "Content-Length: 9223372036854775808\r\n\r\nx",
			fields: post("content-length", "9223372036854775808"), body: "x", more: true, status: 400},
		// Expect.
		{name: "another expectation", raw: "GET /" + host + "Expect: x\r\n\r\n",
			fields: get("expect", "x"), status: 417},
		{name: "an empty expectation", raw: "GET /" + host + "Expect:\r\n\r\n",
			fields: get("expect", ""), status: 417},
		{name: "list of expectations", raw: "GET /" + host + "Expect: 100-continue, x\r\n\r\n",
			fields: get("expect", "100-continue, x"), status: 400},
		{name: "two expectations", raw: "GET /" + host + "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n",
			fields: get("expect", "100-continue", "expect", "100-continue"), status: 400},
		// Hosts.
		{name: "another Host", raw: "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n",
			fields: get("host", "b"), status: 400},
		{name: "two Hosts", raw: "GET /" + host + "Host: a\r\n\r\n",
			fields: get("host", "a", "host", "a"), status: 400},
		{name: "no Host", raw: "GET / HTTP/1.1\r\n\r\n",
			fields: []string{":method", "GET", ":scheme", "https", ":path", "/"}, status: 400},
		{name: "empty Host", raw: "GET / HTTP/1.1\r\nHost:\r\n\r\n",
			fields: pseudo("GET", "https", "", "/"), status: 400},
		{name: "a user in the Host", raw: "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
			fields: pseudo("GET", "https", "u@a", "/"), status: 400},
		{name: "a path in the Host", raw: "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
			fields: pseudo("GET", "https", "a/b", "/"), status: 400},
		{name: "a port that is none", raw: "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
			fields: pseudo("GET", "https", "a:b", "/"), status: 400},
		{name: "a Host with a blank", raw: "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
			fields: pseudo("GET", "https", "a b", "/"), status: 400},
		// Schemes.
		{name: "another scheme", raw: "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
			fields: pseudo("GET", "ftp", "a", "/"), status: 400},
		{name: "scheme in capitals", raw: "GET HTTPS://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
			fields: pseudo("GET", "HTTPS", "a", "/"), status: 400},
		{name: "scheme that is none", fields: pseudo("GET", "https x", "a", "/"), status: 400},
		{name: "empty scheme", fields: pseudo("GET", "", "a", "/"), status: 400},
		{name: "no scheme", fields: []string{":method", "GET", ":authority", "a", ":path", "/"}, status: 400},
		// Targets.
		{name: "empty path", fields: pseudo("GET", "https", "a", ""), status: 400},
		{name: "path without a slash", raw: "GET b" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "b"), status: 400},
		{name: "path that is a URL", fields: pseudo("GET", "https", "a", "https://a/"), status: 400},
		{name: "path with a blank", raw: "GET /a b" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "/a b"), status: 400},
		{name: "query with a blank", raw: "GET /?a b" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "/?a b"), status: 400},
		{name: "path with a NUL", raw: "GET /\x00" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "/\x00"), status: 400},
		{name: "path with a fragment", raw: "GET /#b" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "/#b"), status: 400},
		{name: "path with half an escape", raw: "GET /%2" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "/%2"), status: 400},
		{name: "path with a dot segment", raw: "GET /a/../b" + host + "\r\n",
			fields: pseudo("GET", "https", "a", "/a/../b"), status: 400},
		{name: "asterisk", raw: "GET *" + host + "\r\n", fields: pseudo("GET", "https", "a", "*"), status: 400},
		{name: "method of two words", raw: "G T /" + host + "\r\n",
			fields: pseudo("G T", "https", "a", "/"), status: 400},
		{name: "empty method", raw: " /" + host + "\r\n", fields: pseudo("", "https", "a", "/"), status: 400},
		{name: "TRACE", raw: "TRACE /" + host + "\r\n", fields: pseudo("TRACE", "https", "a", "/"), status: 405},
		{name: "CONNECT", raw: "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n",
			fields: []string{":method", "CONNECT", ":authority", "a:80"}, status: 501},
		{name: "CONNECT with a path", fields: pseudo("CONNECT", "https", "a:80", "/"), status: 400},
		// Pseudo-header fields.
		{name: "extended CONNECT",
			fields: pseudo("CONNECT", "https", "a", "/", ":protocol", "websocket"), status: 400},
		{name: "unknown pseudo-header field", fields: get(":x", "y"), status: 400},
		{name: "status in a request", fields: get(":status", "200"), status: 400},
		{name: "path twice", fields: get(":path", "/"), status: 400},
		{name: "authority twice", fields: get(":authority", "a"), status: 400},
		{name: "late pseudo-header field",
			fields: []string{":method", "GET", ":scheme", "https", "x", "y", ":authority", "a", ":path", "/"}, status: 400},
		// Fields of HTTP/1.
		{name: "connection", fields: get("connection", "close"), status: 400},
		{name: "keep-alive", fields: get("keep-alive", "timeout=5"), status: 400},
		{name: "proxy-connection", fields: get("proxy-connection", "keep-alive"), status: 400},
		{name: "transfer-encoding", fields: get("transfer-encoding", "chunked"), status: 400},
		{name: "upgrade", fields: get("upgrade", "websocket"), status: 400},
		{name: "te", fields: get("te", "trailers, deflate"), status: 400},
		// Names and values.
		{name: "name in capitals", fields: get("X", "y"), status: 400},
		{name: "name of two words", raw: "GET /" + host + "x y: z\r\n\r\n", fields: get("x y", "z"), status: 400},
		{name: "empty name", raw: "GET /" + host + ": z\r\n\r\n", fields: get("", "z"), status: 400},
		{name: "name beyond ASCII", raw: "GET /" + host + "\u00e4: z\r\n\r\n",
			fields: get("\u00e4", "z"), status: 400},
		{name: "value with a NUL", raw: "GET /" + host + "x: y\x00\r\n\r\n", fields: get("x", "y\x00"), status: 400},
		{name: "value with a CR", raw: "GET /" + host + "x: y\rz\r\n\r\n", fields: get("x", "y\rz"), status: 400},
		{name: "value with a line", fields: get("x", "y\r\nhost: b"), status: 400},
		{name: "blank before a value", fields: get("x", " y"), status: 400},
		{name: "tab after a value", fields: get("x", "y\t"), status: 400},
		{name: "blank around a length", fields: post("content-length", "1 "), body: "x", more: true, status: 400},
		{name: "long head", raw: "GET /" + host + strings.Repeat("x: y\r\n", 12_000) + "\r\n",
			fields: get(many...), status: 431},
		// Trailers.
		{name: "announced length", raw: "POST /" + host + "Transfer-Encoding: chunked\r\nTrailer: content-length\r\n\r\n0\r\n\r\n",
			fields: post("trailer", "x, content-length"), body: "x", more: true, status: 400},
		{name: "pseudo-header field in trailers",
			fields: post(), body: "x", after: []string{":path", "/b"}, status: 400},
		{name: "length in trailers", raw: trailer("Content-Length: 1"), fields: post(), body: "x",
			after: []string{"content-length", "1"}, status: 400},
		{name: "Host in trailers", raw: trailer("Host: b"),
			fields: post(), body: "x", after: []string{"host", "b"}, status: 400},
		{name: "coding in trailers", raw: trailer("Transfer-Encoding: chunked"), fields: post(), body: "x",
			after: []string{"transfer-encoding", "chunked"}, status: 400},
		{name: "TE in trailers", raw: trailer("TE: trailers"),
			fields: post(), body: "x", after: []string{"te", "trailers"}, status: 400},
		{name: "capitals in trailers", fields: post(), body: "x", after: []string{"X", "y"}, status: 400},
		{name: "NUL in trailers", raw: trailer("x: \x00"),
			fields: post(), body: "x", after: []string{"x", "\x00"}, status: 400},
	}
}

// TestInvalidHeadsAreRefusedByEachVersion sends requests that are malformed or ambiguous over HTTP/1, HTTP/2 and
// HTTP/3. The responses agree, except that a stream may be reset after its head. The upstream gets no complete request.
// Each is counted once and has one event.
func TestInvalidHeadsAreRefusedByEachVersion(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openHTTP3Door(t, "http://"+back.addr)
	senders := map[string]func(c headCase) (status int){
		"HTTP1": func(c headCase) int {
			conn := dial(t, d.addr)
			conn.send(c.raw)
			resp, _ := conn.response("POST")
			return resp.StatusCode
		},
		"HTTP2": func(c headCase) int {
			h2 := dialHTTP2(t, d.addr)
			ends := c.body == "" && c.after == nil && !c.more
			var wrote error
			stream := h2.begin(ends, c.fields...)
			if c.body != "" {
				wrote = h2.framer.WriteData(stream, c.after == nil, []byte(c.body))
			}
			if c.after != nil {
				wrote = h2.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(c.after...), EndHeaders: true,
					EndStream: true})
			}
			if wrote != nil {
				t.Fatal(wrote)
			}
			status, _ := h2.finish(stream)
			return status
		},
		"HTTP3": func(c headCase) int {
			frames := [][]byte{fields3(c.fields...)}
			if c.body != "" {
				frames = append(frames, frame3(0, []byte(c.body)))
			}
			if c.after != nil {
				frames = append(frames, fields3(c.after...))
			}
			return d.dialHTTP3(t).send(frames...)
		},
	}
	sent := 0
	for _, c := range headCases() {
		for _, version := range []string{"HTTP1", "HTTP2", "HTTP3"} {
			if version == "HTTP1" && c.raw == "" || version != "HTTP1" && c.fields == nil {
				continue
			}
			counted := t.Run(c.name+" "+version, func(t *testing.T) {
				status := senders[version](c)
				if mayReset := c.body != "" || c.after != nil; status != c.status && (status != 0 || !mayReset) {
					t.Errorf("answered %d, want %d", status, c.status)
				}
				if got, _ := back.take(); requestsIn(got) > 0 {
					t.Errorf("the upstream got %q", got)
				}
				sent++
				d.countsRefusals(t, sent)
			})
			if !counted {
				return // the later counts would be wrong, too
			}
		}
	}
}

// countsRefusals checks that so many requests are counted and have an event.
func (d *tlsDoor) countsRefusals(t *testing.T, want int) {
	t.Helper()
	logged := 0
	d.log.until(t, func() bool {
		logged = 0
		for _, e := range d.log.events(t) {
			if e.Event == "http request refused" || e.Event == "http request completed" {
				logged++
			}
		}
		return logged >= want
	})
	counted := 0.0
	testkit.Await(t, "the end of the request", func() bool {
		counted = 0
		for series, n := range d.metrics(t) {
			if series == "weir_malformed_requests_total" || strings.HasPrefix(series, "weir_requests_total{") {
				counted += n
			}
		}
		return int(counted) >= want
	})
	if logged != want || int(counted) != want {
		t.Fatalf("%v requests are counted and %d have an event, want %d", counted, logged, want)
	}
}

// TestFieldOrderIsKept sends fields in an unusual order. The upstream gets them in this order, in their case, over each
// version.
func TestFieldOrderIsKept(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openHTTP3Door(t, "http://"+back.addr)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("x-%c-%d", 'z'-i, i%3))
	}
	names = append(names, names[:5]...)
	var fields []string
	raw, want := "", ""
	for i, name := range names {
		value := fmt.Sprint(i)
		fields = append(fields, name, value)
		want += name + ": " + value + "\r\n"
	}
	fields = append(fields, "trailer", "x-a")
	raw = "GET / HTTP/1.1\r\nHost: a\r\n" + strings.ReplaceAll(want, "x-", "x-B") + "\r\n"
	check := func(version string, status int, want string) {
		t.Helper()
		if status != 200 {
			t.Errorf("%s: answered %d", version, status)
		}
		if got, _ := back.take(); !strings.Contains(got, "\r\n"+want) {
			t.Errorf("%s: the upstream got %q, want %q in it", version, got, want)
		}
	}
	conn := dial(t, d.addr)
	conn.send(raw)
	resp, _ := conn.response("GET")
	check("HTTP/1", resp.StatusCode, strings.ReplaceAll(want, "x-", "x-B"))
	check("HTTP/2", dialHTTP2(t, d.addr).get(pseudo("GET", "http", "a", "/", fields...)...), want)
	check("HTTP/3", d.dialHTTP3(t).send(fields3(pseudo("GET", "https", "a", "/", fields...)...)), want)
}

// TestUnendedRequestsAreRefused begins requests and does not complete them: a head, and streams that a content-length
// of 0 must end. Each is refused and counted, after the timeout for heads. That applies to handshakes too, so it is the
// default.
func TestUnendedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openHTTP3Door(t, "http://"+back.addr)
	post := pseudo("POST", "https", "a", "/", "content-length", "0")
	t.Run("sent", func(t *testing.T) { // ends with the last of them
		t.Run("HTTP2", func(t *testing.T) {
			t.Parallel()
			h2 := dialHTTP2(t, d.addr)
			if status, _ := h2.finish(h2.begin(false, post...)); status != 0 {
				t.Errorf("answered %d", status)
			}
		})
		for name, start := range map[string][]byte{"a head": fields3(post...), "a part of a head": fields3(post...)[:8]} {
			t.Run("HTTP3, "+name, func(t *testing.T) {
				t.Parallel()
				s, err := d.dialHTTP3(t).open()
				if err != nil {
					t.Fatal(err)
				}
				s.SetDeadline(time.Now().Add(testTimeout))
				s.Write(start)
				if answer, err := io.ReadAll(s); len(answer) == 0 || err != nil {
					t.Errorf("answered %q, %v", answer, err)
				}
			})
		}
	})
	d.countsRefusals(t, 3)
	if got, accepted := back.take(); accepted != 0 {
		t.Errorf("the upstream was dialled, and got %q", got)
	}
}
