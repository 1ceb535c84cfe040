package http1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/http1/http1test"
)

// newlyAccepted are the messages of the battery that this parser accepts, and the reason.
var newlyAccepted = map[string]string{
	"target of the door": "CONNECT is a matter of the server",
}

// TestAmbiguousRequestsAreRejected checks that each ambiguous request is refused with its status, at
// once and byte by byte.
func TestAmbiguousRequestsAreRejected(t *testing.T) {
	for _, c := range http1test.Ambiguous {
		t.Run(c.Name, func(t *testing.T) {
			s := read(false, false, []byte(c.Raw), len(c.Raw))
			if newlyAccepted[c.Name] != "" {
				if s.err != nil || len(s.messages) != 1 {
					t.Errorf("%d requests, %v; want it accepted", len(s.messages), s.err)
				}
			} else if s.err == nil || s.err.Status != c.Status || len(s.messages) > 0 {
				t.Errorf("%q: %d requests and error %+v, want only status %d", c.Raw[:min(len(c.Raw), 200)],
					len(s.messages), s.err, c.Status)
			}
			if len(c.Raw) < 20_000 {
				checkPieces(t, false, false, []byte(c.Raw), 1)
			}
			checkPieces(t, false, false, []byte(c.Raw), 1000)
		})
	}
}

// TestAmbiguousRequestAfterOthersIsRejected parses each ambiguous request after valid ones.
func TestAmbiguousRequestAfterOthersIsRejected(t *testing.T) {
	const before = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" +
		"PUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab" +
		"PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nc\r\n0\r\nX: y\r\n\r\n"
	for _, c := range http1test.Ambiguous {
		s := read(false, false, []byte(before+c.Raw), 1<<20)
		if newlyAccepted[c.Name] == "" && (s.err == nil || s.err.Status != c.Status || len(s.messages) != 3) {
			t.Errorf("%s: %d requests, %+v; want 3 and %d", c.Name, len(s.messages), s.err, c.Status)
		}
	}
}

// TestUnusualRequestsAreAccepted checks that odd but unambiguous requests are accepted.
func TestUnusualRequestsAreAccepted(t *testing.T) {
	for _, c := range http1test.Unusual {
		s := read(false, false, []byte(c.Raw), len(c.Raw))
		if s.err != nil || len(s.messages) != c.Requests || len(s.buf) > 0 {
			t.Errorf("%s: %d requests, want %d; %v, %q is left", c.Name, len(s.messages), c.Requests, s.err, s.buf)
		}
		checkPieces(t, false, false, []byte(c.Raw), 1)
	}
}

// TestRequestHeadIsParsed checks the parts of a head.
func TestRequestHeadIsParsed(t *testing.T) {
	const wire = "\r\nPOST http://a.example:80?q=%zz HTTP/1.0\r\nhOsT:\ta.EXAMPLE \r\nExpect: 100-Continue\r\n" +
		"Connection: x , Keep-Alive\r\nEmpty:\r\nContent-Length: 12\r\nuPGRADE: h2c\r\n\r\n"
	var fields http1.Fields
	p := http1.RequestParser{Fields: &fields}
	n, err := p.Parse([]byte(wire + "body"))
	if n != len(wire) || err != nil {
		t.Fatalf("Parse = %d, %v; want %d", n, err, len(wire))
	}
	h, buf := &p.Head, []byte(wire)
	got := fmt.Sprintf("%s %s %s %s %s %v %v %v %v %v %v %d", h.Method.Of(buf), h.Target.Of(buf), h.Scheme.Of(buf),
		h.Path.Of(buf), h.Host.Of(buf), h.Form == http1.AbsoluteForm, h.HTTP10, h.Close, h.Continue,
		h.Upgrade, h.Framing == http1.BodyLength, h.Length)
	if want := "POST http://a.example:80?q=%zz http ?q=%zz a.EXAMPLE true true false true true true 12"; got != want {
		t.Errorf("head %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%q", text(buf, &fields)), `["hOsT: a.EXAMPLE" "Expect: 100-Continue" `+
		`"Connection: x , Keep-Alive" "Empty: " "Content-Length: 12" "uPGRADE: h2c"]`; got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
}

// TestTargetsMustAgreeWithHost checks the forms of targets and their agreement with the Host.
func TestTargetsMustAgreeWithHost(t *testing.T) {
	for _, c := range []struct {
		method, target, host string
		form                 http1.TargetForm
		path                 string
		ok                   bool
	}{
		{"GET", "/", "a", http1.OriginForm, "/", true},
		{"GET", "//b/c?d#e", "a", http1.OriginForm, "//b/c?d#e", true},
		{"GET", "/\xe4%41?%", "a", http1.OriginForm, "/\xe4%41?%", true},
		{"GET", "/%4", "a", 0, "", false},
		{"GET", "/%4g", "a", 0, "", false},
		{"GET", "http://a/x", "a", http1.AbsoluteForm, "/x", true},
		{"GET", "http://a", "A", http1.AbsoluteForm, "", true},
		{"GET", "http://a:80/", "a", http1.AbsoluteForm, "/", true},
		{"GET", "http://a/", "a:80", http1.AbsoluteForm, "/", true},
		{"GET", "https://a:443/", "a", http1.AbsoluteForm, "/", true},
		{"GET", "https://a:80/", "a", 0, "", false},
		{"GET", "http://a:443/", "a", 0, "", false},
		{"GET", "http://a:8080/", "a", 0, "", false},
		{"GET", "http://a:8080/", "a:80", 0, "", false},
		{"GET", "http://[::1]:80/", "[::1]", http1.AbsoluteForm, "/", true},
		{"GET", "http://b/", "a", 0, "", false},
		{"GET", "http:///x", "a", 0, "", false},
		{"GET", "http:x", "a", 0, "", false},
		{"GET", "HTTP://a/", "a", 0, "", false},
		{"GET", "http://a#f", "a", 0, "", false},
		{"GET", "http://a@a/", "a", 0, "", false},
		{"GET", "http://a/%", "a", 0, "", false},
		{"OPTIONS", "*", "a", http1.AsteriskForm, "", true},
		{"OPTIONS", "**", "a", 0, "", false},
		{"CONNECT", "a:80", "a:80", http1.AuthorityForm, "", true},
		{"CONNECT", "a:80", "a", 0, "", false},
		{"CONNECT", "a", "a", 0, "", false},
		{"CONNECT", "/any", "a", http1.OriginForm, "/any", true},
		{"CONNECT", "*", "a", 0, "", false},
		{"GET", "a:80", "a:80", 0, "", false},
	} {
		var p http1.RequestParser
		wire := []byte(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", c.method, c.target, c.host))
		n, err := p.Parse(wire)
		form, path := p.Head.Form, string(p.Head.Path.Of(wire))
		if (err == nil) != c.ok || c.ok && (n != len(wire) || form != c.form || path != c.path) {
			t.Errorf("%q: %d, %v, form %d, path %q; want %v, form %d, path %q", wire, n, err, form, path, c.ok, c.form,
				c.path)
		}
	}
}

// TestHostsWithInvalidBytesAreRejected checks the bytes of a Host. Package front checks the rest of its grammar.
func TestHostsWithInvalidBytesAreRejected(t *testing.T) {
	for host, want := range map[string]bool{
		"example.com": true, "EXAMPLE.com.": true, "my_host-1:65535": true, "[::1]": true, "[2001:db8::1]:8080": true,
		"[::ffff:192.0.2.1]": true, "": false, "a,b": false, "a b": false, "u@a": false, "a/b": false, "a\\b": false,
		"%41": false, "ex\xe4mple": false, "a:": false, ":80": false, "a:123456": false, "a:8a": false, "a:80:80": false,
		"::1": false, "[::1": false, "[]": false, "[127.0.0.1]": false, "[::1]80": false, "[::1]:": false,
		"[fe80::1%eth0]": false, "[::g]": false,
	} {
		var p http1.RequestParser
		if _, err := p.Parse([]byte("GET / HTTP/1.0\r\nHost: " + host + "\r\n\r\n")); (err == nil) != want {
			t.Errorf("Host %q: %v, want it accepted: %v", host, err, want)
		}
	}
}

// TestRequestErrorsHaveStatusAndPosition checks the status, the reason and the position of errors.
func TestRequestErrorsHaveStatusAndPosition(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ wire, want string }{
		{"GET / HTTP/1.1\r\nHost: a\nX", "400 a line ends without a CR, at byte 23"},
		{"GET / HTTP/1.1\r\nHost: a\r\n \r\n", "400 a field is folded, at byte 25"},
		{"GET / HTTP/1.1\r\nHost : a\r\n", "400 the name of a field is malformed, at byte 20"},
		{"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
			"400 both Content-Length and Transfer-Encoding, at byte 54"},
		{"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "501 Transfer-Encoding is not chunked, at byte 44"},
		{"GET / HTTP/3.1\r\n", "505 the version is not HTTP/1.0 or HTTP/1.1, at byte 6"},
		{"GET /" + long, "414 the request line is too long, at byte 66"},
		{"GET / HTTP/1.1\r\nX: " + long + long, "431 the head is too long, at byte 200"},
		{"GET / HTTP/1.1\r\n" + strings.Repeat("X:y\r\n", 34), "431 there are too many fields, at byte 181"},
		{"GET / HTTP/1.1\r\nHost: a\r\nConnection: " + strings.Repeat(",", 64) + "\r\n",
			"400 Connection lists more than 64 options, at byte 37"},
		{"GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", "417 Expect is not 100-continue, at byte 33"},
	} {
		p := http1.RequestParser{MaxHead: 200, MaxRequestLine: 64, MaxFields: 33}
		_, err := p.Parse([]byte(c.wire))
		if e, ok := err.(*http1.Error); !ok || fmt.Sprint(e.Status, " ", e) != c.want {
			t.Errorf("%q: %v, want %s", c.wire, err, c.want)
		}
	}
}

// TestHeadsBeyondTheLimitsAreRejected parses a head of exactly the limits.
func TestHeadsBeyondTheLimitsAreRejected(t *testing.T) {
	wire := []byte("GET /xxxxxx HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X:y\r\n", 39) + "\r\n")
	for _, c := range []struct {
		p  http1.RequestParser
		ok bool
	}{
		{http1.RequestParser{MaxHead: len(wire), MaxRequestLine: 20, MaxFields: 40}, true},
		{http1.RequestParser{MaxHead: len(wire) - 1}, false},
		{http1.RequestParser{MaxRequestLine: 19}, false},
		{http1.RequestParser{MaxFields: 39}, false},
	} {
		var fields http1.Fields
		c.p.Fields = &fields
		if n, err := c.p.Parse(wire); (err == nil) != c.ok || c.ok && (n != len(wire) || fields.Len() != 40) {
			t.Errorf("limits %d, %d, %d: %d, %v; want accepted: %v", c.p.MaxHead, c.p.MaxRequestLine, c.p.MaxFields, n,
				err, c.ok)
		}
	}
}

// TestParserCanBeUsedAfterReset checks that a parser can be used again after Reset.
func TestParserCanBeUsedAfterReset(t *testing.T) {
	var p http1.RequestParser
	good := []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	for range 2 {
		if _, err := p.Parse([]byte("GET / HTTP/1.1\r\nContent-Length: x\r\n")); err == nil {
			t.Error("a bad length is accepted")
		}
		p.Reset()
		if n, err := p.Parse(good); n != len(good) || err != nil {
			t.Errorf("after Reset: %d, %v", n, err)
		}
	}
}
