package http2_test

import (
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
)

// The cases of section 8.
func TestMessagesConformToRFC9113(t *testing.T) {
	checkConformance(t, append(messageCases, malformedCases()...))
}

// malformed is what the client of a malformed request receives: a response, because some clients would send the request
// again after a reset.
const malformed = "HEADERS 1 400 0 END_STREAM, RST_STREAM 1 PROTOCOL_ERROR"

var messageCases = []conformanceCase{
	{"8.1", "GET", func(p *peer) { p.get(1, "/") }, okay, ""},
	{"8.1", "HEAD", func(p *peer) { p.head(1, true, with("HEAD", "/")...) }, "HEADERS 1 200 END_STREAM", ""},
	{"8.1", "POST", func(p *peer) {
		p.head(1, false, with("POST", "/", "content-length", "4")...)
		p.WriteData(1, false, []byte("bo"))
		p.WriteData(1, true, []byte("dy"))
	}, okay, ""},
	{"8.1", "POST with trailers", func(p *peer) {
		p.head(1, false, with("POST", "/", "trailer", "x-sum")...)
		p.WriteData(1, false, []byte("body"))
		p.head(1, true, "x-sum", "1")
	}, okay, ""},
	{"8.1", "a response with trailers", func(p *peer) { p.get(1, "/trailers") },
		"HEADERS 1 200, DATA 1 hello, HEADERS 1 1 END_STREAM", ""},
	{"8.1", "a second HEADERS frame without END_STREAM", func(p *peer) {
		p.post(1, "/")
		p.head(1, false, "x-sum", "1")
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Trailers},
	{"8.1", "a pseudo-header field in the trailers", func(p *peer) {
		p.post(1, "/")
		p.head(1, true, ":method", "POST")
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Trailers},
	{"8.1", "trailers that determine the end of a request", func(p *peer) {
		p.post(1, "/")
		p.head(1, true, "content-length", "0")
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Trailers},
	{"8.1", "trailers that are too long", func(p *peer) {
		p.post(1, "/")
		p.head(1, true, "a", strings.Repeat("a", headerList/2), "b", strings.Repeat("b", headerList/2))
	}, "RST_STREAM 1 ENHANCE_YOUR_CALM", http2.Trailers},
	{"8.1", "a body shorter than its content-length, with trailers", func(p *peer) {
		p.head(1, false, with("POST", "/", "content-length", "5")...)
		p.WriteData(1, false, []byte("body"))
		p.head(1, true, "x-sum", "1")
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.BodyLength},
	{"8.1.1", "DATA longer than the content-length", func(p *peer) {
		p.head(1, false, with("POST", "/", "content-length", "1")...)
		p.WriteData(1, true, []byte("body"))
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.BodyLength},
	{"8.1.1", "several DATA frames longer than the content-length", func(p *peer) {
		p.head(1, false, with("POST", "/", "content-length", "3")...)
		p.WriteData(1, false, []byte("bo"))
		p.WriteData(1, true, []byte("dy"))
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.BodyLength},
	{"8.1.1", "DATA shorter than the content-length", func(p *peer) {
		p.head(1, false, with("POST", "/", "content-length", "5")...)
		p.WriteData(1, true, []byte("body"))
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.BodyLength},
	{"8.1.1", "no DATA and a content-length", func(p *peer) {
		p.head(1, true, with("GET", "/", "content-length", "1")...)
	}, malformed, http2.Malformed},
	{"8.2.2", "te: trailers", func(p *peer) { p.head(1, true, with("GET", "/", "te", "trailers")...) }, okay, ""},
	{"8.2.3", "several cookie fields", func(p *peer) { p.head(1, true, with("GET", "/", "cookie", "a=b", "cookie", "c=d")...) },
		okay, ""},
	{"8.4", "PUSH_PROMISE", func(p *peer) {
		p.WritePushPromise(xhttp2.PushPromiseParam{StreamID: 1, PromiseID: 3, EndHeaders: true})
	}, badFrame, http2.Protocol},
	{"8.5", "CONNECT", func(p *peer) { p.head(1, true, ":method", "CONNECT", ":authority", "a:443") }, okay, ""},
	{"RFC 9110 10.1.1", "another Expect than 100-continue", func(p *peer) {
		p.head(1, false, with("POST", "/", "expect", "a response")...)
	}, "HEADERS 1 417 0 END_STREAM, RST_STREAM 1 NO_ERROR", http2.Expectation},
	{"10.5.1", "a header list longer than MAX_HEADER_LIST_SIZE", func(p *peer) {
		p.head(1, true, with("GET", "/", "a", strings.Repeat("a", headerList/2), "b", strings.Repeat("b", headerList/2))...)
		p.head(3, true, with("GET", "/")...)
	}, "HEADERS 1 431 0 END_STREAM, RST_STREAM 1 NO_ERROR, HEADERS 3 200, DATA 3 hello END_STREAM", http2.HeaderList},
	{"10.5.1", "a field of twice MAX_HEADER_LIST_SIZE", func(p *peer) {
		p.head(1, true, with("GET", "/", "a", strings.Repeat("a", 2*headerList))...)
		p.head(3, true, with("GET", "/")...)
	}, "HEADERS 1 431 0 END_STREAM, RST_STREAM 1 NO_ERROR, HEADERS 3 200, DATA 3 hello END_STREAM", http2.HeaderList},
	{"10.5.1", "a longer field", func(p *peer) {
		p.head(1, true, with("GET", "/", "a", strings.Repeat("a", 2*headerList+1))...)
	}, "GOAWAY 1 ENHANCE_YOUR_CALM, end", http2.HeaderList},
}

// malformedCases are heads of requests that are not valid.
func malformedCases() (cases []conformanceCase) {
	for _, c := range []struct {
		section, behaviour string
		fields             []string
	}{
		{"8.2.1", "a name with upper-case letters", with("GET", "/", "X-A", "a")},
		{"8.2.1", "a name with a blank", with("GET", "/", "x a", "a")},
		{"8.2.1", "an empty name", with("GET", "/", "", "a")},
		{"8.2.1", "a value with a line break", with("GET", "/", "x-a", "a\nb")},
		{"8.2.1", "a value that begins with a blank", with("GET", "/", "x-a", " a")},
		{"8.2.2", "connection", with("GET", "/", "connection", "keep-alive")},
		{"8.2.2", "keep-alive", with("GET", "/", "keep-alive", "timeout=5")},
		{"8.2.2", "transfer-encoding", with("GET", "/", "transfer-encoding", "chunked")},
		{"8.2.2", "upgrade", with("GET", "/", "upgrade", "websocket")},
		{"8.2.2", "te with another value than trailers", with("GET", "/", "te", "trailers, deflate")},
		{"8.3", "an unknown pseudo-header field", with("GET", "/", ":test", "a")},
		{"8.3", "a pseudo-header field of responses", with("GET", "/", ":status", "200")},
		{"8.3", "a pseudo-header field after another field",
			[]string{":method", "GET", ":scheme", "http", ":authority", "a", "x-a", "a", ":path", "/"}},
		{"8.3.1", "an empty :path", with("GET", "")},
		{"8.3.1", "a :path that is none", with("GET", "a")},
		{"8.3.1", "no :method", []string{":scheme", "http", ":authority", "a", ":path", "/"}},
		{"8.3.1", "no :scheme", []string{":method", "GET", ":authority", "a", ":path", "/"}},
		{"8.3.1", "no :path", []string{":method", "GET", ":scheme", "http", ":authority", "a"}},
		{"8.3.1", "no :authority and no Host", []string{":method", "GET", ":scheme", "http", ":path", "/"}},
		{"8.3.1", "another Host than :authority", with("GET", "/", "host", "b")},
		{"8.3.1", ":method twice", with("GET", "/", ":method", "GET")},
		{"8.3.1", ":scheme twice", with("GET", "/", ":scheme", "http")},
		{"8.3.1", ":path twice", with("GET", "/", ":path", "/")},
		{"8.5", "CONNECT with a :path", with("CONNECT", "/")},
		{"8.6", "content-length twice", with("GET", "/", "content-length", "0", "content-length", "0")},
	} {
		cases = append(cases, conformanceCase{c.section, c.behaviour, func(p *peer) { p.head(1, true, c.fields...) }, malformed,
			http2.Malformed})
	}
	return cases
}

// The cases of section 3.4.
func TestPrefacesConformToRFC9113(t *testing.T) {
	const begin = "SETTINGS 3=250 6=4096, WINDOW_UPDATE 0 983041, "
	for _, c := range []struct {
		name   string
		play   func(p *peer)
		want   string
		failed bool
	}{
		{"the preface and SETTINGS", func(p *peer) {
			p.out.WriteString(xhttp2.ClientPreface)
			p.WriteSettings()
		}, begin + "SETTINGS ACK", false},
		{"the preface in parts", func(p *peer) {
			p.out.WriteString(xhttp2.ClientPreface[:7])
			p.flush()
			p.out.WriteString(xhttp2.ClientPreface[7:])
			p.WriteSettings()
		}, begin + "SETTINGS ACK", false},
		{"a preface that is not valid", func(p *peer) { p.out.WriteString("INVALID CONNECTION PREFACE\r\n\r\n") }, begin + badFrame,
			true},
		{"the beginning of such a preface", func(p *peer) { p.out.WriteString("PRI * HTTP/1.1") }, begin + badFrame, true},
		{"another frame than SETTINGS", func(p *peer) {
			p.out.WriteString(xhttp2.ClientPreface)
			p.WritePing(false, [8]byte{})
		}, begin + badFrame, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPeer(t)
				p.serve()
				c.play(p)
				p.flush()
				p.expect(c.want)
				if reasons := p.close(); (len(reasons) == 1 && reasons[0] == http2.Protocol) != c.failed {
					t.Errorf("failed because of %q", reasons)
				}
			})
		})
	}
}

func TestHeaderBlocksConformToRFC7541(t *testing.T) {
	get := []byte{0x82, 0x86, 0x84, 0x41, 1, 'a'} // GET http / and the authority a
	var cases []conformanceCase
	for _, c := range []struct {
		section, behaviour string
		block              string // after get
	}{
		{"6.1", "an indexed field", "\x90"}, // accept-encoding: gzip, deflate
		{"6.2.1", "incremental indexing, an indexed name", "\x7a\x01b"},
		{"6.2.1", "incremental indexing, an indexed name and a Huffman code", "\x7a\x81\x8f"},
		{"6.2.1", "incremental indexing, a new name", "\x40\x01b\x01b"},
		{"6.2.1", "incremental indexing, a new name in a Huffman code", "\x40\x81\x8f\x81\x8f"},
		{"6.2.1", "an index in the dynamic table", "\x40\x01b\x01b\xbe"},
		{"6.2.2", "no indexing, an indexed name", "\x0f\x2b\x01b"},
		{"6.2.2", "no indexing, an indexed name and a Huffman code", "\x0f\x2b\x81\x8f"},
		{"6.2.2", "no indexing, a new name", "\x00\x01b\x01b"},
		{"6.2.2", "no indexing, a new name in a Huffman code", "\x00\x81\x8f\x81\x8f"},
		{"6.2.3", "never indexed, an indexed name", "\x1f\x2b\x01b"},
		{"6.2.3", "never indexed, an indexed name and a Huffman code", "\x1f\x2b\x81\x8f"},
		{"6.2.3", "never indexed, a new name", "\x10\x01b\x01b"},
		{"6.2.3", "never indexed, a new name in a Huffman code", "\x10\x81\x8f\x81\x8f"},
	} {
		cases = append(cases, conformanceCase{c.section, c.behaviour, func(p *peer) {
			p.rawHead(1, true, append(get[:len(get):len(get)], c.block...))
		}, okay, ""})
	}
	for _, c := range []struct{ section, behaviour, before, after string }{
		{"2.3.3", "an index beyond the tables", "", "\xc6"},
		{"2.3.3", "the index of a name beyond the tables", "", "\x7f\x07\x01b"},
		{"4.2", "an update of the table's size at the end of a block", "", "\x21"},
		{"5.1", "an integer that is too large", "", "\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
		{"5.2", "Huffman padding of more than 7 bits", "", "\x7a\x82\x8f\xff"},
		{"5.2", "Huffman padding with zeros", "", "\x7a\x81\x88"},
		{"5.2", "a Huffman code with EOS", "", "\x7a\x84\xff\xff\xff\xff"},
		{"5.2", "a string that is not complete", "", "\x7a\x05b"},
		{"6.1", "the index 0", "", "\x80"},
		{"6.3", "an update to a size above HEADER_TABLE_SIZE", "\x3f\xe2\x1f", ""},
	} {
		cases = append(cases, conformanceCase{c.section, c.behaviour, func(p *peer) {
			p.rawHead(1, true, []byte(c.before+string(get)+c.after))
		}, "GOAWAY 1 COMPRESSION_ERROR, end", http2.Compression})
	}
	for _, c := range []struct{ behaviour, before string }{
		{"an update of the table's size", "\x20"},
		{"two updates of the table's size", "\x20\x3f\xe1\x1f"},
	} {
		cases = append(cases, conformanceCase{"6.3", c.behaviour, func(p *peer) {
			p.rawHead(1, true, []byte(c.before+string(get)))
		}, okay, ""})
	}
	checkConformance(t, cases)
}
