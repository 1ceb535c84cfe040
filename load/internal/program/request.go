package program

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Request returns the message as a request of net/http, for HTTP/2 or HTTP/1.1. It copies
// Head, so that several requests may be under way. It leaves out the fields of one
// HTTP/1.1 connection (RFC 9113 section 8.2.2).
func (m *Message) Request(http1 bool) *http.Request {
	head, text, _ := strings.Cut(string(m.Head), "\r\n\r\n")
	line, fields, _ := strings.Cut(head, "\r\n")
	method, target, _ := strings.Cut(line, " ")
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
	if m.Cookie != "" {
		r.Header["Cookie"] = []string{strings.Join(append(r.Header["Cookie"], m.Cookie), "; ")}
	}
	// net/url would clean the path. An opaque URL is sent unchanged: with HTTP/2 without its
	// scheme and host, and with HTTP/1.1 with them if the path could be taken for them.
	r.URL.Opaque = strings.TrimSuffix(target, " HTTP/1.1")
	if !http1 || strings.HasPrefix(r.URL.Opaque, "//") {
		r.URL.Opaque = "//" + cmp.Or(r.Host, m.address) + r.URL.Opaque
	}
	switch {
	case m.File != nil:
		r.Body = io.NopCloser(io.NewSectionReader(m.File, 0, m.Size))
	case text != "":
		r.Body = io.NopCloser(bytes.NewReader([]byte(text)))
	}
	return r
}
