package front_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A recorder is an upstream that records all bytes and answers each request
// with 200.
type recorder struct {
	addr string

	mu       sync.Mutex
	bytes    bytes.Buffer // guarded by mu
	accepted int          // guarded by mu
}

func openRecorder(t testing.TB) *recorder {
	r := new(recorder)
	r.addr = rawUpstream(t, func(c *rawConn) {
		r.mu.Lock()
		r.accepted++
		r.mu.Unlock()
		c.r = bufio.NewReader(io.TeeReader(c.TCPConn, r))
		for c.request() != nil {
			c.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	return r
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes.Write(p)
}

// take returns the bytes since the last call and the number of new connections.
func (r *recorder) take() (got string, accepted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, accepted = r.bytes.String(), r.accepted
	r.bytes.Reset()
	r.accepted = 0
	return got, accepted
}

// ambiguous are messages that two parsers could read differently, or that are
// malformed, from the literature on request smuggling.
var ambiguous = []struct {
	name, raw string
	status    int
}{
	// Two lengths.
	{"length, then coding",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding, then length",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
	{"coding and a length of 0",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", 400},
	{"coding and length far apart",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX: " + strings.Repeat("x",
			9000) + "\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
	{"coding and length, to be closed",
		"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"0\r\n\r\n", 400},
	{"length that Connection names, and coding",
		"POST / HTTP/1.1\r\nHost: a\r\nConnection: Content-Length\r\nContent-Length: 5\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"two equal lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400},
	{"two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", 400},
	{"two lengths in two cases", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\ncontent-LENGTH: 1\r\n\r\nx", 400},
	{"a list of equal lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\nx", 400},
	{"a list of lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,2\r\n\r\nxy", 400},
	// Invalid lengths.
	{"length with plus", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx", 400},
	{"length with minus", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nx", 400},
	{"length of minus zero", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -0\r\n\r\n", 400},
	{"empty length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400},
	{"length in hexadecimal", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\nx", 400},
	{"length in octal", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0o1\r\n\r\nx", 400},
	{"length with a leading zero", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 010\r\n\r\n0123456789", 400},
	{"length of two zeros", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 00\r\n\r\n", 400},
	{"length with a space within", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 0\r\n\r\n0123456789", 400},
	{"length with a fraction", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1.0\r\n\r\nx", 400},
	{"length with an exponent", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1e1\r\n\r\n0123456789", 400},
	{"length with an underscore", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\n0123456789", 400},
	{"length in quotes", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \"1\"\r\n\r\nx", 400},
	{"length beyond 64 bits", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\nx", 400},
	{"length of 2^63", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\nx", 400},
	{"length behind a vertical tab", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \v1\r\n\r\nx", 400},
	{"length before a NUL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\x00\r\n\r\nx", 400},
	{"length in other digits", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ١\r\n\r\nx", 400},
	// Codings.
	{"coding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding and length in HTTP/1.0",
		"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n" +
			"\r\n0\r\n\r\n", 400},
	{"another coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 501},
	{"identity", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 501},
	{"an unknown coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
	{"an empty coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n", 501},
	{"chunked twice",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked, then another",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-encoding: identity\r\n\r\n0\r\n\r\n", 501},
	{"another, then chunked",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: cow\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
	{"a list with chunked last", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
	{"a list with chunked first", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		501},
	{"a list with chunked twice", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
		501},
	{"chunked behind a comma", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: , chunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked before a comma", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", 501},
	{"chunked with a parameter", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n", 501},
	{"chunked in quotes", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 501},
	{"chunked behind a vertical tab", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n", 400},
	{"chunked behind a form feed", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \fchunked\r\n\r\n0\r\n\r\n", 400},
	{"chunked before a NUL", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\x00\r\n\r\n0\r\n\r\n", 400},
	{"chunked behind a no-break space",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u00a0chunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked with a Kelvin sign", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chun\u212aed\r\n\r\n0\r\n\r\n", 501},
	{"chunked before a CR", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\r\n\r\n0\r\n\r\n", 400},
	{"coding with a space before the colon",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding with a tab before the colon", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
		400},
	{"coding behind a space", "POST / HTTP/1.1\r\nHost: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding behind a control byte", "POST / HTTP/1.1\r\nHost: a\r\n\x01Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding without a colon", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding on a folded line", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding in a bare-LF field", "POST / HTTP/1.1\r\nHost: a\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding in a bare-CR field", "POST / HTTP/1.1\r\nHost: a\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	// Lines.
	{"bare LF everywhere", "GET / HTTP/1.1\nHost: a\n\n", 400},
	{"bare LF behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
	{"bare LF behind a field", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400},
	{"bare LF at the head's end", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
	{"bare CR everywhere", "GET / HTTP/1.1\rHost: a\r\r", 400},
	{"bare CR behind the request line", "GET / HTTP/1.1\rHost: a\r\n\r\n", 400},
	{"bare CR in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400},
	{"two CRs", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400},
	{"CR in the target", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", 400},
	{"folded with a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\tz\r\n\r\n", 400},
	{"folded first field", "GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n", 400},
	{"line of a space", "GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n", 400},
	{"NUL in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\x00: y\r\n\r\n", 400},
	{"NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n", 400},
	{"DEL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \x7f\r\n\r\n", 400},
	{"control byte in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \x08\r\n\r\n", 400},
	{"letter beyond ASCII in a name", "GET / HTTP/1.1\r\nHost: a\r\nÄ: y\r\n\r\n", 400},
	{"empty name", "GET / HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n", 400},
	{"name of two words", "GET / HTTP/1.1\r\nHost: a\r\nX Y: z\r\n\r\n", 400},
	{"line without a colon", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
	// Request lines.
	{"HTTP/0.9", "GET /\r\n", 400},
	{"a version alone", " HTTP/\r\n", 400},
	{"HTTP/0.9 in words", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
	{"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 400},
	{"HTTP/1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400},
	{"HTTP/1", "GET / HTTP/1\r\nHost: a\r\n\r\n", 400},
	{"HTTP/01.1", "GET / HTTP/01.1\r\nHost: a\r\n\r\n", 400},
	{"HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
	{"http/1.1", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
	{"HTTPS/1.1", "GET / HTTPS/1.1\r\nHost: a\r\n\r\n", 400},
	{"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"space behind the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
	{"space before the method", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"tabs for spaces", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"NUL in the target", "GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"DEL in the target", "GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"no method", "/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"method with a colon", "G:T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"method with a NUL", "GET\x00 / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"empty line first", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
	{"preface in pieces of HTTP/1", "PRI * HTTP/2.0\r\nHost: a\r\n\r\n", 400},
	{"half a preface", "PRI * HTTP/2.0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"long target", "GET /" + strings.Repeat("a", 70<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n", 431},
	{"long method", strings.Repeat("A", 70<<10) + " / HTTP/1.1\r\nHost: a\r\n\r\n", 431},
	{"many fields", "GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 12<<10) + "\r\n", 431},
	// Hosts.
	{"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
	{"empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
	{"two equal Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
	{"two Hosts in two cases", "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n", 400},
	{"a list of Hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
	{"Host with userinfo", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
	{"Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
	{"Host on a folded line", "GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n", 400},
	{"Host with a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
	{"target of another host", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"target of another host, HTTP/1.0", "GET http://b/ HTTP/1.0\r\n\r\n", 400},
	{"target with userinfo", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"target and Host with userinfo", "GET http://u@a/ HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
	{"target with the Host twice", "GET http://b/ HTTP/1.1\r\nHost: b\r\nHost: a\r\n\r\n", 400},
	{"target of another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"target without a slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"target of the door", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 501},
	// Expectations.
	{"another expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\nx", 417},
	{"a list of expectations", "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\nContent-Length: 1\r\n\r\nx", 400},
	{"an expectation in a sentence",
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: y 100-continue\r\nContent-Length: 1\r\n\r\nx", 400},
	{"two expectations", "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: x\r\nContent-Length: 1\r\n\r\nx",
		400},
	// Chunks, in bodies short enough to be read before a connection to the
	// upstream is made.
	{"size with 0x", chunks("0x1\r\nx\r\n0\r\n\r\n"), 400},
	{"size with plus", chunks("+1\r\nx\r\n0\r\n\r\n"), 400},
	{"size with minus", chunks("-1\r\nx\r\n0\r\n\r\n"), 400},
	{"size with an underscore", chunks("0_1\r\nx\r\n0\r\n\r\n"), 400},
	{"size behind a space", chunks(" 1\r\nx\r\n0\r\n\r\n"), 400},
	{"size before a space", chunks("1 \r\nx\r\n0\r\n\r\n"), 400},
	{"size before a tab", chunks("1\t\r\nx\r\n0\r\n\r\n"), 400},
	{"size before a space and an extension", chunks("1 ;a\r\nx\r\n0\r\n\r\n"), 400},
	{"size of nothing", chunks("\r\nx\r\n0\r\n\r\n"), 400},
	{"size in no hexadecimal", chunks("xyz\r\nx\r\n0\r\n\r\n"), 400},
	{"size beyond 64 bits", chunks("10000000000000001\r\nx\r\n0\r\n\r\n"), 400},
	{"size of 64 bits", chunks("ffffffffffffffff\r\nx\r\n0\r\n\r\n"), 400},
	{"size with many zeros", chunks("0000000000000001\r\nx\r\n0\r\n\r\n"), 400},
	{"size before a bare LF", chunks("1\nx\r\n0\r\n\r\n"), 400},
	{"size before a bare CR", chunks("1\rx\r\n0\r\n\r\n"), 400},
	{"chunk before a bare LF", chunks("1\r\nx\n0\r\n\r\n"), 400},
	{"chunk before a bare CR", chunks("1\r\nx\r0\r\n\r\n"), 400},
	{"chunk before nothing", chunks("1\r\nx0\r\n\r\n"), 400},
	{"chunk that is longer", chunks("1\r\nxy\r\n0\r\n\r\n"), 400},
	{"last chunk before a bare LF", chunks("0\n\r\n"), 400},
	{"end before a bare LF", chunks("0\r\n\n"), 400},
	{"extension with a bare LF", chunks("1;a\nx\r\n0\r\n\r\n"), 400},
	{"extension with a bare CR", chunks("1;a\rb\r\nx\r\n0\r\n\r\n"), 400},
	{"extension with a NUL", chunks("1;a\x00\r\nx\r\n0\r\n\r\n"), 400},
	{"extension without a name", chunks("1;\r\nx\r\n0\r\n\r\n"), 400},
	{"long extension", chunks("1;" + strings.Repeat("a", 300) + "\r\nx\r\n0\r\n\r\n"), 400},
	{"trailer of a length", chunks("0\r\nContent-Length: 5\r\n\r\n"), 400},
	{"trailer of a coding", chunks("0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400},
	{"trailer of a Host", chunks("0\r\nhost: b\r\n\r\n"), 400},
	{"trailer on a folded line", chunks("0\r\nX: y\r\n z\r\n\r\n"), 400},
	{"trailer with a bare LF", chunks("0\r\nX: y\nZ: z\r\n\r\n"), 400},
	{"trailer with a NUL", chunks("0\r\nX: \x00\r\n\r\n"), 400},
	{"trailer with a space before the colon", chunks("0\r\nX : y\r\n\r\n"), 400},
	{"trailer without a colon", chunks("0\r\nGET / HTTP/1.1\r\n\r\n"), 400},
	{"announced trailer of a length",
		"POST / HTTP/1.1\r\nHost: a\r\nTrailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
}

// chunks returns a request with the given chunked body.
func chunks(body string) string {
	return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body
}

// TestAmbiguousRequests sends each message on its own connection and checks
// that it is refused, and that no connection to an upstream was made. The front
// door waits briefly for the beginning of a chunked body. If the mistake is not
// in that part, which happens on a busy machine, it may connect, but it sends
// no complete request.
func TestAmbiguousRequests(t *testing.T) {
	t.Parallel()
	const firstWait = 100 * time.Millisecond // as in package proxy
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	parent := t
	for _, c := range ambiguous {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, d.addr)
			began := time.Now()
			conn.send(c.raw)
			conn.refused(c.status)
			late := strings.HasPrefix(c.raw, chunks("")) && time.Since(began) >= firstWait
			if got, accepted := back.take(); !late && (got != "" || accepted != 0) || late &&
				strings.HasSuffix(got, "0\r\n\r\n") {
				t.Errorf("%d connections were made to the upstream, which got %q", accepted, got)
			}
			if late { // connections may be recorded later
				back = openRecorder(parent)
				d = openDoor(parent, "http://"+back.addr)
			}
		})
	}
}

// TestAmbiguousRequestsInPieces sends the messages byte by byte. The front door
// may connect because of a chunk whose end it has not read, but it sends no
// complete request.
func TestAmbiguousRequestsInPieces(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	for _, c := range ambiguous {
		if len(c.raw) > 1000 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, d.addr)
			for i := range len(c.raw) {
				if _, err := conn.Write([]byte(c.raw[i : i+1])); err != nil {
					break // refused before its end
				}
			}
			conn.refused(c.status)
			if got, _ := back.take(); strings.HasSuffix(got, "0\r\n\r\n") {
				t.Errorf("the upstream got %q", got)
			}
		})
	}
}

// TestAmbiguousRequestsAfterAnother sends each message in one write after a
// valid request: one without a body, one with a body and one with a chunked
// body. These are answered, and nothing after them reaches the upstream.
func TestAmbiguousRequestsAfterAnother(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	for _, c := range ambiguous {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, d.addr)
			conn.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" +
				"PUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab" +
				"PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nc\r\n0\r\nX: y\r\n\r\n" + c.raw)
			for i := range 3 {
				if resp, body := conn.answer("PUT"); resp.StatusCode != 200 || body != "ok" {
					t.Fatalf("answer %d is %d, %q", i+1, resp.StatusCode, body)
				}
			}
			conn.refused(c.status)
			if got, _ := back.take(); strings.Count(got, " HTTP/1.1\r\n") != 3 ||
				!strings.HasSuffix(got, "\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n") {
				t.Errorf("the upstream got %q", got)
			}
		})
	}
}

// refused reads a response with the given status, and the end of the connection
// if it is announced.
func (c *rawConn) refused(status int) {
	c.t.Helper()
	resp, _ := c.answer("POST")
	if resp.StatusCode != status {
		c.t.Errorf("answered %d, want %d", resp.StatusCode, status)
	}
	if !resp.Close {
		return
	}
	if rest, err := io.ReadAll(c.r); len(rest) > 0 || err != nil {
		c.t.Errorf("behind the answer %q, %v", rest, err)
	}
}

// unusual are messages that look odd but are unambiguous. Each reaches the
// upstream as the given number of requests.
var unusual = []struct {
	name, raw string
	requests  int
}{
	{"GET with a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 1},
	{"GET with chunks", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1},
	{"a request as a body", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 1},
	{"a request as a chunk",
		"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1B\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n" +
			"0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 2},
	{"length in another case", "PUT / HTTP/1.1\r\nhost: a\r\ncontent-LENGTH:1\r\n\r\nx", 1},
	{"length between spaces and tabs", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \t 1 \t\r\n\r\nx", 1},
	{"chunked in another case", "PUT / HTTP/1.1\r\nHost: a\r\ntransfer-encoding:CHUNKED\r\n\r\n0\r\n\r\n", 1},
	{"names that a CGI takes for lengths",
		"PUT / HTTP/1.1\r\nHost: a\r\nContent_Length: 9\r\nTransfer_Encoding: chunked\r\n\r\nGET / HTTP/1.1\r\n" +
			"Host: a\r\n\r\n", 2},
	{"extension and trailer",
		"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n01;a=\"b c\"\r\nx\r\n000;z\r\nX: y\r\n\r\n", 1},
	{"upgrade to h2c",
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
			"HTTP2-Settings: AAMAAABkAAQAoAAA\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 2},
	{"target in absolute form behind another",
		"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET http://b/ HTTP/1.1\r\nHost: b\r\n\r\n", 2},
	{"HTTP/1.0 that stays",
		"GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\nHost: a\r\n\r\n", 2},
	{"empty line behind a body",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 2},
	{"Connection names fields that frame",
		"PUT / HTTP/1.1\r\nHost: a\r\nConnection: Content-Length, Host, Transfer-Encoding\r\nContent-Length: 27\r\n" +
			"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 1},
	{"an expectation", "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx", 1},
}

// TestUnusualRequests sends unambiguous messages and counts the requests at the
// upstream with net/http's parser.
func TestUnusualRequests(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	for _, c := range unusual {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, d.addr)
			conn.send(c.raw)
			for range c.requests {
				resp, _ := conn.answer("PUT")
				for resp.StatusCode == 100 {
					resp, _ = conn.answer("PUT")
				}
				if resp.StatusCode != 200 {
					t.Errorf("answered %d, want 200", resp.StatusCode)
				}
			}
			got, _ := back.take()
			if n := requestsIn(got); n != c.requests {
				t.Errorf("the upstream sees %d requests, want %d, in %q", n, c.requests, got)
			}
		})
	}
}

// requestsIn returns the number of requests in a stream, or -1 if it contains
// anything else.
func requestsIn(stream string) int {
	r := bufio.NewReader(strings.NewReader(stream))
	for n := 0; ; n++ {
		req, err := http.ReadRequest(r)
		if err == io.EOF {
			return n
		}
		if err != nil {
			return -1
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return -1
		}
	}
}
