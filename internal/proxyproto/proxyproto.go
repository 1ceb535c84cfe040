// Package proxyproto parses and writes the headers of the PROXY protocol, versions 1 and 2.
// A proxy that forwards TCP connections begins each of them with such a header, which names
// the endpoints of the client's connection.
//
// The specification is proxy-protocol.txt of HAProxy. [Parse] does no input and output.
package proxyproto

import (
	"bytes"
	"errors"
	"net/netip"
)

// A Header has the endpoints of a client's connection. Both are invalid if the header does
// not name them, or if they are no TCP endpoints (v1: UNKNOWN; v2: LOCAL, UNSPEC, sockets of
// Unix and datagrams). The endpoints of the connection itself then apply.
//
// IPv4 addresses in IPv6 form are converted to IPv4.
type Header struct {
	Source, Destination netip.AddrPort
}

// ErrAbsent is the error for bytes that do not begin like a header.
var ErrAbsent = errors.New("no header of the PROXY protocol")

// A Malformed is the error for bytes that begin like a header and are not a valid one.
type Malformed string

func (m Malformed) Error() string { return "malformed header of the PROXY protocol: " + string(m) }

// MaxLen is the maximum length of a header. The maximum of version 1 is given by the
// specification (107 bytes). Version 2 allows 64 KiB; the limit here leaves room for a
// certificate.
const MaxLen = 4 << 10

const (
	signature1 = "PROXY "
	signature2 = "\r\n\r\n\x00\r\nQUIT\n"
)

// Parse examines the first bytes of a connection. n is the length of the header. It is 0
// if more bytes are needed to decide; b must then be extended, up to [MaxLen].
func Parse(b []byte) (h Header, n int, err error) {
	switch {
	case begins(b, signature1):
		return parse1(b)
	case begins(b, signature2):
		return parse2(b)
	}
	return Header{}, 0, ErrAbsent
}

// begins reports whether b begins with the signature, or is a part of it.
func begins(b []byte, signature string) bool {
	n := min(len(b), len(signature))
	return string(b[:n]) == signature[:n]
}

// maxLine is the maximum length of a header of version 1, with its CRLF.
const maxLine = 107

// parse1 parses a header of version 1 (section 2.1).
func parse1(b []byte) (h Header, n int, err error) {
	end := bytes.IndexFunc(b[:min(len(b), maxLine)], func(r rune) bool { return r < ' ' || r > '~' })
	switch {
	case end < 0 && len(b) >= maxLine:
		return h, 0, Malformed("the line is longer than 107 bytes")
	case end < 0:
		return h, 0, nil
	case b[end] != '\r':
		return h, 0, Malformed("the line contains an invalid character")
	case end+1 == maxLine:
		return h, 0, Malformed("the line is longer than 107 bytes")
	case end+1 == len(b):
		return h, 0, nil
	case b[end+1] != '\n':
		return h, 0, Malformed("CR without LF")
	}
	h, err = parseLine(string(b[len(signature1):end]))
	return h, end + 2, err
}

// parse2 parses a header of version 2 (section 2.2).
func parse2(b []byte) (h Header, n int, err error) {
	if len(b) < fixedLen {
		return h, 0, nil
	}
	n = fixedLen + int(b[14])<<8 + int(b[15])
	switch {
	case b[12]>>4 != 2:
		return h, 0, Malformed("the version is not 2")
	case n > MaxLen:
		return h, 0, Malformed("the header is longer than 4 KiB")
	case len(b) < n:
		return h, 0, nil
	}
	h, err = parseBlock(b[:n])
	return h, n, err
}
