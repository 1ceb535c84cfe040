package load

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// request returns the message as net/http has requests, for HTTP/2. It keeps
// nothing of head, so that several may be under way. Fields that are about one
// connection of HTTP/1.1 are left out, as RFC 9113 section 8.2.2 wants.
func (m *message) request() *http.Request {
	head, text, _ := strings.Cut(string(m.head), "\r\n\r\n")
	line, fields, _ := strings.Cut(head, "\r\n")
	method, rest, _ := strings.Cut(line, " ")
	r := &http.Request{
		Method: method, Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: http.Header{},
		URL:    &url.URL{Scheme: m.scheme, Host: m.address},
	}
	for field := range strings.SplitSeq(fields, "\r\n") {
		name, value, _ := strings.Cut(field, ": ")
		switch strings.ToLower(name) {
		case "host":
			r.Host = value
		case "content-length":
			r.ContentLength, _ = strconv.ParseInt(value, 10, 64) // written by compile
		case "connection", "keep-alive", "proxy-connection", "upgrade":
		default:
			r.Header[name] = append(r.Header[name], value)
		}
	}
	// The path has to arrive as it is written, and net/url would clean it: an
	// opaque URL is sent without its scheme and host.
	r.URL.Opaque = "//" + cmp.Or(r.Host, m.address) + strings.TrimSuffix(rest, " HTTP/1.1")
	switch {
	case m.file != nil:
		r.Body = io.NopCloser(io.NewSectionReader(m.file, 0, m.size))
	case text != "":
		r.Body = io.NopCloser(bytes.NewReader([]byte(text)))
	}
	return r
}
