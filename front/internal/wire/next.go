package wire

import (
	"bytes"
	"net/netip"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/proxyproto"
)

// A step is the result of examining the bytes that have arrived.
type step uint8

const (
	incomplete    step = iota // more bytes are needed
	completeHead              // the head of a request is complete
	http2Preface              // the connection is HTTP/2; with TLS, the preface may be incomplete or wrong
	refusal                   // the client gets a response with an error, and the connection ends
	refusedHeader             // the connection must be closed because of its header
	clientHello               // the handshake of TLS has begun
)

// preface begins an HTTP/2 connection (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// next examines the bytes that have arrived. It does no input or output. After a complete
// head, the caller calls serveRequest before the next call. err is that of a refusal.
func (c *clientConn) next() (s step, err *http1.Error) {
	in := c.in
	if in == nil {
		return incomplete, nil
	}
	if c.header != headerDone {
		if passed, s, err := c.readHeader(); !passed || c.in == nil {
			return s, err
		}
	}
	b := in.unread()
	if len(b) == 0 {
		return incomplete, nil
	}
	if c.awaitsHandshake() {
		return clientHello, nil
	}
	if c.tls != nil && c.tls.Protocol == alpnHTTP2 {
		return http2Preface, nil
	}
	if b[0] == preface[0] && c.mayBeHTTP2() {
		n := min(len(b), len(preface))
		switch {
		case string(b[:n]) != preface[:n]:
		case n == len(preface):
			return http2Preface, nil
		default:
			return incomplete, nil
		}
	}
	n, failure := in.parser.Parse(b)
	switch {
	case failure != nil:
		return refusal, failure.(*http1.Error)
	case n == 0:
		return incomplete, nil
	}
	in.head, in.r = n, n
	return completeHead, nil
}

// mayBeHTTP2 reports whether the connection may begin with the preface of HTTP/2 without
// having announced it. With TLS, that needs ALPN (RFC 9113, section 3.2).
func (c *clientConn) mayBeHTTP2() bool { return c.tls == nil && !c.hasRequested() }

// inHead reports whether the head of a request has begun. An empty line does not begin
// one.
func (c *clientConn) inHead() bool {
	return c.in != nil && len(bytes.TrimLeft(c.in.unread(), "\r\n")) > 0
}

// awaitsHandshake reports whether the handshake of TLS must come before anything else.
func (c *clientConn) awaitsHandshake() bool { return c.tls == nil && c.scheme == "https" }

// readHeader examines the bytes that have arrived at the beginning of a connection whose
// state is not headerDone. passed reports that a request, or more bytes of it, can follow.
// Otherwise the result is that of [clientConn.next].
func (c *clientConn) readHeader() (passed bool, s step, err *http1.Error) {
	in := c.in
	h, n, failure := proxyproto.Parse(in.unread())
	client := netip.AddrPortFrom(c.peer, c.port)
	switch {
	case failure == nil && n == 0:
		return false, incomplete, nil
	case failure == proxyproto.ErrAbsent && c.header == headerRequired:
		c.refuseHeader(headerAbsent, failure)
		return false, refusedHeader, nil
	case failure == proxyproto.ErrAbsent:
	case !c.header.trusted():
		c.refuseHeader(headerUntrusted, nil)
		return false, refusedHeader, nil
	case failure != nil:
		c.refuseHeader(headerMalformed, failure)
		return false, refusedHeader, nil
	case h.Source.IsValid():
		client = h.Source
	}
	in.r += n
	if in.endHead(); in.w == 0 {
		in.release()
		c.in = nil
	}
	if c.server.conns.identify(c, client) {
		return true, 0, nil
	}
	if c.awaitsHandshake() {
		c.server.rejector.note(LimitPerClient)
		return false, refusedHeader, nil
	}
	return false, refusal, manyConnections
}
