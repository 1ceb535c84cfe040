package http1_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/http1/http1test"
)

// seeds are the corpus of all fuzz tests. Each message is a seed for the parsers of
// requests and of responses.
func seeds(f *testing.F) {
	add := func(wire string) {
		if len(wire) < longestFuzzed {
			f.Add([]byte(wire), uint8(7), false)
		}
	}
	for _, c := range http1test.Ambiguous {
		add(c.Raw)
		if _, rest, found := strings.Cut(c.Raw, "\r\n"); found {
			add(ok + rest)
		}
	}
	for _, c := range http1test.Unusual {
		add(c.Raw)
	}
	for _, wire := range []string{
		ok + "Content-Length: 5\r\nX: y\r\n\r\nhello", "HTTP/1.1 200\r\n\r\nuntil the end",
		"HTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
		chunked + "5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\nmore", chunked + "2  \r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "Trailer: a\r\nContent-Length: 0\r\n\r\n",
		"GET http://[::1]:80/%41?%zz HTTP/1.1\r\nHost: [::1]\r\nConnection: close, x\r\n\r\n",
		"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\n\r\n",
		"\r\nGET / HTTP/1.0\r\nHost: a\r\n\r\n",
	} {
		add(wire)
	}
}

// longestFuzzed is the length from which net/http applies limits of its own.
const longestFuzzed = 3000

// FuzzRequests checks that net/http accepts each request that the parser accepts, with
// the same meaning, and that the boundaries between reads do not matter.
func FuzzRequests(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, wire []byte, size uint8, _ bool) {
		if len(wire) > longestFuzzed {
			return
		}
		checkPieces(t, false, false, wire, int(size)+1)
		at := 0
		for _, m := range read(false, false, wire, len(wire)+1).messages {
			one := bytes.TrimPrefix(wire[at:m.end], []byte("\r\n")) // net/http accepts no empty line
			at = m.end
			compareRequest(t, m, one)
		}
	})
}

func compareRequest(t *testing.T, m message, wire []byte) {
	t.Helper()
	in := bytes.NewReader(wire)
	r := bufio.NewReader(in)
	req, err := http.ReadRequest(r)
	if err != nil {
		t.Fatalf("%q: net/http refuses it: %v", wire, err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatalf("%q: net/http refuses the body: %v", wire, err)
	}
	if left := in.Len() + r.Buffered(); left != 0 {
		t.Errorf("%q: net/http finds an end %d bytes before", wire, left)
	}
	host := hostOf(m.fields)
	first := fmt.Sprintf("%s %s %v of %s", req.Method, req.RequestURI, !req.ProtoAtLeast(1, 1), host)
	if m.first != first || !sameHost(req.Host, host) || m.body != string(body) || m.close != req.Close {
		t.Errorf("%q: %s, Host %s, body %q, close %v; net/http: %s, %s, %q, %v", wire, m.first, host, m.body, m.close,
			first, req.Host, body, req.Close)
	}
	if got, want := m.framing, framingOf(req.ContentLength, m.framing); got != want {
		t.Errorf("%q: framing %d; net/http has %d", wire, got, want)
	}
	req.Header["Host"] = []string{host}
	compareFields(t, m, req.Header, req.Trailer)
}

// hostOf returns the value of the Host field.
func hostOf(fields []string) string {
	for _, f := range fields {
		if name, value, _ := strings.Cut(f, ": "); strings.EqualFold(name, "Host") {
			return value
		}
	}
	return ""
}

// sameHost compares the Host of net/http, which comes from an absolute target, with the
// field.
func sameHost(a, b string) bool {
	trim := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, ":80"), ":443") }
	return strings.EqualFold(trim(a), trim(b))
}

// framingOf returns the framing of a message in net/http with the given length. In case
// of 0 net/http does not say whether there is a Content-Length.
func framingOf(length int64, ours http1.Framing) http1.Framing {
	switch {
	case length == 0 && ours == http1.BodyLength:
		return ours
	case length == 0:
		return http1.BodyNone
	case length > 0:
		return http1.BodyLength
	case ours == http1.BodyUntilClose:
		return ours
	}
	return http1.BodyChunked
}

// compareFields compares fields with those of net/http. It removes Transfer-Encoding and,
// of chunked messages, Trailer, and derives a Cache-Control from a Pragma.
func compareFields(t *testing.T, m message, header, trailer http.Header) {
	t.Helper()
	ours := headerOf(m.fields)
	delete(ours, "Transfer-Encoding")
	if m.framing == http1.BodyChunked {
		delete(ours, "Trailer")
	}
	if ours["Pragma"] != nil && ours["Cache-Control"] == nil {
		delete(header, "Cache-Control")
	}
	theirs := make(http.Header)
	for name, values := range trailer {
		if len(values) > 0 { // announced ones are nil until they arrive
			theirs[name] = values
		}
	}
	for _, c := range []struct{ ours, theirs http.Header }{{ours, header}, {headerOf(m.trailer), theirs}} {
		if len(c.ours) != len(c.theirs) {
			t.Errorf("fields %q; net/http: %q", c.ours, c.theirs)
		}
		for name, values := range c.ours {
			if !slices.Equal(values, c.theirs[name]) {
				t.Errorf("%s: %q; net/http: %q", name, values, c.theirs[name])
			}
		}
	}
}

func headerOf(fields []string) http.Header {
	h := make(http.Header)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		name = textproto.CanonicalMIMEHeaderKey(name)
		h[name] = append(h[name], value)
	}
	return h
}

// FuzzResponses does the same for responses.
func FuzzResponses(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, wire []byte, size uint8, noBody bool) {
		if len(wire) > longestFuzzed {
			return
		}
		checkPieces(t, true, noBody, wire, int(size)+1)
		at := 0
		for _, m := range read(true, noBody, wire, len(wire)+1).finish().messages {
			compareResponse(t, m, wire[at:m.end], noBody)
			at = m.end
		}
	})
}

// paddedExtension is the one form that the parser accepts and net/http does not: blanks
// between the size of a chunk and an extension, which RFC 9112 section 7.1.1 allows.
var paddedExtension = regexp.MustCompile("[0-9a-fA-F][ \t]+;")

func compareResponse(t *testing.T, m message, wire []byte, noBody bool) {
	t.Helper()
	method := "GET"
	if noBody {
		method = "HEAD"
	}
	in := bytes.NewReader(wire)
	r := bufio.NewReader(in)
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: net/http refuses it: %v", wire, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil && m.framing == http1.BodyChunked && paddedExtension.Match(wire) {
		return
	}
	if err != nil {
		t.Fatalf("%q: net/http refuses the body: %v", wire, err)
	}
	if left := in.Len() + r.Buffered(); left != 0 {
		t.Errorf("%q: net/http finds an end %d bytes before", wire, left)
	}
	status, reason, _ := strings.Cut(m.first, " ")
	theirs := strings.TrimPrefix(resp.Status, status)
	if status != fmt.Sprint(resp.StatusCode) || strings.TrimSpace(reason) != strings.TrimSpace(theirs) ||
		m.body != string(body) || m.close != resp.Close {
		t.Errorf("%q: %s, body %q, close %v; net/http: %s, %q, %v", wire, m.first, m.body, m.close, resp.Status, body,
			resp.Close)
	}
	if m.framing != http1.BodyNone { // net/http keeps the length of a body that is not sent
		if want := framingOf(resp.ContentLength, m.framing); m.framing != want {
			t.Errorf("%q: framing %d; net/http has %d", wire, m.framing, want)
		}
		if values := headerOf(m.fields)["Connection"]; values != nil && resp.Close && resp.Header["Connection"] == nil {
			resp.Header["Connection"] = values // net/http removes a Connection that lists close
		}
		compareFields(t, m, resp.Header, resp.Trailer)
	}
}
